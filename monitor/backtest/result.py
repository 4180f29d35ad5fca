"""What a backtest says: for programs as JSON, for people as lines and tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from monitor.backtest.score import Score, Span
from monitor.backtest.tape import Made, Run

# A trace's own seconds beyond this are seconds since 1970.
_CALENDAR_S = 1e8


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What one policy made of one trace. `lost` counts answers that couldn't be rebuilt; None where all are there."""

    trace: str
    policy: str
    run: Run
    score: Score
    lost: int | None = None


# For programs


def as_json(result: Result, other: Result | None = None) -> dict[str, Any]:
    """One trace's object; with `other`, what a second policy made of it and the differences, second minus first."""
    said = {"trace": result.trace, **_result(result)}
    if result.lost is not None:
        said["lost"] = result.lost
    if other is not None:
        said["compared"] = compared = _result(other)
        said["difference"] = {name: _minus(compared[name], said[name]) for name in _COMPARED}
    return said


_COMPARED = (
    "openings",
    "open_s",
    "bad",
    "spared",
    "spared_share",
    "good",
    "diverted",
    "diverted_share",
    "sluggish",
    "sluggish_spared",
    "sluggish_spared_share",
    "time_to_open_s",
    "time_to_close_s",
)


def _result(result: Result) -> dict[str, Any]:
    score = result.score
    return {
        "policy": result.policy,
        "moves": [_move(made) for made in result.run.moves],
        "open_spans": [list(span) for span in result.run.open_spans],
        "spans": [_span(span) for span in score.spans],
        "openings": len(score.spans),
        "open_s": _rounded(score.open_s),
        "steps": score.steps,
        "bad": score.bad,
        "spared": score.spared,
        "spared_share": _rounded(score.spared_share),
        "good": score.good,
        "diverted": score.diverted,
        "diverted_share": _rounded(score.diverted_share),
        "sluggish": score.sluggish,
        "sluggish_spared": score.sluggish_spared,
        "sluggish_spared_share": _rounded(score.sluggish_spared_share),
        "time_to_open_s": _rounded(score.to_open_s),
        "time_to_close_s": _rounded(score.to_close_s),
    }


def _move(made: Made) -> dict[str, Any]:
    move = made.move
    return {
        "at_s": made.at_s,
        "before": move.before.value,
        "after": move.after.value,
        "cause": move.cause.value,
        "why": move.why,
        "generation": move.circuit.generation,
        "measures": [{"what": m.what, "value": _rounded(m.value), "limit": _rounded(m.limit)} for m in move.measures],
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "from_s": span.from_s,
        "until_s": span.until_s,
        "cause": span.cause.value,
        "time_to_open_s": _rounded(span.to_open_s),
        "time_to_close_s": _rounded(span.to_close_s),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _minus(second: float | None, first: float | None) -> float | None:
    return None if first is None or second is None else _rounded(second - first)


# For people


def moves_as_text(result: Result, *, named: bool) -> str:
    """A line a move below a line for the trace; `named` says which policy it was."""
    run, policy = result.run, f", {result.policy}" if named else ""
    lost = f"; {_many(result.lost, 'probe')} could not be rebuilt" if result.lost else ""
    head = f"{result.trace}{policy}: {_many(len(run.steps), 'step')} in {length(run.end_s - run.began_s)}{lost}"
    return "\n".join(
        [head, *(_told(made) for made in run.moves)] if run.moves else [f"{head}; the circuit never moved"]
    )


def _told(made: Made) -> str:
    move = made.move
    return f"  {moment(made.at_s)}  {move.before} to {move.after}, {move.cause}: {move.why}"


def as_table(results: Iterable[Result]) -> str:
    """A line a trace."""
    heads = ["TRACE", *(row.head for row in _ROWS)]
    return table([heads, *([result.trace, *(row.cell(result.score) for row in _ROWS)] for result in results)])


def as_comparison(first: Result, second: Result) -> str:
    """A line a figure, with a column for each policy and one for what the second does more or less."""
    heads = [first.trace, first.policy, second.policy, "DIFFERENCE"]
    return table([heads, *([row.label, *row.compared(first.score, second.score)] for row in _ROWS)])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A figure: how a table calls it, how it is written, and what of it is compared."""

    head: str
    label: str
    cell: Callable[[Score], str]
    value: Callable[[Score], float | None]
    more: Callable[[float], str]

    def compared(self, first: Score, second: Score) -> tuple[str, str, str]:
        """Both cells and the difference."""
        before, after = self.value(first), self.value(second)
        unknown = before is None or after is None
        return self.cell(first), self.cell(second), "-" if unknown else self.more(_minus(after, before) or 0.0)


def _part(part: int, whole: int) -> str:
    return f"{part} of {whole}, {part / whole:.0%}" if whole else "none"


def _time(value: float | None) -> str:
    return "-" if value is None else length(value)


def _signed(write: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: "the same" if not value else f"{'+' if value > 0 else '-'}{write(abs(value))}"


_COUNT = _signed(lambda value: f"{value:.0f}")
_POINTS = _signed(lambda value: f"{100 * value:.1f} points")
_LENGTH = _signed(lambda value: length(value))

_ROWS = (
    _Row(
        head="BAD SPARED",
        label="slow or failed steps spared",
        cell=lambda s: _part(s.spared, s.bad),
        value=lambda s: s.spared_share,
        more=_POINTS,
    ),
    _Row(
        head="SLUGGISH SPARED",
        label="steps far slower than usual spared",
        cell=lambda s: _part(s.sluggish_spared, s.sluggish),
        value=lambda s: s.sluggish_spared_share,
        more=_POINTS,
    ),
    _Row(
        head="GOOD DIVERTED",
        label="good steps diverted",
        cell=lambda s: _part(s.diverted, s.good),
        value=lambda s: s.diverted_share,
        more=_POINTS,
    ),
    _Row(head="OPENED", label="opened", cell=lambda s: f"{len(s.spans)} x", value=lambda s: len(s.spans), more=_COUNT),
    _Row(head="OPEN FOR", label="open for", cell=lambda s: length(s.open_s), value=lambda s: s.open_s, more=_LENGTH),
    _Row(
        head="TO OPEN",
        label="time to open (median)",
        cell=lambda s: _time(s.to_open_s),
        value=lambda s: s.to_open_s,
        more=_LENGTH,
    ),
    _Row(
        head="TO CLOSE",
        label="time to close (median)",
        cell=lambda s: _time(s.to_close_s),
        value=lambda s: s.to_close_s,
        more=_LENGTH,
    ),
)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Cells in columns."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def moment(at_s: float) -> str:
    """A moment in the trace's own seconds; as a date (UTC) where they count from 1970."""
    if at_s < _CALENDAR_S:
        return f"{at_s:,.1f} s"
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%d %H:%M:%S}"


def length(seconds: float) -> str:
    """A length of time: 43.1 s, 10 min, 5.9 h, 30 days."""
    for least, size, unit in ((2 * 86_400, 86_400, "days"), (2 * 3600, 3600, "h"), (120, 60, "min")):
        if seconds >= least:
            return f"{seconds / size:.1f} {unit}".replace(".0 ", " ")
    return f"{seconds:.1f} s".replace(".0 ", " ")


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
