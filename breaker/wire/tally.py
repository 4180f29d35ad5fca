"""Counts what an answer consists of as it comes, and keeps none of it longer than judging needs."""

import json
import zlib
from collections.abc import Sequence

from breaker.answer import Fault, Finish
from breaker.wire.signs import PHRASES, Phrase, finish_of, phrase_of

# Repetition is looked for in so many of the last characters, and only where there are at least so many.
LOOP_TAIL = 4_000
LOOP_LEAST = 1_000
# A gateway's own words are looked for in so many of the first characters.
HEAD = 600
# So many bytes of tool arguments are kept until they can be parsed; a call that goes beyond is taken for good.
MAX_ARGUMENTS = 1024 * 1024
MAX_CALLS = 256
MAX_NAME = 256
# What models write for a plain hyphen: a hyphen, one that doesn't break, a figure dash, an en dash, a minus.
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))
# Larger numbers are no token counts.
MAX_TOKENS = 1_000_000_000


class Passage:
    """Running text: how long it is without the blanks around it, its first and its last characters."""

    def __init__(self) -> None:
        self.chars = 0
        self.head = ""
        self.tail = ""
        self._blanks = 0

    def add(self, piece: str) -> None:
        """Go on with one more piece."""
        self.tail = (self.tail + piece)[-LOOP_TAIL:]
        if not self.chars:
            piece = piece.lstrip()
        if len(self.head) < HEAD:
            self.head += piece[: HEAD - len(self.head)]
        solid = piece.rstrip()
        if solid:
            self.chars += self._blanks + len(solid)
            self._blanks = 0
        if self.chars:
            self._blanks += len(piece) - len(solid)

    @property
    def squeeze(self) -> float | None:
        """How small the tail deflates, 0..1 and a little more; None where it is too short to tell."""
        if len(self.tail) < LOOP_LEAST:
            return None
        tail = self.tail.encode(errors="replace")
        return len(zlib.compress(tail)) / len(tail)


