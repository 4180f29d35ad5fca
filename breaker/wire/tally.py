"""Counts what an answer consists of as it comes, and keeps none of it longer than judging needs."""

from collections.abc import Sequence

from breaker.answer import Fault, Finish
from breaker.wire.calls import MAX_NAME, Calls
from breaker.wire.passage import Passage
from breaker.wire.phrases import Found, find_phrase
from breaker.wire.signs import FINISH_FAULTS, PHRASES, Phrase, finish_of
from breaker.wire.thoughts import Thoughts

# What models write for a plain hyphen: a hyphen, one that doesn't break, a figure dash, an en dash, a minus.
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))
# Larger numbers are no token counts.
MAX_TOKENS = 1_000_000_000


class Tally:
    """All that the events of one answer have said so far, in one form for all wires.

    A wire's reader calls the methods, `Reading` looks at the result. `parts` counts the pieces that the model itself
    made, `text_parts` those of text, `media` those that are neither text nor calls; `restarts` how often the answer
    began anew; `whole` says that an event held a plain answer, not a piece of a streamed one; `growing` is the passage,
    text or reasoning, to which the newest piece was added.
    Marks are found in large and small letters, whatever kind of hyphen they come back with.
    Memory is bounded: `passage.LOOP_TAIL` characters of text and of reasoning, twice at most, and what `Calls` keeps.
    """

    def __init__(self, marks: Sequence[str] = (), phrases: Sequence[Phrase] = PHRASES) -> None:
        self.parts = 0
        self.text_parts = 0
        self.media = 0
        self.restarts = 0
        self.whole = False
        self.text = Passage()
        self.reasoning = Passage()
        self.growing = self.text
        self.calls = Calls()
        self.ends = 0
        self.finish: Finish | None = None
        self.finish_word: str | None = None
        self.fault: Fault | None = None
        self.completion_tokens: int | None = None
        self.marks_returned = 0
        self._phrases = phrases
        self._thoughts = Thoughts()
        self._begun_at: int | None = None
        self._parts_at_end = 0
        self._prompt_tokens: dict[str, int] = {}
        self._marks = {_plain(mark) for mark in marks}
        self._overlap = max(map(len, self._marks), default=1) - 1
        self._edge = ""

    # What readers say

    def begin(self) -> None:
        """The answer begins; one that begins again after parts of it came is in the stream more than once."""
        if self._begun_at is not None and self.parts > self._begun_at:
            self.restarts += 1
        self._begun_at = self.parts

    def add_text(self, piece: object) -> None:
        """Text (or a refusal) that the model wrote; anything but a non-empty string is nothing."""
        if isinstance(piece, str) and piece:
            self.parts += 1
            if self._thoughts.over:
                self._see(piece)
            else:
                self._add_split(*self._thoughts.split(piece))

    def add_reasoning(self, piece: object) -> None:
        """Text that the model thought; anything but a non-empty string is nothing."""
        if isinstance(piece, str) and piece:
            self.parts += 1
            self._think(piece)

    def add_words(self, texts: Sequence[str], *, thought: bool) -> int:
        """Pieces of text or of thought, none of them empty, one after another; gives how many held text."""
        before = self.text_parts
        add = self.add_reasoning if thought else self.add_text
        for text in texts:
            add(text)
        return self.text_parts - before

    def add_part(self, piece: object) -> None:
        """Something that the model made and that no fact counts; nothing is nothing."""
        self.parts += bool(piece)

    def add_media(self) -> None:
        """An image, a sound, a file, code that was run: something to see that is neither text nor a call."""
        self.parts += 1
        self.media += 1

    def add_call(
        self,
        place: str,
        *,
        id: object = "",  # noqa: A002 # the wires' word
        name: object = "",
        arguments: object = "",
        served: bool = False,
    ) -> None:
        """A fragment of the tool call at `place`; the first name stays, texts of arguments are joined.

        Arguments that come parsed, as an object, need no more looking at. `served` calls are the provider's own to
        carry out: they are none of the caller's.
        """
        if id or name or arguments:
            self.parts += bool(name or arguments)
            self.calls.add(place, _text(id), _text(name), _text(arguments), served=served)

    def end(self) -> None:
        """The end mark came."""
        self.ends += 1
        self._parts_at_end = self.parts

    def add_finish(self, word: object, *, native: bool = False) -> None:
        """Why the model stopped, in the wire's word: the last one counts, but an error stays one.

        `native` says that it is the upstream's own word beside the wire's, of which only errors count. Anything but a
        non-empty string is nothing.
        """
        if not isinstance(word, str) or not word:
            return
        finish = finish_of(word)
        if native and finish is not Finish.ERROR:
            return
        self.end()
        if not native:
            self.finish_word = word[:MAX_NAME]
        if self.finish is not Finish.ERROR:
            self.finish = finish
        if (fault := FINISH_FAULTS.get(word.lower())) is not None:
            self.add_fault(fault)

    def add_block(self) -> None:
        """The prompt was refused by a filter, and nothing else says why nothing comes."""
        self.end()
        self.finish = Finish.BLOCKED

    def add_fault(self, fault: Fault) -> None:
        """What an error says: the first that says something."""
        self._parts_at_end = self.parts
        if self.fault in (None, Fault.OTHER):
            self.fault = fault

    def add_usage(self, prompt: object, completion: object, *, part: str = "") -> None:
        """Counted tokens: of each the last count that isn't zero. `part` names a share of the prompt; shares add up."""
        if (tokens := _later(prompt, self._prompt_tokens.get(part))) is not None:
            self._prompt_tokens[part] = tokens
        self.completion_tokens = _later(completion, self.completion_tokens)

    def close(self) -> None:
        """Nothing more comes."""
        self._add_split(*self._thoughts.rest())

    # What they come to

    @property
    def end_mark(self) -> bool:
        """Whether the end mark came and nothing of the answer since: some relays send one too early."""
        return self.ends > 0 and self.parts == self._parts_at_end

    @property
    def finished(self) -> bool:
        """Whether the end mark or an error came and nothing of the answer since."""
        return (self.ends > 0 or self.fault is not None) and self.parts == self._parts_at_end

    @property
    def only_words(self) -> Passage | None:
        """The passage that grew, where one piece of text or of thought is all that came."""
        counted = self.parts > 1 or self.media or self.ends or self.calls.places or self._prompt_tokens
        said = (self.fault, self.finish, self.completion_tokens, self._begun_at)
        return None if counted or said != (None, None, None, None) or not self.growing.chars else self.growing

    @property
    def prompt_tokens(self) -> int | None:
        """The whole prompt, caches included; None where nothing was counted."""
        return sum(self._prompt_tokens.values()) if self._prompt_tokens else None

    @property
    def phrase(self) -> Found | None:
        """The gateway's words that the text is, or that its last paragraph is; None if it is none."""
        _, several, last = self.text.tail.rstrip().rpartition("\n\n")
        return find_phrase(self.text.head, self.text.chars, last.strip() if several else "", self._phrases)

    @property
    def made_chars(self) -> int:
        """How many characters the model has made: text, reasoning, arguments of calls."""
        return self.text.chars + self.reasoning.chars + self.calls.chars

    @property
    def squeeze(self) -> float | None:
        """The smaller squeeze of text and reasoning, 0 for endless blanks in a call; None where all is too short."""
        found = [s for s in (self.text.squeeze, self.reasoning.squeeze) if s is not None]
        return 0.0 if self.calls.endless else min(found, default=None)

    def _add_split(self, seen: str, thought: str) -> None:
        if thought:
            self._think(thought)
        if seen:
            self._see(seen)

    def _think(self, piece: str) -> None:
        self.growing = self.reasoning
        self.reasoning.add(piece)

    def _see(self, piece: str) -> None:
        self.text_parts += 1
        self.growing = self.text
        if self._marks:
            self._find_marks(piece)
        self.text.add(piece)

    def _find_marks(self, piece: str) -> None:
        joined = self._edge + piece
        plain = _plain(joined)
        found = {mark for mark in self._marks if mark in plain}
        self.marks_returned += len(found)
        self._marks -= found
        self._edge = joined[-self._overlap :] if self._overlap else ""


def _plain(text: str) -> str:
    """Small letters and plain hyphens."""
    return text.translate(_HYPHENS).lower()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _later(value: object, earlier: int | None) -> int | None:
    """The newer of two counts, unless it is none or a mere zero."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int and 0 <= value <= MAX_TOKENS:
        return value or earlier or 0
    return earlier
