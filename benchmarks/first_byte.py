"""Compares the first bytes that probes measure with the moments at which a provider really sent them.

Run it as `python -m benchmarks.first_byte`; it takes a minute, talks to loopback alone, and gives the provider one core
and those who ask the other. `--long` asks for longer, and on asyncio's own loop too; `--quick` takes two thirds of a
minute, since of 100 streams it asks for those alone that begin at once.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from benchmarks._first_byte_provider import FIRST_BYTE_S
from benchmarks._machine import awake, machine
from breaker.wire import READERS
from monitor.probe import prompts
from monitor.settings import ProbeShape

EVENTS, GAP_MS = 256, 20
STREAM_S = FIRST_BYTE_S + (EVENTS - 1) * GAP_MS / 1000
SHORT, LONG = "16x1", f"{EVENTS}x{GAP_MS}"


class Load(NamedTuple):
    """So many streams for so many seconds; none for 0 seconds means all at once, of one stream one after the other."""

    says: str
    streams: int
    seconds: float = 0.0


ALONE, HUNDRED, MANY = Load("1", 1), Load("100", 100, 6.0), Load("500", 500, 6.0)
CROWD = Load("100 at once", 100)
ROWS = (
    (ALONE, "ours", "uvloop"),
    (ALONE, "httpx", "uvloop"),
    (HUNDRED, "ours", "uvloop"),
    (HUNDRED, "httpx", "uvloop"),
    (CROWD, "ours", "uvloop"),
    (CROWD, "httpx", "uvloop"),
    (MANY, "ours", "uvloop"),
)
LONGER = (*ROWS, (HUNDRED, "ours", "asyncio"))
QUICK = tuple(row for row in ROWS if row[0] is not HUNDRED)
# What is aimed at: milliseconds that it is off at p99 with 100 streams, probes a minute of one core.
OFF_MS, A_MINUTE = 10.0, 1_200
ALONE_TIMES = 10


class Measured(NamedTuple):
    """Milliseconds that each probe was off, those marked suspect among them, processor time for each."""

    off: list[float]
    suspect: int
    cpu_ms: float | None


def _measure(port: int, load: Load, kind: str, loop: str) -> Measured:
    every_s, count, warm, shape = -1.0, ALONE_TIMES, 0, SHORT
    if load.streams > 1:
        every_s, count, warm, shape = 0.0, load.streams, 0, LONG
    if load.seconds:
        every_s = STREAM_S / load.streams
        count, warm = int(load.seconds / every_s), load.streams
    asked = ("0", loop, kind, f"http://127.0.0.1:{port}", shape, str(every_s), str(count), str(warm))
    said = subprocess.run(
        [sys.executable, "-m", "benchmarks._first_byte_client", *asked], stdout=subprocess.PIPE, check=True
    ).stdout
    told, stamps = json.loads(said), _stamps(port)
    off = [(first - _true_s(stamps, model)) * 1000 for model, (first, _) in told["probes"].items()]
    return Measured(off, sum(suspect for _, suspect in told["probes"].values()), told["cpu_ms"])


def _stamps(port: int) -> dict[str, tuple[float, float]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stamps", timeout=10) as answer:
        found: dict[str, tuple[float, float]] = json.load(answer)
        return found


def _true_s(stamps: dict[str, tuple[float, float]], model: str) -> float:
    arrived, sent = stamps[model]
    return sent - arrived


def _curl(port: int) -> tuple[list[float], list[float]]:
    """How far curl is off, from its beginning and from the request's."""
    request = READERS["openai-chat"].request("m0", prompts.build(ProbeShape(), Random()).question, streamed=True)
    whole, bare = [], []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(request.body, file)
        file.flush()
        for _ in range(ALONE_TIMES):
            times = _curl_once(f"http://127.0.0.1:{port}/{SHORT}/chat/completions", file.name)
            true_s = _true_s(_stamps(port), "m0")
            whole.append((times["time_starttransfer"] - true_s) * 1000)
            bare.append((times["time_starttransfer"] - times["time_pretransfer"] - true_s) * 1000)
    return whole, bare


def _curl_once(url: str, body: str) -> dict[str, float]:
    form = '{"time_starttransfer": %{time_starttransfer}, "time_pretransfer": %{time_pretransfer}}'
    head = ["-H", "content-type: application/json", "-H", "expect:"]
    said = subprocess.run(
        ["taskset", "-c", "0", "curl", "-sSN", "-o", os.devnull, "-w", form, *head, "--data-binary", f"@{body}", url],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    times: dict[str, float] = json.loads(said)
    return times


@contextlib.contextmanager
def _provider() -> Iterator[int]:
    """The port of a provider in a process of its own, on the last core."""
    core = str((os.cpu_count() or 1) - 1)
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks._first_byte_provider", core], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _show(load: str, what: str, off: Sequence[float], suspect: int = 0, cpu_ms: float | None = None) -> float:
    cuts = statistics.quantiles(off, n=100, method="inclusive")
    cost = "" if cpu_ms is None else f"{cpu_ms:8.1f} {60_000 / cpu_ms:9,.0f}"
    print(f"{load:12} {what:26} {len(off):6} {cuts[49]:8.2f} {cuts[98]:8.2f} {suspect:8} {cost}", flush=True)
    return cuts[98]


def main() -> int:
    """Print the table and the ratios; 1 where an aim is missed."""
    longer, quick = ("--long" in sys.argv[1:]), ("--quick" in sys.argv[1:])
    print(f"{machine()};")
    print(f"probes of 9,000 tokens on new connections, {EVENTS} events in {STREAM_S:.1f} s (at 1 stream 16 in 0.3 s),")
    print(f"the first {FIRST_BYTE_S * 1000:.0f} ms after the request; how far first_byte_s is off, in milliseconds\n")
    print("streams      who                        probes      p50      p99  suspect   cpu ms  a minute")
    costs: dict[tuple[Load, str, str], float] = {}
    tails: dict[tuple[Load, str, str], float] = {}
    with _provider() as port, awake():
        for row in LONGER if longer else QUICK if quick else ROWS:
            load, *who = row
            measured = _measure(port, load._replace(seconds=load.seconds * (2 if longer else 1)), *who)
            tails[row] = _show(row[0].says, f"{row[1]} ({row[2]})", *measured)
            costs[row] = measured.cpu_ms or 0.0
        for what, off in zip(("curl", "curl, without connecting"), _curl(port), strict=True):
            _show("1", what, off)
    crowd = CROWD if quick else HUNDRED
    ours, theirs = (crowd, "ours", "uvloop"), (crowd, "httpx", "uvloop")
    ratio, a_minute = costs[theirs] / costs[ours], 60_000 / costs[ours]
    print(f"\nOne core makes {ratio:.1f} times as many probes as with httpx ({crowd.says}, both on uvloop).")
    good = tails[ours] <= OFF_MS and a_minute >= A_MINUTE
    print(f"{tails[ours]:.1f} ms off at p99, aim {OFF_MS:g}; {a_minute:,.0f} a minute, aim {A_MINUTE:,}", end=": ")
    print("met" if good else "MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
