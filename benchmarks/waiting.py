"""Lets 10,000 agents wait at one worker for a move, and measures when the last is told and what each costs.

Run it as `python -m benchmarks.waiting`; it takes half a minute, and talks to loopback alone.
`--quick` lets them wait once instead of three times.
"""

import asyncio
import json
import statistics
import sys
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from benchmarks import _route_servers as servers
from benchmarks._machine import cores, machine, pin
from benchmarks._route_servers import Serving
from monitor.loop import until_done

MANY, ROUNDS = 10_000, 3
# What is aimed at.
TOLD_WITHIN_S = 0.5
KB_EACH = 30.0


class _Agent(asyncio.Protocol):
    """A connection that asks once, waits, and notes when it was told."""

    def __init__(self, told: list[float], all_told: asyncio.Event, many: int) -> None:
        self._told, self._all_told, self._many = told, all_told, many

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own is none by name

    def data_received(self, data: bytes) -> None:
        if not data.endswith(b"}"):
            return  # the head came apart
        assert b'"reason"' in data, data
        self._told.append(time.monotonic())
        if len(self._told) == self._many:
            self._all_told.set()


@dataclass(frozen=True)
class Round:
    """Seconds from the sending of a move until the middle and the last agent were told; what that cost."""

    middle_s: float
    last_s: float
    bytes_each: float
    work_s: float


async def _round(serving: Serving, many: int, *, opened: bool) -> Round:
    loop, told, all_told = asyncio.get_running_loop(), list[float](), asyncio.Event()
    tag = await asyncio.to_thread(_tag, serving)
    question = (
        f"GET {servers.PLAIN}&wait=60 HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\n"
        f"User-Agent: an-agent/1.0\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nIf-None-Match: {tag}\r\n\r\n"
    ).encode()
    before = serving.memory()
    agents = []
    for _ in range(many):
        _, agent = await loop.create_connection(lambda: _Agent(told, all_told, many), "127.0.0.1", serving.port)
        agent.transport.write(question)
        agents.append(agent)
    await asyncio.to_thread(_settled, serving)
    each = (serving.memory() - before) / many
    worked, began = serving.cpu_s(), time.monotonic()
    moving = asyncio.create_task(asyncio.to_thread(_move, serving, opened=opened))
    async with asyncio.timeout(50):
        await all_told.wait()
    await moving
    worked = serving.cpu_s() - worked
    for agent in agents:
        agent.transport.abort()
    return Round(statistics.median(told) - began, max(told) - began, each, worked)


def _tag(serving: Serving) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{serving.port}{servers.PLAIN}", timeout=10) as answer:
        return str(answer.headers["ETag"])


def _settled(serving: Serving) -> None:
    """Wait until the server has nothing more to do than to wait."""
    while True:
        before = serving.cpu_s()
        time.sleep(0.5)
        if serving.cpu_s() - before < 0.1:
            return


def _move(serving: Serving, *, opened: bool) -> None:
    words = json.dumps({"who": "benchmark", "why": "to move"}).encode()
    what = "open" if opened else "release"
    url = f"http://127.0.0.1:{serving.port}/circuit/{what}?target=first/model-of-some-size"
    request = urllib.request.Request(url, words, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).read()


def main(words: Sequence[str]) -> int:
    """Print the table; 1 where an aim is missed."""
    rounds = 1 if "--quick" in words else ROUNDS
    server, asking = cores()
    print(f"{machine()};")
    print(f"the server on core {server}, {MANY} agents on {asking}\n")
    print("round  the middle one told after ms  the last after ms  the server worked ms  KB each")
    seen = []
    with servers.firstbyte(server) as serving:
        pin(asking)
        for number in range(rounds):
            one = until_done(_round(serving, MANY, opened=number % 2 == 0))
            print(f"{number + 1:5}  {one.middle_s * 1000:28.0f}  {one.last_s * 1000:17.0f}", end="  ")
            print(f"{one.work_s * 1000:20.0f}  {one.bytes_each / 1000:7.1f}", flush=True)
            seen.append(one)
    told, size = statistics.median(one.last_s for one in seen), max(one.bytes_each for one in seen) / 1000
    good = told <= TOLD_WITHIN_S and size <= KB_EACH
    aim = f"aim {TOLD_WITHIN_S * 1000:.0f} ms and {KB_EACH:.0f} KB: {'met' if good else 'MISSED'}"
    print(f"\nthe last of {MANY} after {told * 1000:.0f} ms (median), at most {size:.1f} KB each; {aim}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
