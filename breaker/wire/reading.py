"""Watches one exchange with a provider and says what its answer was."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from breaker.answer import Answer, Body, Ended, Finish, Part, Source
from breaker.wire import READERS
from breaker.wire.alike import Alike
from breaker.wire.faults import fault_in_text
from breaker.wire.json_body import ArrayEvents, JsonEvents
from breaker.wire.objects import Objects
from breaker.wire.retry import retry_after_s
from breaker.wire.shape import one
from breaker.wire.signs import PHRASES, Phrase
from breaker.wire.sniffing import LEADING, sniffed
from breaker.wire.sse import Event, SseEvents
from breaker.wire.tally import Tally

# Relays between two wires leave the one's end in the other's stream.
_FOREIGN_END = "[DONE]"
# How many bytes of a body in no known format are kept, for what an error in it may say.
_MOST_WORDS = 4_000


class Reading:
    """The facts of one exchange, from its status, headers and bytes in the order in which they came.

    `wire` is a name in `READERS`, `streamed` what was asked for, `prompt_bytes` the size of the text sent (see
    `question.prompt_bytes`), `marks` the words that the answer must return, `max_tokens` the caller's own limit,
    `phrases` the gateways' own words to look for, `tools` whether any tools were offered.
    The body is read by its bytes, never by its content type; the caller has undone any content encoding.
    All times are monotonic seconds since the attempt began. However the bytes are cut, the facts are the same; no
    bytes raise. Whatever comes, no more is held than four times `sse.MAX_EVENT` (parsing an event of that size takes
    up to twenty times as much for a moment), `calls.MAX_ARGUMENTS`, and some forty thousand characters of text to find
    repetition in; the facts hold none of it. An event of more than `shape.MAX_OBJECTS` objects is left unread.
    """

    def __init__(
        self,
        wire: str,
        *,
        streamed: bool,
        prompt_bytes: int | None = None,
        marks: Sequence[str] = (),
        max_tokens: int | None = None,
        phrases: Sequence[Phrase] = PHRASES,
        tools: bool | None = None,
    ) -> None:
        self._reader = READERS[wire]
        self._end_words = (self._reader.END_WORD, _FOREIGN_END)
        self._asked_streamed = streamed
        self._sent: dict[str, Any] = {
            "prompt_bytes": prompt_bytes,
            "marks_sent": len(set(marks)) or None,
            "max_tokens": max_tokens,
            "tools": tools,
        }
        self._tally = Tally(marks, phrases)
        self._objects = Objects(self._reader, self._tally)
        self._status: int | None = None
        self._headers_s: float | None = None
        self._retry_after_s: float | None = None
        self._head = b""
        self._words = b""
        self._body: Body | None = None
        self._events: SseEvents | JsonEvents | ArrayEvents | None = None
        self._like = Alike(self._reader)
        self._alike: Alike | None = None  # while an event may begin
        self._deltas = 0
        self._first_byte_s: float | None = None
        self._last_token_s: float | None = None

    @property
    def first_byte_s(self) -> float | None:
        """When the first event with any part of the model's answer was complete; None so far, or for a plain answer.

        Parts are text, reasoning, refusals, and names and arguments of tool calls; comments, pings, roles, empty
        deltas and token counts are none.
        """
        return self._first_byte_s

    @property
    def last_token_s(self) -> float | None:
        """When the newest part of the model's answer came; comments and pings don't move it."""
        return self._last_token_s

    @property
    def made_chars(self) -> int:
        """How many characters the model has made so far: text, reasoning, arguments of calls.

        0 for a plain answer until its end.
        """
        return self._tally.made_chars

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Name and arguments of each tool call so far that is the caller's to carry out; never to be kept."""
        return self._tally.calls.made

    @property
    def last_words(self) -> str:
        """The last characters of the text so far, some thousands at most; never to be kept."""
        return self._tally.text.tail

    @property
    def media(self) -> int:
        """How many images, sounds and files came so far."""
        return self._tally.media

    @property
    def sounds_foreign(self) -> bool:
        """Whether the text so far may be a gateway's own words in place of the model's."""
        return self._tally.phrase is not None

    @property
    def faulty(self) -> bool:
        """Whether an error has come so far in the body."""
        return self._tally.fault is not None or self._tally.finish is Finish.ERROR

    @property
    def unreadable(self) -> bool:
        """Whether an event of a stream has come that its caller can't read."""
        return self._body is Body.SSE and self._objects.broken > 0

    @property
    def squeeze(self) -> float | None:
        """How small the end of what grows just now deflates, be it text or reasoning; None where it is too short."""
        return self._tally.growing.squeeze

    @property
    def finished(self) -> bool:
        """Whether the answer has come to its end, by its end mark or by an error, as far as is known.

        Token counts or an error may follow, so read on to the body's end; if more of the answer follows, it is False
        again.
        """
        return self._tally.finished

    @property
    def finish_word(self) -> str | None:
        """The wire's own word for why the model stopped, the last one that isn't empty; None for none.

        None, too, for a plain answer with something behind it that makes it no JSON: nobody can read that.
        """
        return None if self._objects.garbled and not self._streamed else self._tally.finish_word

    def headers(self, status: int, headers: Mapping[str, str] | Iterable[tuple[str, str]], at_s: float) -> None:
        """The response has begun."""
        self._status, self._headers_s = status, at_s
        self._objects.status = status
        pairs = headers.items() if isinstance(headers, Mapping) else headers
        self._retry_after_s = retry_after_s({name.lower(): value for name, value in pairs})

    def packed(self) -> None:
        """The body comes in a content encoding that nobody here can undo: nothing of it will be known."""
        self._body = Body.PACKED

    def feed(self, data: bytes, at_s: float) -> None:
        """More of the body has come."""
        if not data or self.goes_on(data, at_s):
            return
        if self._body is None:
            data = self._sniff(data)
        self._go_on(data, at_s)

    def goes_on(self, data: bytes, at_s: float) -> bool:
        """The same where the bytes are nothing but more of the model's words, in whole events; else nothing is done.

        Gives which of both it was. Most of a stream is such, and it is told from the rest without parsing it.
        """
        if self._alike is None or (texts := self._alike.said(data)) is None:
            return False
        self._deltas += self._tally.add_words(texts, thought=self._alike.thought)
        self._last_token_s = at_s
        return True

    def _go_on(self, data: bytes, at_s: float) -> None:
        events = self._events
        if isinstance(events, SseEvents):
            self._stream(events, data, at_s)
        elif events is not None:
            self._take(events.feed(data), at_s)
        elif self._body is Body.OTHER and len(self._words) < _MOST_WORDS:
            self._words += data[: _MOST_WORDS - len(self._words)]

    def _stream(self, events: SseEvents, data: bytes, at_s: float) -> None:
        """Read on in a stream, and learn from a read that is one event how the next ones will look."""
        parts, whole = self._tally.parts, events.idle
        self._take(events.feed(data), at_s)
        self._alike = self._like if events.idle and not self._failed else None
        if whole and self._alike is not None and self._tally.parts == parts + 1:
            self._alike.learn(data)

    def late(self, at_s: float, *, target: str, id: str, source: Source, confirms: str | None = None) -> Answer:  # noqa: A002 # a fact's name
        """The part that says "nothing yet" at the moment when the slow limit passes."""
        return Answer(
            target=target,
            id=id,
            source=source,
            confirms=confirms,
            part=Part.LATE,
            ended=Ended.PENDING,
            seconds=at_s,
            streamed=self._asked_streamed,
            status=self._status,
            headers_s=self._headers_s,
            **self._sent,
        )

    def end(
        self,
        ended: Ended,
        at_s: float,
        *,
        target: str,
        id: str,  # noqa: A002 # a fact's name
        source: Source,
        suspect_timing: bool = False,
        confirms: str | None = None,
    ) -> Answer:
        """The final facts; nothing may be fed afterwards."""
        self._close(at_s)
        return Answer(
            target=target,
            id=id,
            source=source,
            confirms=confirms,
            suspect_timing=suspect_timing,
            ended=ended,
            seconds=at_s,
            streamed=self._streamed,
            status=self._status,
            headers_s=self._headers_s,
            first_byte_s=self._first_byte_s,
            body=self._body,
            retry_after_s=self._retry_after_s,
            **self._sent,
            **self._said(),
        )

    def _sniff(self, data: bytes, *, whole: bool = False) -> bytes:
        """Decide what the body is once enough of it has come; what is left for its events."""
        head = (self._head + data).lstrip(LEADING)
        found = sniffed(head, whole=whole)
        if found is None:
            self._head = head
            return b""
        self._body, self._events = found
        self._objects.plain = self._body is Body.JSON
        return head

    def _close(self, at_s: float) -> None:
        if self._body is None and self._status is not None:
            self._go_on(self._sniff(b"", whole=True), at_s)
        if self._events is not None:
            self._take(self._events.close(), at_s)
            self._objects.broken += self._events.dropped
        self._tally.close()
        if self._words and self._failed:
            self._tally.add_fault(fault_in_text(self._words.decode(errors="replace")))

    def _take(self, events: Iterable[Event], at_s: float) -> None:
        for event in events:
            if event.data.startswith("{") or (word := event.data.strip()) not in self._end_words:
                self._read(event, at_s)
            elif word == self._reader.END_WORD:
                self._tally.end()

    def _read(self, event: Event, at_s: float) -> None:
        tally = self._tally
        parts, text_parts = tally.parts, tally.text_parts
        if (body := one(event.data)) is not None:
            self._objects.read(event.name, body, readable=True)
        else:
            self._objects.read_others(event)
        self._deltas += tally.text_parts > text_parts
        if tally.parts > parts and self._streamed:
            self._last_token_s = at_s
            if self._first_byte_s is None:
                self._first_byte_s = at_s

    @property
    def _failed(self) -> bool:
        return self._status is None or not 200 <= self._status < 300

    @property
    def _streamed(self) -> bool:
        """Whether the answer came as a stream, whatever was asked for; where nothing came, what was asked for."""
        if self._body is Body.JSON:
            one_by_one = isinstance(self._events, ArrayEvents) or not self._tally.whole
            return self._asked_streamed and one_by_one
        return self._asked_streamed or self._body is Body.SSE

    def _said(self) -> dict[str, Any]:
        """What the body said; nothing of it is known where no answer began."""
        tally = self._tally
        if self._failed or self._body is Body.PACKED:
            return {"fault": tally.fault}
        phrase = tally.phrase
        return {
            "end_mark": tally.end_mark or (tally.whole and not self._streamed),
            "early_end": tally.ends > 0 and not tally.end_mark,
            "finish": tally.finish,
            "fault": tally.fault,
            "text_chars": tally.text.chars,
            "reasoning_chars": tally.reasoning.chars,
            "tool_calls": len(tally.calls),
            "bad_tool_calls": tally.calls.bad,
            "media": tally.media,
            "deltas": self._deltas if self._streamed else None,
            "phrase": phrase and phrase.id,
            "phrase_before": phrase and phrase.before,
            "phrase_says": phrase and phrase.says,
            "squeeze": tally.squeeze,
            "restarts": tally.restarts,
            "broken": self._objects.broken,
            "other_wire": self._objects.other_wire,
            "prompt_tokens": tally.prompt_tokens,
            "completion_tokens": tally.completion_tokens,
            "marks_returned": tally.marks_returned if self._sent["marks_sent"] else None,
        }
