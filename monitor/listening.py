"""Listens at an address, and serves an application there."""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import uvicorn

from breaker.api.ending import Ending
from breaker.errors import FirstbyteError
from monitor.settings import Door

# Open connections get this long to end when the server stops.
LINGER_S = 1


class DoorTakenError(FirstbyteError):
    """The address to listen at can't be had."""


def bind(door: Door, remedy: str = "Set FIRSTBYTE_PORT, or door.port in the configuration") -> socket.socket:
    """A socket that listens at a door's address; taken before anything else is started.

    Raises DoorTakenError with the address and the remedy.
    """
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    try:
        listening = socket.create_server((door.host, door.port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:  # the latter for a port that can't be
        raise DoorTakenError(f"can't listen at {door.host} port {door.port}: {_why(error)} {remedy}") from None
    # Connections inherit it; without it each reply's body waits 40 ms for the caller to acknowledge its head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _why(error: OSError | OverflowError) -> str:
    """Why a socket couldn't be had; the words of the system's own, since Python's repeat the address."""
    number = error.errno if isinstance(error, OSError) else None
    why = os.strerror(number) if number is not None and number > 0 else getattr(error, "strerror", None) or error
    return f"{why}; does another service run there?" if number == errno.EADDRINUSE else f"{why}."


@contextlib.asynccontextmanager
async def serving(
    app: Any, listening: socket.socket, protocol: type[asyncio.Protocol] | None = None
) -> AsyncIterator[str]:
    """Serve an ASGI application until the block ends; gives its URL.

    `protocol` is that of its connections; None: the one of `breaker.api.connection`, where what it needs is installed.
    """
    config = uvicorn.Config(
        Ending(app),
        http=protocol or bounded(),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",  # loading what speaks over websockets takes a while, and nothing here does
        server_header=False,
        timeout_graceful_shutdown=LINGER_S,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await server.up.wait()
    try:
        yield url_of(listening)
    finally:
        server.should_exit = True
        await running


def bounded() -> type[asyncio.Protocol] | Literal["auto"]:
    """The protocol of connections that are bounded; uvicorn's choice where what it needs isn't installed."""
    try:
        from breaker.api.connection import Connection  # it needs httptools, which not every platform has
    except ImportError:
        return "auto"
    return Connection


def url_of(listening: socket.socket) -> str:
    """How a socket is reached from this machine."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 # shown
    return f"http://{shown}:{port}"


class _Server(uvicorn.Server):
    """A server that says when it is up and leaves signals to the one who runs it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
