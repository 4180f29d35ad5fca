"""Shows what the rule of slumps makes of made-up traces and of a recorded one, and how much its numbers matter.

Run it as `python -m benchmarks.slump`; it takes a minute. `--seeds 3` makes up three times as much, as the decision
pages quote it, `--quick` a third; `--sensitivity` changes each number of the rule by a quarter instead, in five to ten
minutes.
"""

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks._machine import machine
from benchmarks._slump_runs import (
    Made,
    Row,
    Split,
    Varied,
    changed,
    made,
    recorded,
    scaled,
    shuffled,
    singles,
    split,
    varied,
    wandered,
)
from breaker.policy import Policy
from monitor.backtest.synthetic import HEALTHY, ILL, SYNTHETIC
from monitor.backtest.trace import read

RECORDED = Path(__file__).parents[1] / "tests" / "traces" / "six-hours.csv"
CALM_S = 3600.0
DRAWS, QUICK_DRAWS, QUICK_DAYS = 20, 5, 10
# How much an answer may resemble the one before.
MEMORIES = (0.5, 0.8, 0.9)
# The numbers of breaker/usual.py that are changed, and what each is.
NUMBERS = {
    "slump_factor": "`slump_factor`, 3",
    "ENOUGH": "evidence that opens, 8",
    "_MOST_GAIN": "most that one answer changes it, 1",
    "_SLOWER_HOURS": "share of slower hours, 0.4",
    "_SPARED": "share that a slump spares, 0.2",
    "_DOUBT": "answers made up, 6",
    "_BLUR": "blur, three times one bin",
    "_FAR_BLUR": "blur of what is made up, twice six bins",
    "_RATIO": "a bin to the next, 13 % later",
    "_LEAST_MORE_S": "least that is worth leaving for, 2 s",
    "_KNOWN": "answers before anything is usual, 20",
    "_HELD": "answers held back, 64",
    "_HELD_SHARE": "at most this share of the known, 0.5",
    "_HALF_LIFE_S": "half-life, 3 days",
    "_NEW_NORMAL_S": "new normal, 5 days",
    "_SAMPLE_S": "outside one teaches in 10 minutes",
}
HARDEST = ("heavier tail", "two sizes, often", "daily rhythm", "blips")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slump", description=__doc__)
    parser.add_argument("trace", nargs="?", default=str(RECORDED), help="a recorded trace (CSV)")
    parser.add_argument("--calm-s", type=float, default=CALM_S, help="its first so many seconds are calm")
    parser.add_argument("--days", type=int, default=30, help="the length of healthy made-up traces")
    parser.add_argument("--quick", action="store_true", help=f"make up {QUICK_DAYS} days, and draw less often anew")
    parser.add_argument("--seeds", type=int, default=1, help="how many of each are made up")
    parser.add_argument("--sensitivity", action="store_true", help="change each number of the rule by a quarter")
    asked = parser.parse_args()
    print(f"{machine()}\n")
    rows = recorded(read(asked.trace))
    if asked.sensitivity:
        _show_sensitivity(rows, asked.calm_s)
    else:
        days, draws = (QUICK_DAYS, QUICK_DRAWS) if asked.quick else (asked.days, DRAWS)
        _show_made(days, asked.seeds)
        _show_wandering(days, asked.seeds)
        _show_recorded(rows, asked.calm_s, draws)
    return 0


