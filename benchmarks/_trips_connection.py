"""A connection that asks one question after the other, as little in the way as possible."""

import asyncio
import time
from typing import Self, cast


class Connection(asyncio.Protocol):
    """Asks over one kept connection; a question at a time."""

    def __init__(self) -> None:
        self._came = b""
        self._answered: asyncio.Future[bytes] | None = None

    @classmethod
    async def to(cls, port: int) -> Self:
        """A connection to a port on loopback."""
        _, made = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own is none by name

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, end, body = self._came.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if end and len(body) >= int(length) and self._answered is not None:
            self._came = b""
            self._answered.set_result(body)

    def connection_lost(self, _: Exception | None) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(ConnectionResetError("the server has closed the connection"))

    def ask(self, question: bytes) -> asyncio.Future[bytes]:
        """Send a question at once; its answer's body comes later."""
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(question)
        return self._answered

    async def until(self, question: bytes, word: bytes) -> float:
        """Ask again and again until the answer holds a word; gives the monotonic moment when that came."""
        while word not in await self.ask(question):
            pass
        return time.monotonic()

    def close(self) -> None:
        """End it."""
        self._transport.abort()
