"""Asks and reports at a steady pace while all that can happen to a store happens to it, and counts what agents notice.

Run it as `python -m benchmarks.troubles`; it takes a minute and a half and talks to loopback alone. `--seconds 60` lets
each trouble last that long, `--quick` is over in a minute, `--only NAME` lets one of them happen.
"""

import argparse
import asyncio
import contextlib
import gc
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from benchmarks._machine import awake, cores, machine, pin
from benchmarks._service import command
from benchmarks._steady_load import TICK_S, Asked, Tail, between
from benchmarks._troubles_place import CLOSED, NAMES, OPEN, Serving, circuits_of, serving
from breaker import circuit as circuits
from breaker.circuit import State
from monitor.loop import until_done
from tests.store_server import StoreServer
from tests.store_troubles import ALONE, AMONG, BEHIND, Alone, Place, Trouble, among, behind, keeping

QUIET_S, SECONDS = 1.5, 1.5
# As short as lets routes grow stale.
QUICK = (0.5, 1.2)
# A tail to compare with needs a long quiet phase beside a long trouble.
QUIET_SHARE = 1 / 3
# All that waits must be merged by then.
MERGED_S = 30.0
# After so long the sentinels call a silent master dead.
DOWN_MS = 1000


class Process:
    """The way to the store, as a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input = process.stdin
        self.url = process.stdout.readline().strip()

    def slow(self, delay_s: float) -> None:
        """Let each piece of a reply come this much later."""
        self._say(f"slow {delay_s}")

    def swallow(self) -> None:
        """Let nothing through any more, and break nothing either."""
        self._say("swallow")

    def go_on(self) -> None:
        """Be as at the beginning."""
        self._say("go on")

    def _say(self, words: str) -> None:
        self._input.write(words + "\n")
        self._input.flush()


@contextlib.contextmanager
def forwarder(server: StoreServer, asking: set[int]) -> Iterator[Process]:
    """The way to a server."""
    words = [*command(asking, "import asyncio, sys; from tests.forwarder import main; asyncio.run(main(sys.argv[1]))")]
    pipe = subprocess.PIPE
    process = subprocess.Popen([*words, str(server.socket)], stdin=pipe, stdout=pipe, text=True)
    try:
        yield Process(process)
    finally:
        process.terminate()
        process.communicate()


@dataclass(frozen=True)
class Row:
    """What came of a trouble; moments are of the performance counter."""

    name: str
    quiet: list[Asked]
    during: list[Asked]
    after: list[Asked]
    reports: list[Asked]
    stale_s: float | None
    back_s: float
    lost: int
    open_kept: bool
    closed_kept: bool

    @property
    def faults(self) -> list[Asked]:
        """The requests that were."""
        return [one for one in [*self.during, *self.after, *self.reports] if one.failed]

    @property
    def well(self) -> bool:
        """Whether all is as it has to be, but for the times."""
        wrong = sum(one.target != CLOSED for one in [*self.during, *self.after] if not one.failed)
        return not (self.faults or self.lost or wrong) and self.open_kept and self.closed_kept


class Lasting(NamedTuple):
    """How long the quiet phase lasts before a trouble, and the trouble."""

    quiet_s: float
    trouble_s: float


async def happen(trouble: Trouble[Any], place: Place, here: Serving, lasting: Lasting) -> Row:
    """A quiet phase, the trouble, and what comes after until all reports are in the store."""
    began = time.perf_counter()
    await asyncio.sleep(lasting.quiet_s)
    before = time.perf_counter()
    await trouble.begin(place)
    begin = time.perf_counter()
    await asyncio.sleep(lasting.trouble_s)
    end = time.perf_counter()
    await trouble.end(place)
    ended = time.perf_counter()
    sent = between(here.load.reports, begin if trouble.forgets else began, ended)
    await merged(place, sent)
    done = time.perf_counter()
    await here.load.answered(done)
    missing = {one.name for one in sent} - await known(place)
    found, until = await circuits_of(place), here.opened.open_until or 0.0
    during = between(here.load.routes, before, end)
    return Row(
        trouble.name,
        between(here.load.routes, began, before),
        during,
        between(here.load.routes, end, done),
        between(here.load.reports, before, done),
        next((one.at - begin for one in during if one.stale), None),
        done - ended,
        len(missing),
        abs((found[OPEN].open_until or 0.0) - until) < 0.01,
        circuits.state(found[CLOSED], time.time()) is State.CLOSED,
    )


async def merged(place: Place, sent: Sequence[Asked]) -> None:
    """Wait until the last reports are in the store; gives up after MERGED_S."""
    last = [one.name for one in sent[-20:]]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MERGED_S):
            while not await asyncio.to_thread(_has, place, last):  # noqa: ASYNC110 # it is counted elsewhere
                await asyncio.sleep(0.05)


def _has(place: Place, names: Sequence[str]) -> bool:
    parts = [f'final "{name}"' for name in names]
    with place.raw() as raw, contextlib.suppress(RedisError, OSError):
        found = zip(*(raw.zmscore(f"firstbyte:{{{target}}}:ids", parts) for target in NAMES), strict=True)
        return all(any(score is not None for score in scores) for scores in found)
    return False


async def known(place: Place) -> set[str]:
    """The ids of all reports that the store has counted."""

    def read() -> set[str]:
        with place.raw() as raw:
            keys = [f"firstbyte:{{{target}}}:ids" for target in NAMES]
            return {name[7:-1] for key in keys for name in raw.zrange(key, 0, -1) if "report-" in name}

    return await asyncio.to_thread(read)


async def counted(place: Place) -> int:
    """How many reports stand in the store's own bins."""

    def read() -> int:
        with place.raw() as raw:
            bins = [text for target in NAMES for text in raw.lrange(f"firstbyte:{{{target}}}:bins", 0, -1)]
            return sum(int(count) for text in bins for count in text.split()[2:])

    return await asyncio.to_thread(read)


