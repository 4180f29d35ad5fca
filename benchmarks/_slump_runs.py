"""What the rule of slumps makes of traces: how soon it opens and closes, and whom it diverts for nothing."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from breaker import usual
from breaker.circuit import Cause
from breaker.policy import Policy
from monitor.backtest import Run, Step, run
from monitor.backtest.synthetic import SYNTHETIC

MINUTE_S, DAY_S = 60.0, 86_400.0
Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A made-up trace's run. Times are in minutes from the begin or the end of each trouble; None: never opened."""

    name: str
    days: int
    openings: int
    slumps: int
    open_min: tuple[float | None, ...]
    close_min: tuple[float, ...]
    healthy_steps: int
    diverted: int


def made(name: str, days: int, seed: int, policy: Policy) -> Made:
    """Run one made-up trace."""
    trace = SYNTHETIC[name]
    days = min(days, trace.days)
    found, troubles = run(trace.steps(days, seed), policy), trace.spans(days)
    rightly = [span for span in found.open_spans if any(_meet(span, trouble) for trouble in troubles)]
    healthy = [p for p in found.steps if not _within(p.step.began_at_s, [*troubles, *rightly])]
    return Made(
        name=name,
        days=days,
        openings=len(found.open_spans),
        slumps=sum(m.move.cause is Cause.SLUMP and m.move.before.passes for m in found.moves),
        open_min=tuple(_opened(trouble, found.open_spans) for trouble in troubles),
        close_min=tuple(_closed(trouble, found.open_spans) for trouble in troubles),
        healthy_steps=len(healthy),
        diverted=sum(p.out for p in healthy),
    )


