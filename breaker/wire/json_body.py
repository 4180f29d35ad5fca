"""Cuts a body of JSON into events as it comes, keeping no more than one of them."""

import re
from collections.abc import Iterator

from breaker.wire.sse import MAX_EVENT, Event, Gathered, Lines

_MARK = re.compile(rb'["{}\[\]]')
_STRING_END = re.compile(rb'["\\]')


class JsonEvents:
    """The values of a JSON body: one, or one a line; each line that is an object by itself is an event at once.

    `dropped` counts lines and bodies longer than `MAX_EVENT`. Holds at most two of that length.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._lines = Lines()
        self._held = Gathered(MAX_EVENT)

    def feed(self, data: bytes) -> Iterator[Event]:
        """The lines that these bytes complete and that are whole by themselves."""
        for line in self._lines.feed(data):
            if line and not self._held and line.startswith(b"{") and line.rstrip().endswith(b"}"):
                yield Event("", line.decode(errors="replace"))
            elif line is None or line.strip():
                self._held.add(line)

    def close(self) -> Iterator[Event]:
        """All that was held back until the end."""
        self._held.add(self._lines.close())
        self.dropped += self._held.lost
        if held := self._held.take().strip():
            yield Event("", held)


class ArrayEvents:
    """The elements of a body that is one list, each an event as soon as it is whole.

    `dropped` counts elements longer than `MAX_EVENT`. Holds at most one of that length.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._held = bytearray()
        self._depth = 0
        self._closed = False
        self._in_string = False
        self._escaped = False
        self._too_long = False

    def feed(self, data: bytes) -> Iterator[Event]:
        """The elements that these bytes complete."""
        start = at = 0
        while at < len(data) and not self._closed:
            at = self._skip_string(data, at) if self._in_string else self._step(data, at)
            if self._depth == 1 and data[at - 1 : at] == b"}" and not self._in_string:
                self._hold(data[start:at])
                start = at
                yield from self._element()
        self._hold(data[start:])

    def close(self) -> Iterator[Event]:
        """The element that the body broke off in."""
        if self._depth:
            yield from self._element()
        if rest := bytes(self._held).strip(b" \t\r\n,[]"):
            yield Event("", rest.decode(errors="replace"))

    def _skip_string(self, data: bytes, at: int) -> int:
        """Where the string ends, or the data."""
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _STRING_END.search(data, at)
        if found is None:
            return len(data)
        self._escaped = found[0] == b"\\"
        self._in_string = self._escaped
        return found.end()

    def _step(self, data: bytes, at: int) -> int:
        """Just behind the next mark, or the data's end."""
        found = _MARK.search(data, at)
        if found is None:
            return len(data)
        if found[0] == b'"':
            self._in_string = True
        else:
            self._depth += 1 if found[0] in b"{[" else -1
            self._closed = self._depth == 0
        return found.end()

    def _hold(self, piece: bytes) -> None:
        if len(self._held) + len(piece) > MAX_EVENT:
            self._too_long = True
        if self._too_long:
            self._held.clear()
        else:
            self._held += piece

    def _element(self) -> Iterator[Event]:
        self.dropped += self._too_long
        self._too_long = False
        element = bytes(self._held).strip(b" \t\r\n,[")
        self._held.clear()
        if element:
            yield Event("", element.decode(errors="replace"))
