"""Compares `GET /route` with a bare ASGI application, with nginx, and with what the app alone would do.

Run it as `python -m benchmarks.route`; it takes a minute, two with `--long`, half of one with `--quick`, and talks to
loopback alone.
"""

import contextlib
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks import _route_servers as servers
from benchmarks._machine import cores, machine
from benchmarks._route_load import BUSY, Load, has_wrk, load
from benchmarks._route_servers import Serving

CONNECTIONS = (1, 16, 128)
LANE, STEP, APP, BARE, NGINX = "GET /route", "with a step", "the app alone", "bare ASGI", "nginx"
# What is aimed at: requests a second and p99, as shares of the bare application's.
AT_LEAST = {1: 1.0, 16: 2.0, 128: 2.0}
P99_AT_MOST = 1.2
# Rounds, and the seconds of each.
USUAL, LONG, QUICK = (3, 1.0), (5, 1.7), (3, 0.5)


@dataclass(frozen=True)
class Contender:
    """A server and what it is asked."""

    serving: Serving
    path: str


@dataclass
class Seen:
    """What all rounds of a contender came to; `cpu_us` is what an answer costs the server."""

    loads: list[Load] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)

    def median(self, what: str) -> float:
        """The median of one of a load's numbers."""
        return statistics.median([float(getattr(one, what)) for one in self.loads])


@contextlib.contextmanager
def contenders(server: set[int]) -> Iterator[Mapping[str, Contender]]:
    """All that run here, on the server's cores."""
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(servers.firstbyte(server))
        size = len(ours.get(servers.PLAIN))
        found = {
            LANE: Contender(ours, servers.PLAIN),
            STEP: Contender(ours, servers.STEP),
            APP: Contender(ours, servers.BY_THE_APP),
            BARE: Contender(stack.enter_context(servers.bare(server, size)), "/"),
        }
        if servers.has_nginx():
            found[NGINX] = Contender(stack.enter_context(servers.nginx(server, size)), "/")
        print(f"bodies of {size} bytes")
        yield found


def measure(
    found: Mapping[str, Contender], connections: int, rounds: int, seconds: float, asking: set[int]
) -> dict[str, Seen]:
    """Each contender in turn, round by round; the first round only warms up."""
    seen = {name: Seen() for name in found}
    for number in range(rounds + 1):
        for name, one in found.items():
            before = one.serving.cpu_s()
            made = load(one.serving.port, one.path, connections, seconds if number else 0.2, asking)
            if number:
                seen[name].loads.append(made)
                seen[name].cpu_us.append((one.serving.cpu_s() - before) / (made.rate * seconds) * 1e6)
    return seen


def ratio(seen: Mapping[str, Seen], of: str, to: str, what: str = "rate") -> tuple[float, float, float]:
    """The median of the rounds' ratios, the least and the greatest."""
    pairs = zip(seen[of].loads, seen[to].loads, strict=True)
    each = [getattr(one, what) / getattr(other, what) for one, other in pairs]
    return statistics.median(each), min(each), max(each)


def rows(connections: int, seen: Mapping[str, Seen]) -> Iterator[str]:
    """The lines of the table."""
    for name, one in seen.items():
        middle, least, most = ratio(seen, name, BARE)
        cpu = statistics.median(one.cpu_us)
        yield (
            f"{connections:11}  {name:13}  {one.median('rate'):9.0f}  {middle:5.2f} [{least:.2f}-{most:.2f}]"
            f"  {one.median('p50_us'):7.0f}  {one.median('p99_us'):7.0f}  {cpu:6.1f}"
            f"{'  the load was the bottleneck' if one.median('busy') > BUSY else ''}"
        )


def well(connections: int, seen: Mapping[str, Seen]) -> bool:
    """Whether the lane is as quick beside the bare application as is aimed at."""
    rate, tail = ratio(seen, LANE, BARE)[0], ratio(seen, LANE, BARE, "p99_us")[0]
    return rate >= AT_LEAST[connections] and tail <= P99_AT_MOST


def verdicts(connections: int, seen: Mapping[str, Seen]) -> Iterator[str]:
    """How the lane stands beside each other one."""
    for other in seen:
        if other != LANE:
            rate, tail = ratio(seen, LANE, other)[0], ratio(seen, LANE, other, "p99_us")[0]
            aim = ""
            if other == BARE:
                met = "met" if well(connections, seen) else "MISSED"
                aim = f"  aim {AT_LEAST[connections]:.1f} and at most {P99_AT_MOST}: {met}"
            yield f"{connections:11}  beside {other:13}  {rate:6.2f} times the requests, {tail:5.2f} times the p99{aim}"


def main(words: Sequence[str]) -> int:
    """Print the tables; 1 where an aim is missed."""
    rounds, seconds = LONG if "--long" in words else QUICK if "--quick" in words else USUAL
    server, asking = cores()
    print(f"{machine()};")
    print(f"the server on core {server}, the load ({'wrk' if has_wrk() else 'our own'}) on {asking};", end=" ")
    print(f"medians of {rounds} interleaved rounds of {seconds} s;")
    if server == asking:
        print("there is but one core, so nothing below says much;")
    if not servers.has_nginx():
        print("nginx isn't installed, so it is left out (Debian: apt-get install nginx);")
    with contenders(server) as found:
        said, good = list[str](), True
        print("\nconnections  server          requests/s  of bare ASGI      p50 us   p99 us  cpu us")
        for connections in CONNECTIONS:
            seen = measure(found, connections, rounds, seconds, asking)
            print("\n".join(rows(connections, seen)), flush=True)
            said.extend(verdicts(connections, seen))
            good &= well(connections, seen)
        print("\n" + "\n".join(said))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
