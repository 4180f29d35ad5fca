"""A webhook's receiver on loopback that behaves as it is told, one way a request, the last way for all that follow."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

TAKEN = "204"


@dataclass
class Receiver:
    """What came, in order: path, headers and body. `ways` are statuses, `status;headers`, `hang` or `reset`.

    A body that holds `fails_at` gets a 500, whatever the way.
    """

    ways: list[str]
    url: str = ""
    fails_at: bytes | None = None
    came: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, many: int, *, within_s: float = 240) -> None:
        """Wait until so many requests have come."""
        async with asyncio.timeout(within_s), self.more:
            await self.more.wait_for(lambda: len(self.came) >= many)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            way = self.ways.pop(0) if len(self.ways) > 1 else self.ways[0]
            async with self.more:
                self.came.append((head[0].split(" ")[1], headers, body))
                self.more.notify_all()
            if self.fails_at is not None and self.fails_at in body:
                way = "500"
            if way == "hang":
                await reader.read()
            elif way == "reset":
                writer.transport.abort()
            else:
                status, _, header = way.partition(";")
                said = [f"HTTP/1.1 {status} So", "content-length: 0", "connection: close", *filter(None, [header])]
                writer.write("\r\n".join([*said, "", ""]).encode())
                await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def receiver(ways: Sequence[str] = (TAKEN,)) -> AsyncIterator[Receiver]:
    """A receiver that listens until the block ends."""
    made = Receiver(list(ways))
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook/secret-token"
    try:
        yield made
    finally:
        server.close()
