"""Asks paths in turn over some connections, and tells how long each answer took."""

import asyncio
import itertools
import json
import os
import re
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

RUNS = 1_000
ONE_TARGET = "/targets?target=provider/model-00"


@dataclass(frozen=True)
class Load:
    """What came of it: answers, how long each took, and the share of the time that the load itself worked.

    `missed` counts those that weren't answered, since the store was too busy.
    """

    answers: int
    missed: int
    p50_s: float
    p99_s: float
    busy: float


class _Asker(asyncio.Protocol):
    """A connection that asks the next path as soon as it is answered."""

    def __init__(self, port: int, paths: Iterator[str], took: list[float], ends: float) -> None:
        self._head = f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        self._paths, self._took, self._ends = paths, took, ends
        self._heard = b""
        self.missed = 0
        self.done = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own is none by name
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, middle, body = self._heard.partition(b"\r\n\r\n")
        long = re.search(rb"content-length: (\d+)", head)
        if not middle or long is None or len(body) < int(long[1]):
            return
        if head.startswith(b"HTTP/1.1 503"):  # the store has missed its limit
            self.missed += 1
        else:
            assert head.startswith(b"HTTP/1.1 200"), self._heard[:1000]
            self._took.append(time.perf_counter() - self._asked)
        self._heard = b""
        if time.perf_counter() < self._ends:
            self._ask()
        else:
            self.done.set()

    def connection_lost(self, _: Exception | None) -> None:
        self.done.set()

    def _ask(self) -> None:
        question = f"GET {next(self._paths)}{self._head}".encode()
        self._asked = time.perf_counter()
        self.transport.write(question)


def _paths(what: str) -> Iterator[str]:
    """The runs in turn, asked again or by other words each time; or one target."""
    for turn in itertools.count():
        if what == "target":
            yield ONE_TARGET
        else:
            # Answers are kept by what was asked: another limit of steps makes the service decide anew.
            steps = f"?steps={100 + (os.getpid() + turn // RUNS) % 900}" if what == "anew" else ""
            yield f"/runs/run-{turn % RUNS}/done{steps}"


async def _load(port: int, what: str, connections: int, seconds: float) -> None:
    """Prints what came of it, as JSON."""
    paths = _paths(what)
    took: list[float] = []
    loop, began, askers = asyncio.get_running_loop(), time.perf_counter(), []
    for _ in range(connections):
        _, one = await loop.create_connection(lambda: _Asker(port, paths, took, began + seconds), "127.0.0.1", port)
        askers.append(one)
    for one in askers:
        await one.done.wait()
        one.transport.close()
    spent, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    took.sort()
    work = (used.ru_utime + used.ru_stime) / spent
    missed = sum(one.missed for one in askers)
    print(json.dumps(asdict(Load(len(took), missed, took[len(took) // 2], took[len(took) * 99 // 100], work))))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as _runner:
        _runner.run(_load(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
