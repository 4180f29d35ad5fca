"""Measures how long a backtest of a month of minutes takes, for a healthy target and for one that fails all the time.

Run it as `python -m benchmarks.backtest`; it takes a quarter of a minute. The bar holds for the faster of two rounds;
with `--quick` there is one.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks._machine import machine
from breaker.policy import Policy
from breaker.verdict import Verdict
from monitor.backtest import Step, run
from monitor.backtest.score import score

MINUTES = 30 * 24 * 60
ROUNDS = 2
MOST_S = 5.0


def main(words: Sequence[str]) -> int:
    """Print the table; 1 where the bar is missed."""
    rounds = 1 if "--quick" in words else ROUNDS
    print(f"{machine()}\n")
    slowest_s = 0.0
    for name, make in _TRACES.items():
        steps = make(random.Random(43))
        took_s = min(_played(steps) for _ in range(rounds))
        slowest_s = max(slowest_s, took_s)
        print(f"{name:<32} {len(steps):,} answers  {took_s:5.2f} s  {1e6 * took_s / len(steps):4.0f} us each")
    print(f"the bar: {MOST_S:g} s")
    return 1 if slowest_s > MOST_S else 0


def _played(steps: Sequence[Step]) -> float:
    began = time.perf_counter()
    score(run(steps, Policy()))
    return time.perf_counter() - began


def _healthy(chance: random.Random) -> list[Step]:
    return [Step(began_at_s=60.0 * i, seconds=chance.lognormvariate(1.4, 0.6)) for i in range(MINUTES)]


def _failing(chance: random.Random) -> list[Step]:
    """Half of its answers fail and some are silent, so that it opens and closes all the time."""

    def step(i: int) -> Step:
        verdict = Verdict.HTTP_ERROR if chance.random() < 0.5 else Verdict.OK
        return Step(began_at_s=60.0 * i, seconds=chance.lognormvariate(2, 1.2), verdict=verdict)

    return [step(i) for i in range(MINUTES)]


_TRACES: dict[str, Callable[[random.Random], list[Step]]] = {
    "a healthy target": _healthy,
    "one that fails half of the time": _failing,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
