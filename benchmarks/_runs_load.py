"""Asks paths in turn over some connections, and tells how long each answer took."""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

from benchmarks._reports_load import name_of

RUNS = 1_000
ONE_TARGET = "/targets?target=provider/model-00"
# Facts that aren't timed are told over so many connections.
_TELLERS = 8
# Until what else is told by them, about the targets, has been recorded.
_REST_S = 0.3


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
    """A connection that sends the next request as soon as the one before is answered; `insists` on what was missed."""

    def __init__(self, requests: Iterator[bytes], took: list[float], *, insists: bool) -> None:
        self._requests, self._took, self._insists = requests, took, insists
        self._heard = b""
        self.missed = 0
        self.done = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own is none by name
        self._next()

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, middle, body = self._heard.partition(b"\r\n\r\n")
        here, _, length = head.partition(b"content-length: ")
        if not middle or not length or len(body) < int(length.partition(b"\r\n")[0]):
            return
        missed = here.startswith(b"HTTP/1.1 503") or b'"problems": [{' in body
        assert missed or here.startswith((b"HTTP/1.1 200", b"HTTP/1.1 202")), self._heard[:1000]
        self._heard = b""
        if not missed:
            self._took.append(time.perf_counter() - self._asked)
        self.missed += missed
        if missed and self._insists:
            self._ask()
        else:
            self._next()

    def connection_lost(self, _: Exception | None) -> None:
        self.done.set()

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self.done.set()
        else:
            self._request = request
            self._ask()

    def _ask(self) -> None:
        self._asked = time.perf_counter()
        self.transport.write(self._request)


async def _sent(port: int, requests: Iterator[bytes], connections: int, *, insists: bool = False) -> Load:
    """What came of requests that are sent over so many connections."""
    took: list[float] = []
    loop, askers = asyncio.get_running_loop(), []
    began, worked = time.perf_counter(), time.process_time()
    for _ in range(connections):
        _, one = await loop.create_connection(lambda: _Asker(requests, took, insists=insists), "127.0.0.1", port)
        askers.append(one)
    for one in askers:
        await one.done.wait()
        one.transport.close()
    busy = (time.process_time() - worked) / (time.perf_counter() - began)
    took.sort()
    return Load(
        answers=len(took),
        missed=sum(one.missed for one in askers),
        p50_s=took[len(took) // 2],
        p99_s=took[len(took) * 99 // 100],
        busy=busy,
    )


def _asked(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def _told(run: int, turn: int) -> bytes:
    """A further answer of a run, which is the last one so far."""
    step = {
        "target": name_of(turn % 8),
        "id": f"5f1d03c4a7e94f7a9c0c{turn:012x}",
        "seq": 1_796_040_001_000 + turn,
        "ended": "complete",
        "seconds": 9.1,
        "status": 200,
        "end_mark": True,
        "finish": "stop",
        "text_chars": 812,
        "tools": True,
        "tool_calls": 0,
    }
    body = json.dumps(step)
    return (
        f"POST /runs/run-{run}/steps HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def _until(ends: float, requests: Iterator[bytes]) -> Iterator[bytes]:
    return itertools.takewhile(lambda _: time.perf_counter() < ends, requests)


async def _load(port: int, what: str, connections: int, seconds: float, turn: int) -> None:
    """Prints what came of it, as JSON.

    What is known already is asked for so many seconds; what needs news, and what nobody knows yet, once of each run.
    """
    done = [_asked(f"/runs/run-{run}/done") for run in range(RUNS)]
    ends = time.perf_counter() + seconds
    if what == "anew":
        await _sent(port, (_told(run, turn) for run in range(RUNS)), _TELLERS, insists=True)
        await asyncio.sleep(_REST_S)
    asked = {
        "target": _until(ends, itertools.repeat(_asked(ONE_TARGET))),
        "again": _until(ends, itertools.cycle(done)),
        "anew": iter(done),
        "cold": iter(done),
    }
    print(json.dumps(asdict(await _sent(port, asked[what], connections))))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as _runner:
        _, _port, _what, _connections, _seconds, _turn = sys.argv
        _runner.run(_load(int(_port), _what, int(_connections), float(_seconds), int(_turn)))
