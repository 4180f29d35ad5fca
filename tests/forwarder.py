"""Stands between the service and its store, and can be slow or swallow all; `python -m tests.forwarder SOCKET`."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Self


class Forwarder:
    """A port on loopback behind which a server on a Unix socket is reached."""

    def __init__(self, upstream: Path) -> None:
        self._upstream = upstream
        self._delay_s = 0.0
        self._swallows = False
        self._swallowed: set[asyncio.StreamWriter] = set()
        self._listeners: set[asyncio.StreamWriter] = set()
        self._deaf: set[asyncio.StreamWriter] = set()
        self._open: set[asyncio.StreamWriter] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        _abort(self._open)
        await self._server.wait_closed()

    def slow(self, delay_s: float) -> None:
        """Let each piece of a reply come this much later."""
        self._delay_s = delay_s

    def swallow(self) -> None:
        """Let nothing through any more, and break nothing either."""
        self._swallows = True

    def deafen(self) -> None:
        """Let nothing through any more on the connections that listen to announcements; those made later are whole."""
        self._deaf |= self._listeners

    def go_on(self) -> None:
        """Be quick and let all through; connections of which something was swallowed are broken."""
        self._swallows, self._delay_s = False, 0.0
        _abort(self._swallowed)
        self._swallowed.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            theirs, ours = await asyncio.open_unix_connection(str(self._upstream))
        except OSError:
            _abort({writer})
            return
        self._open |= {writer, ours}
        asking = asyncio.create_task(self._questions(reader, ours, writer))
        try:
            await self._replies(theirs, writer)
        except asyncio.CancelledError:
            return  # at the end of a loop, which would else complain of it
        finally:
            asking.cancel()
            _abort({writer, ours})
            self._open -= {writer, ours}
            for those in (self._swallowed, self._listeners, self._deaf):
                those.discard(writer)

    async def _questions(
        self, reader: asyncio.StreamReader, ours: asyncio.StreamWriter, theirs: asyncio.StreamWriter
    ) -> None:
        async for data in _pieces(reader):
            if b"SUBSCRIBE" in data:
                self._listeners.add(theirs)
            if self._lets_through(theirs):
                ours.write(data)
        _abort({ours})

    def _lets_through(self, theirs: asyncio.StreamWriter) -> bool:
        if self._swallows:
            self._swallowed.add(theirs)
        return not (self._swallows or theirs in self._deaf)

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop, due = asyncio.get_running_loop(), 0.0
        async for data in _pieces(reader):
            if not self._lets_through(writer):
                continue
            due = max(due + 1e-6, loop.time() + self._delay_s)  # none overtakes the one before
            if due <= loop.time():
                writer.write(data)
            else:
                loop.call_at(due, writer.write, data)


async def _pieces(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """What comes, until the connection ends or breaks."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            yield data


def _abort(writers: set[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()


async def main(upstream: str) -> None:
    """Say where it is, and do what each line of the input says: `swallow`, `slow SECONDS`, `go on`."""
    async with Forwarder(Path(upstream)) as forwarder:
        print(forwarder.url, flush=True)  # noqa: T201 # whoever started this process reads it
        while line := await asyncio.to_thread(sys.stdin.readline):
            match line.split():
                case ["swallow"]:
                    forwarder.swallow()
                case ["slow", seconds]:
                    forwarder.slow(float(seconds))
                case _:
                    forwarder.go_on()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
