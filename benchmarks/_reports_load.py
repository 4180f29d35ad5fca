"""Reports as fast as they are taken, each under an id of its own."""

import asyncio
import itertools
import json
import re
import sys
import time
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

PATH = "/reports"


def name_of(target: int) -> str:
    """The name of a target."""
    return f"provider/model-{target:02}"


@dataclass(frozen=True)
class Load:
    """What came of it: requests in so many seconds, how long each took, and the share of that which the load worked.

    `began` is the monotonic moment of the first.
    """

    began: float
    requests: int
    seconds: float
    p50_s: float
    p99_s: float
    busy: float


class Reports:
    """Bodies of so many reports each, spread over so many targets; every so many-th is bad."""

    def __init__(self, size: int, targets: int, bad_every: int) -> None:
        self._size, self._targets, self._bad_every = size, targets, bad_every
        self._numbers = itertools.count()
        self._run = f"{time.time_ns():x}"
        facts = {
            "ended": "complete",
            "seconds": 9.1,
            "status": 200,
            "headers_s": 0.3,
            "first_byte_s": 1.4,
            "end_mark": True,
            "finish": "stop",
            "text_chars": 812,
            "prompt_tokens": 9120,
            "completion_tokens": 211,
        }
        self._good = json.dumps(facts)[1:]
        self._bad = json.dumps({"ended": "complete", "seconds": 0.4, "status": 503, "body": "json"})[1:]

    def body(self) -> bytes:
        """The next one."""
        made = [self._report(next(self._numbers)) for _ in range(self._size)]
        return (made[0] if self._size == 1 else f"[{', '.join(made)}]").encode()

    def _report(self, number: int) -> str:
        bad = self._bad_every and number % self._bad_every == 0
        # Neighbours are of other targets, so that the bad ones are spread as well.
        target = name_of(number * 7 // 3 % self._targets)
        return f'{{"target": "{target}", "id": "{self._run}-{number:x}", {self._bad if bad else self._good}'


class _Reporter(asyncio.Protocol):
    """A connection that reports again as soon as it is answered."""

    def __init__(self, port: int, reports: Reports, took: list[float], ends: float) -> None:
        self._head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        self._reports, self._took, self._ends = reports, took, ends
        self._heard = b""
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
        assert head.startswith(b"HTTP/1.1 202"), self._heard[:1000]
        self._heard = b""
        self._took.append(time.monotonic() - self._asked)
        if time.monotonic() < self._ends:
            self._ask()
        else:
            self.done.set()

    def connection_lost(self, _: Exception | None) -> None:
        self.done.set()

    def _ask(self) -> None:
        body = self._reports.body()
        self._asked = time.monotonic()
        self.transport.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


async def _load(port: int, size: int, targets: int, bad_every: int, connections: int, seconds: float) -> None:
    """Prints what came of it, as JSON."""
    took: list[float] = []
    loop, began, worked = asyncio.get_running_loop(), time.monotonic(), time.process_time()
    reports, reporters = Reports(size, targets, bad_every), []
    for _ in range(connections):
        _, one = await loop.create_connection(
            lambda: _Reporter(port, reports, took, began + seconds), "127.0.0.1", port
        )
        reporters.append(one)
    for one in reporters:
        await one.done.wait()
        one.transport.close()
    spent = time.monotonic() - began
    took.sort()
    work = (time.process_time() - worked) / spent
    made = Load(began, len(took), spent, took[len(took) // 2], took[len(took) * 99 // 100], work)
    print(json.dumps(asdict(made)))


if __name__ == "__main__":
    _port, _size, _targets, _bad, _connections = map(int, sys.argv[1:6])
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as _runner:
        _runner.run(_load(_port, _size, _targets, _bad, _connections, float(sys.argv[6])))
