"""The same questions put to the lane and to the app alone, byte by byte."""

import asyncio
import contextlib
import re
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

import uvicorn
from fastapi import FastAPI

from breaker.api.access import Access
from breaker.api.connection import Connection
from breaker.api.ending import Ending
from breaker.api.route.desk import Desk
from breaker.api.route.lane import Lane
from breaker.api.route.question import Question

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
    heard: Counter[object] = field(default_factory=Counter)  # bytes of each client
    gone: set[object] = field(default_factory=set)  # clients whose connection has ended

    @property
    def connections(self) -> list[Connection]:
        """The open connections, as the server sees them."""
        return [one for one in self.server.server_state.connections if isinstance(one, Connection)]

    async def stop(self) -> None:
        """Stop it as the service does."""
        self.server.should_exit = True
        async with asyncio.timeout(25):
            await self.running


def _noting(kind: type[Connection], heard: Counter[object], gone: set[object]) -> type[Connection]:
    """The protocol, noting what it has read and when it has ended."""

    class Noting(kind):  # type: ignore[misc,valid-type] # a base that is chosen
        def connection_made(self, transport: asyncio.Transport) -> None:
            self.whose = transport.get_extra_info("peername")
            super().connection_made(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            heard[self.whose] += len(data)

        def connection_lost(self, exc: Exception | None) -> None:
            gone.add(self.whose)
            super().connection_lost(exc)

    return Noting


@contextlib.asynccontextmanager
async def served(app: FastAPI, lane: Lane | None, **config: object) -> AsyncIterator[Served]:
    """The app behind uvicorn, with the lane before it unless that is None."""
    heard, gone = Counter[object](), set[object]()
    http = _noting(lane.protocol() if lane else Connection, heard, gone)
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    chosen = {"log_config": None, "access_log": False, "lifespan": "off", "server_header": False, **config}
    server = _Server(uvicorn.Config(Ending(app), http=http, timeout_graceful_shutdown=1, **chosen))  # type: ignore[arg-type] # words of many kinds
    running = asyncio.create_task(server.serve(sockets=[listening]))
    made = Served(server, listening.getsockname(), running, heard, gone)
    try:
        async with asyncio.timeout(25):
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


async def said(server: Served, parts: Sequence[bytes]) -> bytes:
    """All that comes back when these parts are sent one by one, and then a last question that ends it.

    Each part is sent once the server has read the one before, or doesn't want to. At ANSWER the next one waits for a
    whole answer, at END for the connection's end. Dates are left out: they tick.
    """
    reader, writer = await asyncio.open_connection(*server.place)
    name, sent, heard = writer.get_extra_info("sockname"), 0, bytearray()
    try:
        async with asyncio.timeout(25):
            for part in (*parts, *([LAST] if END not in parts else [])):
                if part == END:
                    break
                if part == ANSWER:
                    heard += await _answer(reader)
                    continue
                with contextlib.suppress(ConnectionError):
                    writer.write(part)
                    await writer.drain()
                sent += len(part)
                ends = time.monotonic() + 0.2
                while server.heard[name] < sent and name not in server.gone and time.monotonic() < ends:  # noqa: ASYNC110
                    await asyncio.sleep(0)
                for _ in range(20):  # what it hands on has begun
                    await asyncio.sleep(0)
            with contextlib.suppress(ConnectionError):
                while some := await reader.read(65_536):
                    heard += some
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return re.sub(rb"(?i)date: [^\r]+", b"date: then", bytes(heard))


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    long = re.search(rb"content-length: (\d+)", head)
    return head + (await reader.readexactly(int(long[1])) if long else b"")
