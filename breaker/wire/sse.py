"""Cuts a body's bytes into events as they come, keeping no more than one event."""

from collections.abc import Iterator
from typing import NamedTuple

# A longer line or event is dropped and counted. The longest healthy ones hold a whole file as a tool's argument.
MAX_EVENT = 8 * 1024 * 1024
# So much is kept of lines that are no part of any event: some servers put their error there.
MAX_STRAY = 64 * 1024


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

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that these bytes complete, without their ends."""
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
            self._after_cr = False
        for piece in data.splitlines(keepends=True):
            body = piece.rstrip(b"\r\n")
            self._hold(body)
            if len(body) < len(piece):
                yield self.close()
        if data:
            self._after_cr = data.endswith(b"\r")

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


class SseEvents:
    """Server-sent events from bytes; unlike a browser it also keeps what stands outside the standard.

    `dropped` counts events longer than `MAX_EVENT`. Holds at most one line, one event and `MAX_STRAY` of stray text.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._lines = Lines()
        self._name = ""
        self._data: list[str] = []
        self._size = 0
        self._overfull = False
        self._stray: list[str] = []
        self._stray_size = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete."""
        for line in self._lines.feed(data):
            if line == b"":
                yield from self._flush()
            else:
                self._take(line)

    def close(self) -> Iterator[Event]:
        """What the end of the body leaves over: an event without its blank line, then stray text as one event."""
        if last := self._lines.close():
            self._take(last)
        yield from self._flush()
        if self._stray:
            yield Event("", "\n".join(self._stray))

    def _take(self, line: bytes | None) -> None:
        if line is None:
            self._overfull = True
            return
        text = line.decode(errors="replace")
        field, colon, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._add(value)
        elif field == "event":
            self._name = value.strip()
        elif field == "error" and colon:
            self._keep_stray(value)
        elif field not in ("", "id", "retry"):
            self._keep_stray(text)

    def _add(self, value: str) -> None:
        self._size += len(value)
        if self._size > MAX_EVENT:
            self._overfull = True
            self._data.clear()
        else:
            self._data.append(value)

    def _keep_stray(self, text: str) -> None:
        self._stray_size += len(text) + 1
        if self._stray_size <= MAX_STRAY:
            self._stray.append(text)

    def _flush(self) -> Iterator[Event]:
        event = Event(self._name, "\n".join(self._data)) if self._data else None
        self.dropped += self._overfull
        overfull = self._overfull
        self._name, self._size, self._overfull = "", 0, False
        self._data.clear()
        if event and not overfull:
            yield event


class JsonEvents:
    """The values of a JSON body: one, or one a line; each line that is an object by itself is an event at once.

    `dropped` counts bodies or lines longer than `MAX_EVENT`. Holds at most two of that length.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._lines = Lines()
        self._held: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """The lines that these bytes complete and that are whole by themselves."""
        for line in self._lines.feed(data):
            text = self._text(line)
            if not self._held and text.startswith("{") and text.rstrip().endswith("}"):
                yield Event("", text)
            else:
                self._hold(text)

    def close(self) -> Iterator[Event]:
        """All that was held back until the end."""
        self._hold(self._text(self._lines.close()))
        if held := "\n".join(self._held).strip():
            yield Event("", held)

    def _text(self, line: bytes | None) -> str:
        self.dropped += line is None
        return (line or b"").decode(errors="replace")

    def _hold(self, text: str) -> None:
        if not self._held and not text.strip():
            return
        self._size += len(text) + 1
        if self._size <= MAX_EVENT:
            self._held.append(text)
        else:
            self.dropped += bool(self._held)
            self._held.clear()
