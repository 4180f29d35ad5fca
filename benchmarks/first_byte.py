"""Compares the first bytes that probes measure with the moments at which a simulated provider sent them.

Run it as `python -m benchmarks.first_byte`; it takes half a minute and talks to loopback alone.
"""

import asyncio
import contextlib
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

import httpx

from breaker.answer import Answer
from breaker.policy import Policy
from breaker.target import Provider, Target
from monitor.connections import Connections
from monitor.lag import LoopLag
from monitor.probe import probe
from monitor.schedule.crowd import Crowd
from monitor.settings import ProbeShape, TargetPlan
from monitor.simulator import Simulator

CROWDS = (1, 20, 100)
# So many probes are measured for each line of the table.
AT_LEAST = 300
FIRST_BYTE_S = 0.3
BEHAVIOUR = f"healthy,first_byte_s={FIRST_BYTE_S},spread=0,headers_s=0.05,tokens_per_s=200"


class _Stamped(Connections):
    """Notes when each target's probe handed its request over."""

    def __init__(self) -> None:
        super().__init__()
        self.began: dict[str, float] = {}

    @contextlib.asynccontextmanager
    async def client(self, plan: TargetPlan) -> AsyncIterator[httpx.AsyncClient]:
        """The client, and the moment at which it was had."""
        async with super().client(plan) as client:
            self.began[plan.name] = time.monotonic()
            yield client


@dataclass
class Errors:
    """Milliseconds: until requests had arrived, from a first byte's sending to its being seen, and both together."""

    way: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    both: list[float] = field(default_factory=list)
    suspect: int = 0

    def add(self, answer: Answer, began: float, attempt: dict[str, float]) -> None:
        """One more probe beside the simulator's attempt; both processes read the same monotonic clock."""
        assert answer.first_byte_s is not None, answer
        arrived, sent_s = attempt["asked_at"], attempt["first_byte_s"]
        self.way.append((arrived - began) * 1000)
        self.seen.append((began + answer.first_byte_s - arrived - sent_s) * 1000)
        self.both.append((answer.first_byte_s - sent_s) * 1000)
        self.suspect += answer.suspect_timing


async def measure(base_url: str, control_url: str, crowd: int, *, fresh: bool) -> Errors:
    """The errors of probes that begin so many at once, each of a target of its own."""
    plans = [_plan(base_url, number, fresh=fresh) for number in range(crowd)]
    errors, connections = Errors(), _Stamped()
    async with LoopLag() as lag, httpx.AsyncClient(base_url=control_url) as control:
        await _round(plans, connections, lag)  # what is loaded at the first use, and connections that are kept
        while len(errors.both) < (AT_LEAST if crowd > 1 else AT_LEAST // 15):
            answers = await _round(plans, connections, lag)
            for plan, answer in zip(plans, answers, strict=True):
                told = (await control.get("/targets", params={"target": plan.name})).json()
                errors.add(answer, connections.began[plan.name], told["asked"]["attempts"][-1])
    await connections.aclose()
    return errors


async def _round(plans: Sequence[TargetPlan], connections: Connections, lag: LoopLag) -> list[Answer]:
    crowd = Crowd()

    async def late(_: Answer) -> None:
        pass

    async def ask(plan: TargetPlan) -> Answer:
        place = await crowd.enter()
        try:
            return await probe(plan, None, chance=random.Random(), lag=lag, late=late, connections=connections)
        finally:
            place.leave()

    return await asyncio.gather(*map(ask, plans))


def _plan(base_url: str, number: int, *, fresh: bool) -> TargetPlan:
    target = Target(provider=Provider(name="p", base_url=base_url, wire="openai-chat"), model=f"m{number}")
    return TargetPlan(target=target, policy=Policy(), probe=ProbeShape(fresh_connection=fresh))


async def _simulate() -> None:
    targets = {f"p/m{number}": BEHAVIOUR for number in range(max(CROWDS))}
    async with Simulator(targets) as simulator:
        print(simulator.base_url("p"), simulator.control_url, flush=True)
        await asyncio.get_running_loop().create_future()


@contextlib.contextmanager
def _simulator() -> Iterator[tuple[str, str]]:
    """The base URL and the control URL of a simulator in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.first_byte", "simulate"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            base_url, control_url = process.stdout.readline().split()
            yield base_url, control_url
        finally:
            process.kill()


def _quantiles(values: Sequence[float]) -> str:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"{cuts[49]:7.1f} {cuts[98]:7.1f}"


def main() -> None:
    """Print the table."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()};")
    print(f"probes of 9,000 tokens, a first byte {FIRST_BYTE_S * 1000:.0f} ms after the request's arrival;")
    print("milliseconds, p50 and p99\n")
    print("at once  connection  probes  on the way up    sent to seen     first_byte_s off  suspect")
    with _simulator() as (base_url, control_url):
        for fresh in (True, False):
            for crowd in CROWDS:
                errors = asyncio.run(measure(base_url, control_url, crowd, fresh=fresh))
                columns = "  ".join(map(_quantiles, (errors.way, errors.seen, errors.both)))
                kind = "fresh" if fresh else "kept"
                print(f"{crowd:7}  {kind:10}  {len(errors.both):6}  {columns}  {errors.suspect:7}")


if __name__ == "__main__":
    asyncio.run(_simulate()) if sys.argv[1:] == ["simulate"] else main()
