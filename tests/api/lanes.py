"""The same questions put to the lane and to the app alone, byte by byte."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from breaker.api.access import Access
from breaker.api.desk import Desk
from breaker.api.lane import Lane
from breaker.api.question import Question

HOST = b"Host: 127.0.0.1\r\n"
LAST = b"GET /livez HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
# Stands for the moment at which a client has read an answer.
ANSWER = b""
# Stands for the server's closing the connection; nothing is sent after it.
END = b"\0"


class Counting(Lane):
    """A lane that counts what it answers."""

    answered = 0

    def answer(self, question: Question, defaults: list[tuple[bytes, bytes]]) -> bytes:
        """The lane's answer, counted."""
        self.answered += 1
        return super().answer(question, defaults)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@dataclass
class Served:
    """A running server."""

    server: uvicorn.Server
    place: tuple[str, int]
    running: asyncio.Task[None]

    @property
    def connections(self) -> list[HttpToolsProtocol]:
        """The open connections, as the server sees them."""
        return [one for one in self.server.server_state.connections if isinstance(one, HttpToolsProtocol)]

    async def stop(self) -> None:
        """Stop it as the service does."""
        self.server.should_exit = True
        async with asyncio.timeout(10):
            await self.running


@contextlib.asynccontextmanager
async def served(app: FastAPI, lane: Lane | None, **config: object) -> AsyncIterator[Served]:
    """The app behind uvicorn, with the lane before it unless that is None."""
    http = lane.protocol() if lane else HttpToolsProtocol
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    chosen = {"log_config": None, "access_log": False, "lifespan": "off", "server_header": False, **config}
    server = _Server(uvicorn.Config(app, http=http, timeout_graceful_shutdown=1, **chosen))  # type: ignore[arg-type] # words of many kinds
    made = Served(server, listening.getsockname(), asyncio.create_task(server.serve(sockets=[listening])))
    try:
        async with asyncio.timeout(10):
            while not server.server_state.default_headers:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
        yield made
    finally:
        await made.stop()


@contextlib.asynccontextmanager
async def both(
    app: FastAPI, desk: Desk, access: Access, **config: object
) -> AsyncIterator[tuple[Counting, Served, Served]]:
    """The app twice: with a lane and without one."""
    lane = Counting(desk, access)
    async with served(app, lane, **config) as fast, served(app, None, **config) as plain:
        yield lane, fast, plain


async def said(place: tuple[str, int], parts: Sequence[bytes]) -> bytes:
    """All that comes back when these parts are sent one by one, and then a last question that ends it.

    The parts arrive apart; at ANSWER the next one waits for a whole answer, at END for the connection's end. Dates are
    left out: they tick.
    """
    reader, writer = await asyncio.open_connection(*place)
    heard = bytearray()
    try:
        async with asyncio.timeout(10):
            for part in (*parts, *([LAST] if END not in parts else [])):
                if part == END:
                    break
                if part == ANSWER:
                    heard += await _answer(reader)
                    continue
                with contextlib.suppress(ConnectionError):
                    writer.write(part)
                    await writer.drain()
                for _ in range(20):  # the server reads it, and sees that no more has come yet
                    await asyncio.sleep(0)
            with contextlib.suppress(ConnectionError):
                while some := await reader.read(65_536):
                    heard += some
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return re.sub(rb"date: [^\r]+", b"date: then", bytes(heard))


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    long = re.search(rb"content-length: (\d+)", head)
    return head + (await reader.readexactly(int(long[1])) if long else b"")
