"""Runs steps through the rules of the service, as probes' answers, each at the moment when it counts."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from breaker.answer import Part
from breaker.circuit import Circuit, Move, due, learnt, next_due
from breaker.log import Entry, Log, Weight, wait_s, weigh
from breaker.policy import Policy
from breaker.usual import sluggish
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

    `sluggish`: good, but several times slower than the target's usual speed as it was known then.
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


def run(steps: Iterable[Step], policy: Policy, *, passing: Callable[[float], None] = lambda _: None) -> Run:
    """Play steps to a circuit that has never moved; `passing` hears the share that is played.

    Raises ValueError where there are none.
    """
    rows = sorted(steps, key=lambda step: step.began_at_s)
    if not rows:
        raise ValueError("a backtest needs at least one step")
    began_s, end_s = rows[0].began_at_s, round(max(step.done_at_s for step in rows), 6)  # as moves are
    tape = _Tape(policy, _shift(began_s))
    events = sorted(_events(rows, policy))
    for count, event in enumerate(events):
        passing(count / len(events))
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
        yield since, max(since, end_s)


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
    begins = [since for since, _ in spans]

    def out(moment: float) -> bool:
        place = bisect_right(begins, moment)
        return place > 0 and moment < spans[place - 1][1]

    return tuple(
        Played(step=step, weight=tape.weights[row], out=out(step.began_at_s), sluggish=row in tape.sluggish)
        for row, step in enumerate(rows)
    )


class _Tape:
    """A circuit and its log while a trace passes; `shift_s` leads from the trace's time to the store's."""

    def __init__(self, policy: Policy, shift_s: float) -> None:
        self._policy = policy
        self._shift_s = shift_s
        self._circuit = Circuit()
        self._log = Log()
        self._now = 0.0
        self.made: list[Made] = []
        self.weights: dict[int, Weight] = {}
        self.sluggish: set[int] = set()

    def play(self, event: _Event, step: Step) -> None:
        """Let the clock come to the moment of a part, then let the part count."""
        now = event.at_s + self._shift_s
        self._let_pass(now)
        self._now = now
        entry = self._entry(event, step)
        self._weigh(event.row, entry)
        self._record(entry)
        self._learn(entry)
        self._settle()

    def _let_pass(self, until: float) -> None:
        """Make the moves that the clock alone decides."""
        while self._circuit.open_until is not None:
            moment = next_due(self._circuit, self._log, self._policy, self._now)
            if moment is None or moment >= until:
                return
            self._now = moment
            self._settle()

    def _settle(self) -> None:
        while (move := due(self._circuit, self._log, self._policy, self._now)) is not None:
            self._circuit = move.circuit
            self.made.append(Made(at_s=round(move.at - self._shift_s, 6), move=move))

    def _entry(self, event: _Event, step: Step) -> Entry:
        name, slow_s = str(event.row), self._policy.slow_s
        answer = step.late_part(name, slow_s) if event.part is Part.LATE else step.final_part(name)
        judgement = judge(answer)
        return Entry(
            answer=answer,
            verdict=judgement.verdict,
            blame=judgement.blame,
            at=self._now,
            began=step.began_at_s + self._shift_s,
            late=step.late(slow_s),
        )

    def _weigh(self, row: int, entry: Entry) -> None:
        """What a step is in the end is what its last part is."""
        weight, wait = weigh(entry, self._policy), wait_s(entry)
        self.weights[row] = weight
        if weight is Weight.GOOD and wait is not None and sluggish(self._log.usual, wait, self._policy):
            self.sluggish.add(row)

    def _record(self, entry: Entry) -> None:
        """Append an entry, or put a final part in its late part's place, as the store does."""
        if entry.late and entry.answer.part is Part.FINAL:
            merged = (replace(entry, at=e.at) if e.answer.id == entry.answer.id else e for e in self._log.probes)
            probes = tuple(merged)
        else:
            probes = (*self._log.probes, entry)[-PROBES_KEPT:]
        self._log = Log(probes=probes, usual=self._log.usual)

    def _learn(self, entry: Entry) -> None:
        usual = learnt(self._circuit, self._log, self._policy, entry, self._now)
        if usual is not self._log.usual:
            self._log = Log(probes=self._log.probes, usual=usual)
