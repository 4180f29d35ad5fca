"""Cuts a body's bytes into events as they come, keeping no more than one event."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# A longer line or event is dropped and counted. The longest healthy ones hold a whole file as a tool's argument.
MAX_EVENT = 4 * 1024 * 1024
# The most that is kept of lines that are no part of any event: some servers put their error there.
MAX_STRAY = 64 * 1024
# Longer reads are cut, so that a large one of nothing but line ends isn't held as a list of them.
_READ = 64 * 1024


# A read that is one event, with or without a name.
_ALONE = re.compile(rb"(?:event: ([^\r\n]*)\r?\n)?data: ([^\r\n]+)(?:\n\n|\r\n\r\n)")


class Event(NamedTuple):
    """One event of a stream: its name ("" for none) and its data, not yet parsed."""

    name: str
    data: str


class Lines:
    """Splits bytes into lines at CR, LF and CRLF, wherever the reads cut them.

    A line longer than `MAX_EVENT` comes out as None. Holds at most one line.
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._too_long = False
        self._after_cr = False

    @property
    def begun(self) -> bool:
        """Whether a line's beginning is held, or its end may go on."""
        return self._too_long or self._after_cr or bool(self._held)

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that these bytes complete, without their ends."""
        for start in range(0, len(data), _READ):
            yield from self._split(data[start : start + _READ])

    def _split(self, data: bytes) -> Iterator[bytes | None]:
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        for piece in data.splitlines(keepends=True):
            body = piece.rstrip(b"\r\n")
            self._hold(body)
            if len(body) < len(piece):
                yield self.close()

    def _hold(self, piece: bytes) -> None:
        if self._too_long or len(self._held) + len(piece) > MAX_EVENT:
            self._too_long = True
            self._held.clear()
        else:
            self._held += piece

    def close(self) -> bytes | None:
        """The line that the body broke off in; empty if none."""
        line = None if self._too_long else bytes(self._held)
        self._held.clear()
        self._too_long = False
        return line


class Gathered:
    """Lines gathered into one text of at most `most` bytes; `lost` says that it was more."""

    def __init__(self, most: int) -> None:
        self.lost = False
        self._most = most
        self._held = bytearray()

    def __bool__(self) -> bool:
        return self.lost or bool(self._held)

    def add(self, line: bytes | None) -> None:
        """One more line; None is one that was too long."""
        if line is None or len(self._held) + len(line) >= self._most:
            self.lost = True
            self._held.clear()
        elif not self.lost:
            self._held += line + b"\n"

    def take(self) -> str:
        """All of it, and begin anew."""
        text = self._held.removesuffix(b"\n").decode(errors="replace")
        self._held.clear()
        self.lost = False
        return text


class SseEvents:
    """Server-sent events from bytes; unlike a browser it also keeps what stands outside the standard.

    `dropped` counts events longer than `MAX_EVENT`. Holds at most one line, one event and `MAX_STRAY` of stray text.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._lines = Lines()
        self._name = ""
        self._data = Gathered(MAX_EVENT)
        self._stray = Gathered(MAX_STRAY)

    @property
    def idle(self) -> bool:
        """Whether nothing is held that could belong to the next event."""
        return not (self._name or self._data or self._lines.begun)

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that these bytes complete."""
        alone = self._alone(data)
        return self._cut(data) if alone is None else (alone,)

    def _cut(self, data: bytes) -> Iterator[Event]:
        for line in self._lines.feed(data):
            if line == b"":
                yield from self._flush()
            else:
                self._take(line)

    def _alone(self, data: bytes) -> Event | None:
        """The one event that a read is, as most reads of a stream are; None if it is anything else."""
        if not self.idle or len(data) >= MAX_EVENT:
            return None
        # Searching for bytes takes a third of what the pattern takes, and most streams have no names.
        if (
            data.startswith(b"data: ")
            and data.find(b"\n") == len(data) - 2 > 6
            and data[-1] == 10
            and b"\r" not in data
        ):
            return Event("", data[6:-2].decode(errors="replace"))
        alone = _ALONE.fullmatch(data)
        if alone is None:
            return None
        name, said = alone.groups()
        return Event(name.decode(errors="replace").strip() if name else "", said.decode(errors="replace"))

    def close(self) -> Iterator[Event]:
        """What the end of the body leaves over: an event without its blank line, then stray text as one event."""
        if last := self._lines.close():
            self._take(last)
        yield from self._flush()
        if stray := self._stray.take():
            yield Event("", stray)

    def _take(self, line: bytes | None) -> None:
        field, _, value = (line or b"data").partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.add(line and value)
        elif field == b"event":
            self._name = value.decode(errors="replace").strip()
        elif field == b"error":
            self._stray.add(value)
        elif field not in (b"", b"id", b"retry"):
            self._stray.add(line)

    def _flush(self) -> Iterator[Event]:
        name, self._name = self._name, ""
        self.dropped += self._data.lost
        if self._data and (data := self._data.take()):
            yield Event(name, data)
