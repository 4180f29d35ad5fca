"""A connection that asks one question after the other, as little in the way as possible."""

import asyncio
import time
from collections.abc import Callable
from typing import Self, cast

# Between two questions of one that waits for an answer to change; so much later it is known at most.
PACE_S = 0.0002


class RefusedError(Exception):
    """The server says that it can't do now what it was asked for."""


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
        if not end or len(body) < int(length) or self._answered is None:
            return
        self._came = b""
        if head.startswith(b"HTTP/1.1 2"):
            self._answered.set_result(body)
        else:
            self._answered.set_exception(RefusedError(body.decode()))

    def connection_lost(self, _: Exception | None) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(ConnectionResetError("the server has closed the connection"))

    def ask(self, question: bytes) -> asyncio.Future[bytes]:
        """Send a question at once; its answer's body comes later, or RefusedError."""
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(question)
        return self._answered

    async def until(self, question: bytes, word: bytes, hopeless: Callable[[], bool] = lambda: False) -> float | None:
        """Ask again and again until the answer holds a word; the monotonic moment when that came, None if never."""
        while not hopeless():
            asked = time.monotonic()
            if word in await self.ask(question):
                return time.monotonic()
            while time.monotonic() < asked + PACE_S:  # noqa: ASYNC110 # a timer would be late
                await asyncio.sleep(0)
        return None

    def close(self) -> None:
        """End it."""
        self._transport.abort()
