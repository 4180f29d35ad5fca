"""Asks a server as fast as it answers, with wrk where it is installed, else with a loop of our own."""

import asyncio
import contextlib
import math
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import uvloop

from benchmarks._machine import pin

# A load that worked for more of the time than this was the bottleneck itself.
BUSY = 0.97
_SAID = re.compile(r"50%\s+([\d.]+)(us|ms|s)\b.*99%\s+([\d.]+)(us|ms|s)\b.*Requests/sec:\s+([\d.]+)", re.DOTALL)
_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Load:
    """What came of it: answers a second, microseconds, and the share of the time in which the load itself worked."""

    rate: float
    p50_us: float
    p99_us: float
    busy: float


def has_wrk() -> bool:
    """Whether wrk is installed."""
    return shutil.which("wrk") is not None


def load(port: int, path: str, connections: int, seconds: float, cores: set[int]) -> Load:
    """Ask over so many connections, one question at a time on each."""
    before, began = _children_s(), time.monotonic()
    process = _begun(port, path, connections, seconds, cores)
    if has_wrk():
        time.sleep(seconds)
        process.send_signal(2)
    said, _ = process.communicate(timeout=seconds + 30)
    took = time.monotonic() - began
    found = re.search(
        r"50%\s+([\d.]+)(us|ms|s)\b.*99%\s+([\d.]+)(us|ms|s)\b.*Requests/sec:\s+([\d.]+)", said, re.DOTALL
    )
    assert found is not None, said
    assert "Non-2xx" not in said, said
    p50, p99 = float(found[1]) * _UNITS[found[2]], float(found[3]) * _UNITS[found[4]]
    return Load(float(found[5]), p50, p99, (_children_s() - before) / took)


@contextlib.contextmanager
def loading(port: int, path: str, connections: int, cores: set[int]) -> Iterator[None]:
    """Ask until the block ends, an hour at most."""
    process = _begun(port, path, connections, 3_600, cores)
    try:
        yield
        assert process.poll() is None, process.communicate()[0]
    finally:
        process.kill()
        process.communicate()


def _begun(port: int, path: str, connections: int, seconds: float, cores: set[int]) -> "subprocess.Popen[str]":
    ours = [sys.executable, "-m", "benchmarks._route_load", str(port), path, str(connections), str(seconds)]
    # It takes whole seconds only, and stops by a signal as well as by its time.
    lasting = f"-d{math.ceil(seconds) + 60}"
    theirs = ["wrk", "-t1", f"-c{connections}", lasting, "--latency", f"http://127.0.0.1:{port}{path}"]
    return subprocess.Popen(
        theirs if has_wrk() else ours, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: pin(cores)
    )


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Asker(asyncio.Protocol):
    """A connection that asks again as soon as it is answered; every answer is as long as the first."""

    def __init__(self, question: bytes, took: list[float]) -> None:
        self._question = question
        self._took = took
        self._length = 0
        self._left = 0
        self._asked = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own is none by name
        self._ask()

    def data_received(self, data: bytes) -> None:
        if not self._length:
            head, _, _ = data.partition(b"\r\n\r\n")
            found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            assert found is not None
            assert head.startswith(b"HTTP/1.1 200")
            self._length = self._left = len(head) + 4 + int(found[1])
        self._left -= len(data)
        if not self._left:
            self._took.append(time.perf_counter() - self._asked)
            self._ask()

    def _ask(self) -> None:
        self._left = self._length
        self._asked = time.perf_counter()
        self._transport.write(self._question)


async def _ask(port: int, path: str, connections: int, seconds: float) -> None:
    """Prints what wrk prints."""
    took: list[float] = []
    question = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    loop, began = asyncio.get_running_loop(), time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: _Asker(question, took), "127.0.0.1", port)
    await asyncio.sleep(seconds)
    spent = time.perf_counter() - began
    cuts = statistics.quantiles(took, n=100)
    print(f"50% {cuts[49] * 1e6:.1f}us\n99% {cuts[98] * 1e6:.1f}us\nRequests/sec: {len(took) / spent:.1f}")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as _runner:
        _runner.run(_ask(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