def _workers() -> ProcessPoolExecutor:
    """Each job has a process of its own, so that a changed number is gone with it."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(os.cpu_count(), mp_context=context, max_tasks_per_child=1)


def _show_made(days: int, seeds: int) -> None:
    jobs = [(name, seed) for name in SYNTHETIC for seed in range(seeds)]
    with _workers() as workers:
        found = list(workers.map(made, *zip(*((n, days, s, Policy()) for n, s in jobs), strict=True)))
    print("| trace | | days | opened in 30 days | open after (median, worst) | closed after | diverted for nothing |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in (*HEALTHY, *ILL):
        print(_made_line([one for one in found if one.name == name]))


def _show_wandering(days: int, seeds: int) -> None:
    print("\n| like the answer before by | days | opened in 30 days | diverted for nothing |")
    print("| --- | --- | --- | --- |")
    for memory in MEMORIES:
        with _workers() as workers:
            jobs = [(days, seed, memory) for seed in range(seeds)]
            found = list(workers.map(wandered, *zip(*jobs, strict=True)))
        opened, diverted = (sum(column) for column in zip(*found, strict=True))
        share = diverted / (days * seeds * 1440)
        print(f"| {memory} | {days * seeds} | {opened * 30 / (days * seeds):.1f} | {_percent(share)} |")


def _made_line(found: Sequence[Made]) -> str:
    name, days = found[0].name, sum(one.days for one in found)
    opened = f"{sum(one.openings for one in found) * 30 / days:.1f}" if name in HEALTHY else ""
    steps, diverted = sum(one.healthy_steps for one in found), sum(one.diverted for one in found)
    opens, closes = [m for one in found for m in one.open_min], [m for one in found for m in one.close_min]
    cells = (name, SYNTHETIC[name].what, str(days), opened, _minutes(opens), _minutes(closes), f"{diverted} of {steps}")
    return f"| {' | '.join(cells)} |"


def _minutes(found: Sequence[float | None]) -> str:
    """The median and the worst; one that never came is the worst of all."""
    if not found:
        return ""
    times = sorted(minutes for minutes in found if minutes is not None)
    if len(times) < len(found):
        return f"never in {len(found) - len(times)} of {len(found)}"
    return f"{median(times):.0f} min, {times[-1]:.0f} min"


def _show_recorded(rows: Sequence[Row], calm_s: float, times: int) -> None:
    print("\n| recorded trace | calm steps diverted (by begin, by end) | slow hours' steps spared (by begin, by end) |")
    print("| --- | --- | --- |")
    print(_split_line("as it is", split(rows, calm_s, Policy())))
    print(_split_line("the plain rules alone", split(rows, calm_s, Policy(slump=False))))
    print(_split_line("0.3 times as slow", split(scaled(rows, 0.3), calm_s, Policy())))
    print(_split_line("3 times as slow", split(scaled(rows, 3), calm_s, Policy())))
    print(_split_line("without those asked at once", split(singles(rows), calm_s, Policy())))
    print(_split_line("every second", split(rows[::2], calm_s, Policy())))
    print(_split_line("every other second", split(rows[1::2], calm_s, Policy())))
    for block in (1, 5):
        draws = [shuffled(rows, calm_s, seed, block) for seed in range(times)]
        runs = [split(draw, calm_s, Policy()) for draw in draws]
        plain = [split(draw, calm_s, Policy(slump=False)) for draw in draws]
        more = [one.calm_ended - other.calm_ended for one, other in zip(runs, plain, strict=True)]
        shares = sorted(one.spared for one in runs)
        print(
            f"| drawn anew, {block} at a time, {times} times | {max(more)} more than the plain rules at most | "
            f"{_percent(median(shares))} in the median, {_percent(shares[2])} in the third worst, "
            f"{_percent(shares[0])} in the worst |"
        )


def _split_line(what: str, one: Split) -> str:
    calm = f"{one.calm_begun}, {one.calm_ended} of {one.calm}"
    spared = f"{_percent(one.spared)}, {_percent(one.slow_ended / one.slow)} of {one.slow}"
    return f"| {what} | {calm} | {spared} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _show_sensitivity(rows: Sequence[Row], calm_s: float) -> None:
    jobs = [("as it is", "", 1.0)]
    jobs += [(f"{what}: {100 * (t - 1):+.0f} %", name, t) for name, what in NUMBERS.items() for t in (0.75, 1.25)]
    print(
        "| changed | calm diverted | spared | drawn anew: median, third worst | steps found (median, worst) | ", end=""
    )
    print("slumps in healthy days |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    with _workers() as workers:
        waiting = [
            workers.submit(varied, what, partial(changed, name, times), rows, calm_s, HARDEST)
            for what, name, times in jobs
        ]
        for found in _in_order(future.result() for future in waiting):
            print(found, flush=True)


def _in_order(found: Iterable[Varied]) -> Iterable[str]:
    for one in found:
        drawn = f"{_percent(median(one.shuffled))}, {_percent(one.shuffled[2])}"
        cells = (one.what, str(one.calm_ended), _percent(one.spared), drawn, _minutes(one.open_min))
        yield f"| {' | '.join(cells)} | {one.slumps} in {one.healthy_days} |"


if __name__ == "__main__":
    sys.exit(main())