def _meet(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and one[1] >= other[0]


def _within(moment: float, spans: Iterable[Span]) -> bool:
    return any(since <= moment < until for since, until in spans)


def _opened(trouble: Span, spans: Sequence[Span]) -> float | None:
    return next((max(s[0] - trouble[0], 0) / MINUTE_S for s in spans if _meet(s, trouble)), None)


def _closed(trouble: Span, spans: Sequence[Span]) -> float:
    return next((max(s[1] - trouble[1], 0) / MINUTE_S for s in reversed(spans) if _meet(s, trouble)), 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """A recorded trace's run, its steps counted before and after the moment when the provider sagged.

    A step is out by its begin, or by its end, where the circuit was open then.
    """

    calm: int
    calm_begun: int
    calm_ended: int
    slow: int
    slow_begun: int
    slow_ended: int

    @property
    def spared(self) -> float:
        """The share of the slow hours' steps that would have gone elsewhere, by their begin."""
        return self.slow_begun / self.slow


def wandering(days: int, seed: int, memory: float) -> list[Step]:
    """Answers around 4 s that resemble the one before by so much (0 to 1): healthy, but not independent."""
    chance = Random(f"wandering {seed} {memory}")
    level, steps = 0.0, []
    for number in range(int(days * DAY_S / MINUTE_S)):
        level = memory * level + math.sqrt(1 - memory**2) * chance.gauss(0, 1)
        wait_s = 4 * math.exp(0.6 * level)
        steps.append(Step(began_at_s=number * MINUTE_S, seconds=wait_s, first_byte_s=wait_s))
    return steps


def wandered(days: int, seed: int, memory: float) -> tuple[int, int]:
    """How often the circuit opened by such answers, and how many of them it diverted."""
    found = run(wandering(days, seed, memory), Policy())
    return len(found.open_spans), sum(step.out for step in found.steps)


Row = tuple[float, float, float]  # when it began and was done, as it was recorded, and how long it takes here


def recorded(steps: Iterable[Step]) -> list[Row]:
    """A trace's rows."""
    return [(step.began_at_s, step.done_at_s, step.waited_s) for step in steps]


def split(rows: Sequence[Row], calm_s: float, policy: Policy) -> Split:
    """Run a recorded trace, whose calm part was done before a moment."""
    found = run([Step(began_at_s=began, seconds=wait_s, first_byte_s=wait_s) for began, _, wait_s in rows], policy)
    calm, slow = ([row for row in rows if (row[1] < calm_s) is which] for which in (True, False))
    return Split(
        calm=len(calm),
        calm_begun=_out(calm, 0, found),
        calm_ended=_out(calm, 1, found),
        slow=len(slow),
        slow_begun=_out(slow, 0, found),
        slow_ended=_out(slow, 1, found),
    )


def _out(rows: Iterable[Row], column: int, found: Run) -> int:
    return sum(_within(row[column], found.open_spans) for row in rows)


def scaled(rows: Sequence[Row], times: float) -> list[Row]:
    """All answers so many times slower, begun when they were."""
    return [(began, done, wait_s * times) for began, done, wait_s in rows]


def singles(rows: Sequence[Row]) -> list[Row]:
    """Without those that were asked at once and so written down as done at once."""
    ends = [done for _, done, _ in rows]
    return [row for row in rows if ends.count(row[1]) == 1]


def shuffled(rows: Sequence[Row], calm_s: float, seed: int, block: int) -> list[Row]:
    """The same moments, with answers drawn from the same part of the trace, so many neighbours at a time."""
    chance = Random(f"{seed} {block}")
    calm = [wait_s for _, done, wait_s in rows if done < calm_s]
    slow = [wait_s for _, done, wait_s in rows if done >= calm_s]
    drawn = [*_drawn(calm, block, chance), *_drawn(slow, block, chance)]
    return [(began, done, wait_s) for (began, done, _), wait_s in zip(sorted(rows, key=_done), drawn, strict=True)]


def _done(row: Row) -> float:
    return row[1]


def _drawn(waits: Sequence[float], block: int, chance: Random) -> list[float]:
    drawn: list[float] = []
    while len(drawn) < len(waits):
        begin = chance.randrange(len(waits))
        drawn += [waits[(begin + i) % len(waits)] for i in range(block)]
    return drawn[: len(waits)]


def vary(name: str, times: float) -> None:
    """Change one number of the rule in this process; nothing may have been run in it before."""
    value = getattr(usual, name)
    if isinstance(value, tuple):
        setattr(usual, name, (value[0], max(1, _rounded(value[1], times))))
    elif name == "_RATIO":
        _bin_anew(1 + (value - 1) * times)
    else:
        setattr(usual, name, _rounded(value, times) if isinstance(value, int) else value * times)


def _rounded(value: int, times: float) -> int:
    """One up or down at least."""
    changed = round(value * times)
    return changed if changed != value else value + (1 if times > 1 else -1)


def _bin_anew(ratio: float) -> None:
    fastest_s, slowest_s = (getattr(usual, name) for name in ("_FASTEST_S", "_SLOWEST_S"))
    bins = 2 + int(math.log(slowest_s / fastest_s) / math.log(ratio))
    edges = tuple(fastest_s * ratio**i for i in range(bins))
    for name, value in (("_RATIO", ratio), ("_BINS", bins), ("_EDGES", edges)):
        setattr(usual, name, value)
    assert bisect_left(edges, slowest_s) < bins


@dataclass(frozen=True, kw_only=True, slots=True)
class Varied:
    """What comes of a changed number."""

    what: str
    calm_ended: int
    spared: float
    shuffled: tuple[float, ...]
    open_min: tuple[float | None, ...]
    healthy_days: int
    slumps: int


def varied(
    what: str, change: Callable[[], Policy], rows: Sequence[Row], calm_s: float, healthy: Sequence[str]
) -> Varied:
    """Measure the rule with one number changed."""
    policy = change()
    split_ = split(rows, calm_s, policy)
    draws = [shuffled(rows, calm_s, seed, block) for seed in range(10) for block in (1, 5)]
    steps = [made(name, 4, seed, policy) for name in ("step", "step, noisy", "step, first hour") for seed in range(3)]
    well = [made(name, 8, 100, policy) for name in healthy]
    return Varied(
        what=what,
        calm_ended=split_.calm_ended,
        spared=split_.spared,
        shuffled=tuple(sorted(split(draw, calm_s, policy).spared for draw in draws)),
        open_min=tuple(minutes for m in steps for minutes in m.open_min),
        healthy_days=sum(m.days for m in well),
        slumps=sum(m.slumps for m in well),
    )


def changed(name: str, times: float) -> Policy:
    """The policy to run with after one number was changed; `slump_factor` is one of the policy's own."""
    if name == "slump_factor":
        return replace(Policy(), slump_factor=Policy().slump_factor * times)
    if name:
        vary(name, times)
    return Policy()
