"""Doors on one store, each a process `firstbyte serve`, and what is asked of them."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from benchmarks._machine import pin
from monitor.listening import bind
from monitor.settings import Door

ROUTE = b"GET /route?route=coder HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# What an answer holds while the first target's circuit is closed, and while it is open.
CLOSED, OPEN = b'"target": "first/m"', b'"target": "second/m"'

_CONFIGURATION = """\
providers:
  first: {base_url: https://first.example/v1, wire: openai-chat, models: {m: }}
  second: {base_url: https://second.example/v1, wire: openai-chat, models: {m: }}
routes:
  coder: [first/m, second/m]
"""
_FIRSTBYTE = (sys.executable, "-c", "from monitor.cli import entry; entry()")


def moving(*, opened: bool) -> bytes:
    """The question that opens the first target's circuit by hand, or releases it."""
    body = json.dumps({"who": "benchmark", "why": "to see when it is known"}).encode()
    return (
        f"POST /circuit/{'open' if opened else 'release'}?target=first/m HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


@contextlib.contextmanager
def replicas(count: int, store_url: str, cores: set[int]) -> Iterator[list[int]]:
    """The ports of so many doors that answer, on these cores."""
    with tempfile.TemporaryDirectory(prefix="firstbyte-") as folder, contextlib.ExitStack() as stack:
        configuration = Path(folder) / "firstbyte.yaml"
        configuration.write_text(_CONFIGURATION)
        ports = [free_port() for _ in range(count)]
        for port in ports:
            stack.enter_context(_serving(configuration, store_url, port, cores))
        for port in ports:
            _until_it_answers(port)
        yield ports


@contextlib.contextmanager
def _serving(configuration: Path, store_url: str, port: int, cores: set[int]) -> Iterator[None]:
    env = {**os.environ, "FIRSTBYTE_STORE": store_url, "FIRSTBYTE_PORT": str(port)}
    words = [*_FIRSTBYTE, "serve", "--config", str(configuration)]
    process = subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL, preexec_fn=lambda: pin(cores))
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


def free_port() -> int:
    """A port that was free a moment ago."""
    with bind(Door(port=0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _until_it_answers(port: int) -> None:
    ends = time.monotonic() + 90
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
            return
        assert time.monotonic() < ends, "a door doesn't answer"
        time.sleep(0.05)
