"""A store's server that tests may kill."""

import contextlib
import signal
import socket
import subprocess
import time
from pathlib import Path

from breaker.store.machine import find_binary


class Server:
    """A server process on a socket in `folder`; `fresh` starts it where it doesn't run, and empties it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = str(folder / "s")
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{self._socket}"

    def fresh(self) -> None:
        """See to it that it runs and holds nothing."""
        if self._process is None:
            words = ["--port", "0", "--unixsocket", self._socket, "--dir", str(self._folder), "--save", ""]
            self._process = subprocess.Popen([find_binary(), *words], stdout=subprocess.DEVNULL)
        with self._line() as line:
            line.sendall(b"FLUSHALL\r\n")
            assert line.recv(16) == b"+OK\r\n"

    def kill(self) -> None:
        """End it at once; safe to call twice."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def freeze(self) -> None:
        """Stop it without a word."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _line(self) -> socket.socket:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            line = socket.socket(socket.AF_UNIX)
            with contextlib.suppress(OSError):
                line.connect(self._socket)
                return line
            line.close()
            time.sleep(0.005)
        raise AssertionError("the store's server did not start")
