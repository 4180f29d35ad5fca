"""A port that hands on connections, and can refuse them and take them again."""

import asyncio
import contextlib
import fcntl
import socket
import struct
import termios
from collections.abc import Awaitable, Callable
from typing import NoReturn

from monitor.simulator.http import MAX_HEAD_BYTES

_BACKLOG = 1024
_CLOSING_S = 1.0
_LOOK_S = 0.001


class ClientGoneError(Exception):
    """The client ended the connection before the answer's end."""


class Connection:
    """A connection whose other end can be watched while nothing is sent."""

    def __init__(self, serial: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event):
        self.serial = serial
        self.reader = reader
        self.writer = writer
        self.idle = True
        self._gone = gone

    async def hang(self) -> NoReturn:
        """Wait until the client has gone, then raise `ClientGoneError`."""
        await self._gone.wait()
        raise ClientGoneError

    async def pause(self, seconds: float) -> None:
        """Wait so long; raise `ClientGoneError` as soon as the client has gone."""
        if seconds <= 0:
            await asyncio.sleep(0)  # a flow that is behind its time must leave the others theirs
            if self._gone.is_set():
                raise ClientGoneError
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.hang()

    async def send(self, data: bytes) -> None:
        """Send data, at the speed at which the client takes it."""
        self.writer.write(data)
        await self.writer.drain()

    async def flush(self) -> None:
        """Wait until the other end's system has all that was sent, at most a second, since a reset drops the rest."""
        self.writer.transport.set_write_buffer_limits(0)
        await self.writer.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                while self._unacknowledged():  # noqa: ASYNC110  # no event tells it
                    await asyncio.sleep(_LOOK_S)

    def _unacknowledged(self) -> bool:
        sock: socket.socket | None = self.writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # not every system tells it
            if sock is not None:
                return any(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))
        return False

    def reset(self) -> None:
        """End the connection by a reset in place of an orderly close."""
        sock: socket.socket | None = self.writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def end(self) -> None:
        """End our half in order, so that a client that still sends can read what it was answered."""
        self.writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                while await self.reader.read(MAX_HEAD_BYTES):
                    pass

    async def close(self) -> None:
        """End the connection in order, and without it after a second. May be called twice."""
        self.writer.close()
        try:
            async with asyncio.timeout(_CLOSING_S):
                await self.writer.wait_closed()
        except (TimeoutError, OSError):
            self.writer.transport.abort()


class Listener:
    """One port; `connected` serves each of its connections, at most `limit` at once, and the rest are reset.

    While it refuses, the port stays bound, so that nobody else is given it.
    """

    def __init__(self, host: str, port: int, limit: int, connected: Callable[[Connection], Awaitable[None]]):
        self.host = host
        self.port = port
        self.accepted = 0
        self._limit = limit
        self._connected = connected
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._tasks: dict[asyncio.Task[None], Connection] = {}
        self._stopped = False
        self._switching = asyncio.Lock()

    @property
    def url(self) -> str:
        """The `http://host:port` of this port; the port is 0 until it has been opened."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    async def accept(self) -> None:
        """Take connections; changes nothing where they are taken already. Raises `OSError` where the port is taken."""
        async with self._switching:
            if self._server is None:
                loop = asyncio.get_running_loop()
                bound, self._socket = self._socket or self._bound(), None
                self._server = await loop.create_server(self._line, sock=bound, backlog=_BACKLOG)

    async def refuse(self) -> None:
        """Refuse new connections and end those that carry no request at the moment, before it returns."""
        async with self._switching:
            if self._server is not None:
                self._server.close()
                self._server = None
            if self._socket is None:
                self._socket = self._bound()
        idle = [task for task, connection in self._tasks.items() if connection.idle]
        for task in idle:
            task.cancel()
        await asyncio.gather(*idle, return_exceptions=True)

    async def stop(self) -> None:
        """Give up the port and drop all connections at once; this listener can't be used again."""
        self._stopped = True
        if self._server is not None:
            self._server.close()
        if self._socket is not None:
            self._socket.close()
        self._server = self._socket = None
        for task, connection in self._tasks.items():
            connection.writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _bound(self) -> socket.socket:
        bound = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Connections inherit it; else a small event may wait 40 ms for the last one's acknowledgement.
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            bound.bind((self.host, self.port))
        except OSError:
            bound.close()
            raise
        self.port = bound.getsockname()[1]
        return bound

    def _line(self) -> asyncio.StreamReaderProtocol:
        return _Line(self._begin)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        self.accepted += 1
        connection = Connection(self.accepted, reader, writer, gone)
        if self._stopped or len(self._tasks) >= self._limit:
            connection.reset()
            return
        task = asyncio.create_task(self._serve(connection))
        self._tasks[task] = connection
        task.add_done_callback(self._tasks.pop)

    async def _serve(self, connection: Connection) -> None:
        try:
            await self._connected(connection)
        except (ClientGoneError, OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            pass  # the client's end of the line, not a fault of ours
        finally:
            await connection.close()


class _Line(asyncio.StreamReaderProtocol):
    """Tells that the client has gone even while nobody reads; a half-closed line counts as gone."""

    def __init__(self, begin: Callable[[asyncio.StreamReader, asyncio.StreamWriter, asyncio.Event], None]):
        self._gone = asyncio.Event()
        super().__init__(asyncio.StreamReader(limit=MAX_HEAD_BYTES), lambda r, w: begin(r, w, self._gone))

    def eof_received(self) -> bool | None:
        self._gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set()
        super().connection_lost(exc)
