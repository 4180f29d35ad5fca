"""Runs steps through the rules of the service, as probes' answers, each at the moment when it counts."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from breaker.answer import Answer, Part
from breaker.circuit import Circuit, Move, due, next_due
from breaker.log import Entry, Log, Weight, weigh
from breaker.policy import Policy
from breaker.verdict import judge
from monitor.backtest.step import Step

# As many as the store keeps.
PROBES_KEPT = 32
_DAY_S = 86_400.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A move, and when it was made in the trace's own seconds."""

    at_s: float
    move: Move


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """A step and what it came to. `out`: it began while the circuit was open, so an agent would have been elsewhere.

    `sluggish`: far slower than the target's usual speed as it was known then.
    """

    step: Step
    weight: Weight
    out: bool
    sluggish: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What the rules made of a trace, in its own seconds.

    `open_spans` run from an opening to the closing that ended it, or to the end of the last step; half-open belongs to
    them, since agents stay on the backup. `steps` are in the order in which they began.
    """

    moves: tuple[Made, ...]
    open_spans: tuple[tuple[float, float], ...]
    steps: tuple[Played, ...]
    began_s: float
    end_s: float


def run(steps: Iterable[Step], policy: Policy, *, passing: Callable[[int], None] = lambda _: None) -> Run:
    """Play steps to a circuit that has never moved; `passing` hears how many have counted.

    Raises ValueError where there are none.
    """
    rows = sorted(steps, key=lambda step: step.began_at_s)
    if not rows:
        raise ValueError("a backtest needs at least one step")
    began_s, end_s = rows[0].began_at_s, max(step.done_at_s for step in rows)
    tape = _Tape(policy, _shift(began_s))
    for count, event in enumerate(sorted(_events(rows, policy))):
        passing(count)
        tape.play(event, rows[event.row])
    spans = tuple(open_spans(tape.made, end_s))
    return Run(moves=tuple(tape.made), open_spans=spans, steps=_played(tape, rows, spans), began_s=began_s, end_s=end_s)


def open_spans(moves: Sequence[Made], end_s: float) -> Iterator[tuple[float, float]]:
    """From each opening to the closing that ended it; one that is open at the end ends there."""
    since: float | None = None
    for made in moves:
        if not made.move.after.passes and since is None:
            since = made.at_s
        elif made.move.after.passes and since is not None:
            yield since, made.at_s
            since = None
    if since is not None:
        yield since, end_s


class _Event(NamedTuple):
    """A part of a step; sorted by the moment when it counts."""

    at_s: float
    row: int
    part: Part


def _events(rows: Sequence[Step], policy: Policy) -> Iterator[_Event]:
    for row, step in enumerate(rows):
        if step.late(policy.slow_s):
            yield _Event(step.began_at_s + policy.slow_s, row, Part.LATE)
        yield _Event(step.done_at_s, row, Part.FINAL)


def _shift(began_s: float) -> float:
    """Whole days that put a trace after the store's year 0, where no circuit has moved yet."""
    return _DAY_S * max(0, math.ceil((_DAY_S - began_s) / _DAY_S))


def _played(tape: "_Tape", rows: Sequence[Step], spans: Sequence[tuple[float, float]]) -> tuple[Played, ...]:
    return tuple(
        Played(step=step, weight=tape.weights[row], out=any(since <= step.began_at_s < until for since, until in spans))
        for row, step in enumerate(rows)
    )


class _Tape:
    """A circuit and its log while a trace passes; `shift_s` leads from the trace's time to the store's."""

    def __init__(self, policy: Policy, shift_s: float) -> None:
        self._policy = policy
        self._shift_s = shift_s
        self._circuit = Circuit()
        self._probes: tuple[Entry, ...] = ()
        self._now = 0.0
        self.made: list[Made] = []
        self.weights: dict[int, Weight] = {}

    def play(self, event: _Event, step: Step) -> None:
        """Let the clock come to the moment of a part, then let the part count."""
        now = event.at_s + self._shift_s
        self._let_pass(now)
        self._now = now
        name = str(event.row)
        answer = step.late_part(name, self._policy.slow_s) if event.part is Part.LATE else step.final_part(name)
        entry = self._record(answer, now, step.began_at_s + self._shift_s, late=step.late(self._policy.slow_s))
        self.weights[event.row] = weigh(entry, self._policy)
        self._settle()

    def _let_pass(self, until: float) -> None:
        """Make the moves that the clock alone decides."""
        while self._circuit.open_until is not None:
            moment = next_due(self._circuit, self._log(), self._policy, self._now)
            if moment is None or moment >= until:
                return
            self._now = moment
            self._settle()

    def _settle(self) -> None:
        while (move := due(self._circuit, self._log(), self._policy, self._now)) is not None:
            self._circuit = move.circuit
            self.made.append(Made(at_s=round(move.at - self._shift_s, 6), move=move))

    def _log(self) -> Log:
        return Log(probes=self._probes)

    def _record(self, answer: Answer, at: float, began: float, *, late: bool) -> Entry:
        """Append an answer, or put the final part in its late part's place, as the store does."""
        judgement = judge(answer)
        entry = Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=at, began=began, late=late)
        if answer.part is Part.LATE or not late:
            self._probes = (*self._probes, entry)[-PROBES_KEPT:]
            return entry
        self._probes = tuple(
            replace(entry, at=known.at) if known.answer.id == answer.id else known for known in self._probes
        )
        return entry
