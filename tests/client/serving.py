"""A service for tests of the client: in a thread of this process, or in a process that can be frozen and killed."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.route.desk import Desk
from breaker.policy import Policy
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from tests.api.world import MIXED, ROUTES

ROOT = Path(__file__).parents[2]


@contextlib.asynccontextmanager
async def app_over(store_url: str, access: Access) -> AsyncIterator[FastAPI]:
    """The door over a store, refreshed as the service does."""
    store = RedisStore.from_url(store_url, limit_s=2.0)
    policy = Policy(slow_s=20.0, silence_s=90.0)
    routes = (*ROUTES, MIXED)
    switchboard = Switchboard(store, routes, {t.name: policy for route in routes for t in route.targets})
    await switchboard.refresh()
    desk = Desk.over(switchboard)
    refreshing = asyncio.create_task(_refresh(switchboard))
    try:
        yield create_app(switchboard, access=access, desk=desk)
    finally:
        desk.waiting.close()
        refreshing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await refreshing
        await store.close()


async def _refresh(switchboard: Switchboard) -> None:
    while True:
        await switchboard.refresh()
        await asyncio.sleep(0.1)


class Service:
    """A service in a thread of its own, since a client may block; on a port of its own, or on this one."""

    def __init__(self, store_url: str, access: Access | None = None, *, port: int = 0) -> None:
        self._store_url = store_url
        self._access = access or Access()
        self._port = port
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(20)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def _serve(self) -> None:
        async with app_over(self._store_url, self._access) as app:
            with socket.create_server(("127.0.0.1", self._port)) as listener:
                config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=2)
                self._server = uvicorn.Server(config)
                self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
                # The socket listens already, so whoever comes now is served in a moment.
                self._started.set()
                await self._server.serve([listener])


class Process:
    """The same as a process of its own."""

    def __init__(self, store_url: str, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        code = f"from tests.client.serving import main; main({store_url!r}, {port})"
        self._process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"up\n"

    def freeze(self) -> None:
        """Let it stand still, with all its connections open."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once; safe to call twice."""
        self._process.kill()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()


def main(store_url: str, port: int) -> None:
    """Serve until killed."""
    service = Service(store_url, port=port)
    with service:
        os.write(1, b"up\n")
        threading.Event().wait()


@contextlib.contextmanager
def answering(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that does this with each connection, in a thread each."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        over, threads = threading.Event(), list[threading.Thread]()
        listener.settimeout(0.05)

        def one(line: socket.socket) -> None:
            with line, contextlib.suppress(OSError):
                line.settimeout(10)
                behave(line)

        def accept() -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    threads.append(threading.Thread(target=one, args=[listener.accept()[0]]))
                    threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            for thread in [accepting, *threads]:
                thread.join(20)


def decision(**other: object) -> dict[str, object]:
    """What `GET /route` might say."""
    said: dict[str, object] = {
        "route": "coder",
        "target": "a/b",
        "provider": "a",
        "model": "b",
        "base_url": "http://a",
        "wire": "openai-chat",
        "api_key_env": None,
        "role": "primary",
        "primary": "a/b",
        "reason": "healthy",
        "since_s": None,
        "until_s": None,
        "generation": 1,
        "valid_for_s": 5.0,
        "stale": False,
    }
    return {**said, **other}


def nobody() -> str:
    """An address where nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def eventually(true: Callable[[], bool], what: str, *, within_s: float = 120.0) -> None:
    """Wait for a condition; fails with its name when the time is over."""
    ends = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < ends, f"not within {within_s} s: {what}"
        time.sleep(0.01)
