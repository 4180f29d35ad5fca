"""Counts what a circuit would have spared, and what it would have cost."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from breaker.circuit import Cause
from breaker.log import Weight
from monitor.backtest.tape import Played, Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One time for which agents would have been elsewhere, in the trace's own seconds; `cause` is why it began.

    `to_open_s` runs from the begin of the first answer behind the opening to the opening. `to_close_s` runs from the
    end of the last bad or sluggish step in the span, or else from the opening, to the closing; None while it is open.
    """

    from_s: float
    until_s: float
    cause: Cause
    to_open_s: float
    to_close_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """What a run came to.

    `bad` steps are slow, failed, refused or throttled; `spared` those of them that began while the circuit was open.
    `sluggish` ones came within the limit, but several times slower than usual; `sluggish_spared` would have gone
    elsewhere. `good` are the others that are; `diverted` those of them that would have gone elsewhere. The rest says
    nothing of the target.
    """

    steps: int
    bad: int
    spared: int
    good: int
    diverted: int
    sluggish: int
    sluggish_spared: int
    open_s: float
    spans: tuple[Span, ...]

    @property
    def spared_share(self) -> float | None:
        """The share of the bad steps that would have been spared; None where there were none."""
        return _share(self.spared, self.bad)

    @property
    def diverted_share(self) -> float | None:
        """The share of the good steps that would have gone elsewhere; None where there were none."""
        return _share(self.diverted, self.good)

    @property
    def sluggish_spared_share(self) -> float | None:
        """The share of the sluggish steps that would have gone elsewhere; None where there were none."""
        return _share(self.sluggish_spared, self.sluggish)

    @property
    def to_open_s(self) -> float | None:
        """The median of the times to open; None where it never did."""
        return _median(span.to_open_s for span in self.spans)

    @property
    def to_close_s(self) -> float | None:
        """The median of the times to close; None where it never did."""
        return _median(span.to_close_s for span in self.spans if span.to_close_s is not None)


def score(run: Run) -> Score:
    """Count a run's steps and measure its spans."""
    bad = [step for step in run.steps if _bad(step)]
    sluggish = [step for step in run.steps if step.sluggish]
    good = [step for step in run.steps if step.weight is Weight.GOOD and not step.sluggish]
    spans = tuple(_spans(run))
    return Score(
        steps=len(run.steps),
        bad=len(bad),
        spared=_out(bad),
        good=len(good),
        diverted=_out(good),
        sluggish=len(sluggish),
        sluggish_spared=_out(sluggish),
        open_s=sum(span.until_s - span.from_s for span in spans),
        spans=spans,
    )


def _spans(run: Run) -> Iterator[Span]:
    openings = {made.at_s: made for made in reversed(run.moves) if not made.move.after.passes}
    closings = {made.at_s for made in run.moves if made.move.after.passes}
    trouble = sorted(step.step.done_at_s for step in run.steps if step.sluggish or _bad(step))
    for since, until in run.open_spans:
        before = bisect_right(trouble, until)
        opening = openings[since].move
        yield Span(
            from_s=since,
            until_s=until,
            cause=opening.cause,
            to_open_s=opening.at - min((entry.began for entry in opening.answers), default=opening.at),
            to_close_s=until - max([since, *trouble[max(before - 1, 0) : before]]) if until in closings else None,
        )


def _bad(step: Played) -> bool:
    return step.weight not in (Weight.GOOD, Weight.NOTHING)


def _out(steps: Sequence[Played]) -> int:
    return sum(step.out for step in steps)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _median(values: Iterable[float]) -> float | None:
    found = sorted(values)
    if not found:
        return None
    return (found[len(found) // 2] + found[(len(found) - 1) // 2]) / 2