class _Call:
    """A tool call as it grows; `kept` is False once its arguments are too long to keep."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = bytearray()
        self.kept = True

    @property
    def good(self) -> bool:
        if not self.name:
            return False
        if not self.kept or not self.arguments.strip():
            return True
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False


class Tally:
    """All that the events of one answer have said so far, in one form for all wires.

    A wire's reader calls the methods, `Reading` looks at the result. `parts` counts the pieces that the model itself
    made, `text_parts` those of text; `whole` says that an event held a plain answer, not a piece of a streamed one.
    Marks are found in large and small letters, whatever kind of hyphen they come back with.
    Memory is bounded: `LOOP_TAIL` characters of text and of reasoning, `MAX_ARGUMENTS` of tool arguments.
    """

    def __init__(self, marks: Sequence[str] = (), phrases: Sequence[Phrase] = PHRASES) -> None:
        self._phrases = phrases
        self.parts = 0
        self.media = 0
        self.restarts = 0
        self._begun_at: int | None = None
        self.text_parts = 0
        self.text = Passage()
        self.reasoning = Passage()
        self.end_mark = False
        self._parts_at_end = 0
        self.whole = False
        self.finish: Finish | None = None
        self.finish_word: str | None = None
        self.fault: Fault | None = None
        self._prompt_tokens: dict[str, int] = {}
        self.completion_tokens: int | None = None
        self.marks_returned = 0
        self._marks = {_plain(mark) for mark in marks}
        self._overlap = max(map(len, self._marks), default=1) - 1
        self._calls: dict[str, _Call] = {}
        self._argument_chars = 0

    def begin(self) -> None:
        """The answer begins; one that begins again after parts of it came is in the stream more than once."""
        if self._begun_at is not None and self.parts > self._begun_at:
            self.restarts += 1
        self._begun_at = self.parts

    def add_part(self) -> None:
        """Something that the model made and that is counted elsewhere."""
        self.parts += 1

    def add_media(self) -> None:
        """An image, a sound, a file, code that was run: something to see that is neither text nor a call."""
        self.parts += 1
        self.media += 1

    def has_call(self, place: str) -> bool:
        """Whether a call at this place has been given any arguments."""
        call = self._calls.get(place)
        return call is not None and (bool(call.arguments) or not call.kept)

    def add_text(self, piece: object) -> None:
        """Text (or a refusal) that the model wrote; anything but a non-empty string is nothing."""
        if not isinstance(piece, str) or not piece:
            return
        self.parts += 1
        self.text_parts += 1
        self._find_marks(piece)
        self.text.add(piece)

    def add_reasoning(self, piece: object) -> None:
        """Text that the model thought; anything but a non-empty string is nothing."""
        if isinstance(piece, str) and piece:
            self.parts += 1
            self.reasoning.add(piece)

    def add_call(self, place: str, *, id: object = "", name: object = "", arguments: object = "") -> None:  # noqa: A002 # the wires' word
        """A fragment of the tool call at `place`; the first name stays, texts of arguments are joined.

        Arguments that come parsed, as an object, need no more looking at.
        """
        if not any((id, name, arguments)):
            return
        self.parts += bool(name or arguments)
        call = self._call(place, _text(id)[:MAX_NAME], bool(_text(name)))
        if call is not None:
            call.id = call.id or _text(id)[:MAX_NAME]
            call.name = call.name or _text(name)[:MAX_NAME]
            self._add_arguments(call, _text(arguments))

    def _call(self, place: str, id: str, named: bool) -> _Call | None:  # noqa: A002 # the wires' word
        """The call that a fragment belongs to; None where there are too many to keep."""
        call = self._calls.get(place)
        # Some hosts give every call the index 0: a new id with a name begins a new one.
        if call and named and id and call.id and call.id != id:
            self._calls[f"{place} until {len(self._calls)}"] = self._calls.pop(place)
            call = None
        if call is None and len(self._calls) < MAX_CALLS:
            call = self._calls[place] = _Call()
        return call

    def _add_arguments(self, call: _Call, piece: str) -> None:
        self._argument_chars += len(piece)
        if self._argument_chars > MAX_ARGUMENTS:
            call.kept = False
            call.arguments.clear()
        else:
            call.arguments += piece.encode(errors="replace")

    def end(self) -> None:
        """The end mark came."""
        self.end_mark = True
        self._parts_at_end = self.parts

    @property
    def finished(self) -> bool:
        """Whether the end mark or an error came and nothing of the model's since: some relays send it too early."""
        return (self.end_mark or self.fault is not None) and self.parts == self._parts_at_end

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

    def add_block(self) -> None:
        """The prompt was refused by a filter, with no other word of why nothing comes."""
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

    @property
    def prompt_tokens(self) -> int | None:
        """The whole prompt, caches included; None where nothing was counted."""
        return sum(self._prompt_tokens.values()) if self._prompt_tokens else None

    @property
    def tool_calls(self) -> int:
        """How many tool calls were begun."""
        return len(self._calls)

    @property
    def bad_tool_calls(self) -> int:
        """How many of them have no name, or arguments that are no JSON object."""
        return sum(not call.good for call in self._calls.values())

    @property
    def phrase(self) -> str | None:
        """The id of the gateway phrase that the text is, or that its last paragraph is; None if it is none."""
        _, several, last = self.text.tail.rpartition("\n\n")
        return phrase_of(self.text.head, self.text.chars, last.strip() if several else "")

    @property
    def squeeze(self) -> float | None:
        """The smaller squeeze of text and reasoning; None where both are too short."""
        found = [s for s in (self.text.squeeze, self.reasoning.squeeze) if s is not None]
        return min(found, default=None)

    def _find_marks(self, piece: str) -> None:
        joined = _plain((self.text.tail[-self._overlap :] if self._overlap else "") + piece)
        found = {mark for mark in self._marks if mark in joined}
        self.marks_returned += len(found)
        self._marks -= found


def _plain(text: str) -> str:
    """Small letters and plain hyphens."""
    return text.translate(_HYPHENS).lower()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _later(value: object, earlier: int | None) -> int | None:
    """The newer of two counts, unless it is none or a mere zero."""
    if type(value) is int and 0 <= value <= MAX_TOKENS:
        return value or earlier or 0
    return earlier
