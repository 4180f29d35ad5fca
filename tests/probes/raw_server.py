"""An HTTP server on loopback that sends exactly the bytes that a test gives it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field


@dataclass
class Exchange:
    """One request that has been read; `number` counts those of its connection from 1, `first` is its first line."""

    number: int
    first: str
    headers: dict[str, str]
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, *parts: bytes) -> None:
        """Send bytes."""
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def whole(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        """Send a whole answer."""
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
        await self.send("\r\n".join(lines).encode(), body)


@dataclass
class RawServer:
    """Where it listens and what it has seen."""

    url: str
    connections: int = 0
    requests: list[Exchange] = field(default_factory=list)


@contextlib.asynccontextmanager
async def raw_server(answer: Callable[[Exchange], Awaitable[bool | None]]) -> AsyncIterator[RawServer]:
    """A server that lets `answer` answer each request and then waits for the next, or closes if it says True."""
    seen = RawServer(url="")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        try:
            for number in range(1, 100):
                exchange = Exchange(number, *await _read(reader), writer)
                seen.requests.append(exchange)
                if await answer(exchange):
                    break
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the client has gone, or the test is over
        finally:
            for exchange in seen.requests:
                exchange.gone.set()
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    seen.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield seen
    finally:
        server.close()
        for exchange in seen.requests:
            exchange.writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    pairs = [line.partition(":") for line in lines if line]
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    await reader.readexactly(int(headers.get("content-length", "0")))
    return first, headers
