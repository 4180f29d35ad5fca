"""Knows events again that differ from an earlier one in nothing but the model's words, without parsing them."""

import re
from typing import NamedTuple

from breaker.wire.faults import fault_in
from breaker.wire.reader import Reader
from breaker.wire.shape import one
from breaker.wire.sse import MAX_EVENT, SseEvents
from breaker.wire.tally import Tally

# A value that is a text without escapes, as most words of models are.
_TEXT = re.compile(rb':\s*"([^"\\]+)"')
# Stands where the words stood, to see what becomes of them.
_MARK = "\ue000"
# Longer events, and texts beyond so many, aren't looked at.
_LONGEST, _MOST_TEXTS = 4_096, 32
# After this many looks in vain each event has something of its own, and none is looked at any more.
_MOST_IN_VAIN = 8


class _Like(NamedTuple):
    before: bytes
    after: bytes


class Alike:
    """Learns from an event of a stream how the next ones will look; `reader` is the wire's.

    `thought` says whether the words that are said in such events are thoughts.

    Most of a stream is one event over and over with other words in it, and parsing it costs five times as much as
    seeing that.
    """

    def __init__(self, reader: Reader) -> None:
        self.thought = False
        self._reader = reader
        self._like: _Like | None = None
        self._in_vain = 0

    def said(self, data: bytes) -> list[str] | None:
        """The words of each event, where these bytes are one or more like the one that was learnt; else None."""
        if self._like is None:
            return None
        before, after = self._like
        if not (data.startswith(before) and data.endswith(after)) or len(data) >= MAX_EVENT:
            return None
        try:
            texts = [text.decode() for text in data[len(before) : -len(after)].split(after + before)]
        except UnicodeDecodeError:
            return None
        for text in texts:
            # What isn't printable may not stand in JSON as it is, and blanks alone are looked at as ever.
            if not text or '"' in text or "\\" in text or not text.isprintable():
                return None
        self._in_vain = 0
        return texts

    def learn(self, data: bytes) -> None:
        """Look at bytes that are one event, with words in it, and unlike the one that was learnt."""
        if self._in_vain >= _MOST_IN_VAIN or len(data) > _LONGEST:
            return
        self._in_vain += 1
        for _, found in zip(range(_MOST_TEXTS), _TEXT.finditer(data), strict=False):
            before, after = data[: found.start(1)], data[found.end(1) :]
            if (thought := self._made_of(before + _MARK.encode() + after)) is not None:
                self._like, self.thought = _Like(before, after), thought
                return

    def _made_of(self, marked: bytes) -> bool | None:
        """Whether the mark becomes a thought or a text that is seen; None where it doesn't, or not alone."""
        events = SseEvents()
        found = list(events.feed(marked))
        body = one(found[0].data) if len(found) == 1 and events.idle else None
        if body is None or fault_in(body, name=found[0].name) is not None:
            return None
        tally = Tally()
        known = self._reader.read(body, tally)
        words = tally.only_words if known else None
        return None if words is None or words.head != _MARK else words is tally.reasoning
