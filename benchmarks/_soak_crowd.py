"""Agents that wait for a decision to change and readers of the events, for as long as they are let."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence

WAIT_S = 5


class Crowd:
    """So many who wait and who read; counts what they were told."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.told = 0
        self.events = 0

    @contextlib.asynccontextmanager
    async def here(self, waiting: int, reading: int) -> AsyncIterator[None]:
        """They come, and they go when the block ends."""
        tasks = [asyncio.create_task(self._wait()) for _ in range(waiting)]
        tasks += [asyncio.create_task(self._read()) for _ in range(reading)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait(self) -> None:
        """Ask, wait until it changes or the time is over, ask again, all on one connection."""
        tag = ""
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    while True:
                        self._ask(
                            writer, f"/route?route=coder&wait={WAIT_S}", f"If-None-Match: {tag}\r\n" if tag else ""
                        )
                        tag = await _answer(reader) or tag
                        self.told += 1
                finally:
                    writer.close()
            await asyncio.sleep(1.0)

    async def _read(self) -> None:
        """Read events for as long as there are any."""
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    self._ask(writer, "/events", "Accept: text/event-stream\r\n")
                    while line := await reader.readline():
                        self.events += line.startswith(b"data:")
                finally:
                    writer.close()
            await asyncio.sleep(1.0)

    def _ask(self, writer: asyncio.StreamWriter, path: str, more: str) -> None:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n{more}\r\n".encode())


async def _answer(reader: asyncio.StreamReader) -> str:
    """Read an answer; gives its tag, "" where it has none."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    if length := int(fields.get("content-length", 0)):
        await reader.readexactly(length)
    return next((line.split(": ", 1)[1] for line in head.split("\r\n") if line.lower().startswith("etag: ")), "")


def batch(prefix: str, targets: Sequence[str], size: int, *, bad: int) -> bytes:
    """So many reports, of each target in turn; the last `bad` of them are failures."""
    return json.dumps(
        [
            {
                "target": targets[number % len(targets)],
                "id": f"{prefix}-{number}",
                "ended": "complete",
                "seconds": 0.1,
                "streamed": False,
                "status": 500 if number >= size - bad else 200,
                "text_chars": 5,
            }
            for number in range(size)
        ]
    ).encode()
