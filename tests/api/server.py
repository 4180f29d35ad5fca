"""A store's server for one test."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path

from breaker.store.machine import find_binary


class Server:
    """A store's server process."""

    def __init__(self, folder: Path) -> None:
        self.url = f"unix://{folder}/s"
        words = [find_binary(), "--port", "0", "--unixsocket", f"{folder}/s", "--dir", str(folder), "--save", ""]
        self._process = subprocess.Popen([*words, "--appendonly", "no"], stdout=subprocess.DEVNULL)
        self._wait(f"{folder}/s")

    def kill(self) -> None:
        """End it at once; safe to call twice."""
        self._process.kill()
        self._process.wait(10)

    def _wait(self, path: str) -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
                return
            time.sleep(0.005)
        raise AssertionError("the store's server did not start")