def told(row: Row, quiet: Tail) -> str:
    """A line of the table."""
    during, after = Tail.of(row.during), Tail.of(row.after)
    shares = [
        f"{during.at(50) / quiet.at(50):8.2f}",
        f"{during.at(99) / quiet.at(99):8.2f}",
        f"{after.at(99) / quiet.at(99):9.2f}",
    ]
    stale = "       -" if row.stale_s is None else f"{row.stale_s:8.2f}"
    kept = f"{'open' if row.open_kept else 'LOST':>6} {'closed' if row.closed_kept else 'REOPENED':>8}"
    asked = f"{len(row.during) + len(row.after):7} {len(row.reports):8} {len(row.faults):7}"
    return f"{row.name:28} {asked} {' '.join(shares)} {row.lost:6} {stale} {row.back_s:7.2f} {kept}"


@contextlib.asynccontextmanager
async def alone(folder: Path) -> AsyncIterator[Place]:
    """One server."""
    with keeping(folder) as server, forwarder(server, cores()[1]) as way:
        yield Alone(server, folder, way)


Kind = Callable[[Path], contextlib.AbstractAsyncContextManager[Place]]
KINDS: tuple[tuple[Kind, Sequence[Trouble[Any]]], ...] = (
    (alone, ALONE),
    (partial(behind, down_ms=DOWN_MS), BEHIND),
    (among, AMONG),
)


NAMES_OF_ALL = "; ".join(one.name for _, troubles in KINDS for one in troubles)
HEAD = (
    f"{'':28} {'/route':>7} {'/reports':>8} {'failed':>7} {'p50':>8} {'p99':>8} {'p99 after':>9} {'lost':>6} "
    f"{'stale s':>8} {'back s':>7} {'first':>6} {'second':>8}"
)


async def measure(kind: Kind, troubles: Sequence[Trouble[Any]], lasting: Lasting) -> bool:
    """Print the table's lines for one kind of store; whether all is as it has to be."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="fb-") as made:
        folder = Path(made)
        async with kind(folder) as place, serving(place, folder) as here:
            for trouble in troubles:
                rows.append(row := await happen(trouble, place, here, lasting))
                quiet = Tail.of(one for row in rows for one in row.quiet)
                print(told(row, quiet), flush=True)
                for fault, count in sorted(Counter(map(str, row.faults)).items()):
                    print(f"{'':28} {count} {fault}", flush=True)
            print(f"{'':28} {await balance(place, here)}", flush=True)
    print(f"{'':28} quiet p50 {quiet.at(50):.0f} us, p99 {quiet.at(99):.0f} us\n", flush=True)
    return all(row.well for row in rows)


async def balance(place: Place, here: Serving) -> str:
    """Whether each report was counted once, after the load's end."""
    here.load.stopped = True
    await here.load.answered(time.perf_counter())
    taken = [one for one in here.load.reports if one.status == 202]
    await merged(place, taken)
    heard, kept, bins = await here.service.counted("firstbyte_reports_total"), await known(place), await counted(place)
    return f"{len(taken)} reports taken, {heard:.0f} counted; since the last loss {len(kept)}, in bins {bins}"


def main() -> int:
    """Print the table; 1 where an agent or a circuit was let down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.troubles", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each trouble lasts")
    parser.add_argument("--quick", action="store_true", help=f"each trouble lasts {QUICK[1]:g} s")
    parser.add_argument("--only", metavar="NAME", help=f"one of: {NAMES_OF_ALL}")
    chosen = parser.parse_args()
    usual = (max(QUIET_S, chosen.seconds * QUIET_SHARE), chosen.seconds)
    lasting = Lasting(*(QUICK if chosen.quick else usual))
    pin(cores()[1])
    gc.disable()  # a pause of ours would look like a late answer
    sys.setswitchinterval(0.0005)  # so would a turn of a thread that looks into the store
    print(f"{machine()};")
    print(f"{1 / TICK_S:.0f} requests a second on /route, {0.2 / TICK_S:.0f} on /reports;", end=" ")
    print(f"each trouble lasts {lasting.trouble_s:g} s")
    print(
        "p50 and p99 of /route as shares of the quiet ones; no core sleeps. `p99 after` is of the few requests (500 for"
    )
    print("each second of `back s`) until all that waited is in the store\n")
    print(HEAD, flush=True)
    well = True
    with awake():
        for kind, all_of_it in KINDS:
            troubles = [one for one in all_of_it if chosen.only in (None, one.name)]
            well &= not troubles or until_done(measure(kind, troubles, lasting))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
