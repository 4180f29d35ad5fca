"""Replays a recorded day: which latency and behaviour is in force at which moment."""

import bisect
import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Self

from monitor.simulator.behaviour import Behaviour, BehaviourName


@dataclass(frozen=True, kw_only=True)
class Row:
    """From `at_s` on, first bytes come after `first_byte_s`; both in seconds of the recorded time."""

    at_s: float
    first_byte_s: float
    behaviour: Behaviour = field(default_factory=Behaviour)

    def in_force(self) -> Behaviour:
        """Return the behaviour with exactly this row's first byte."""
        return replace(self.behaviour, first_byte_s=self.first_byte_s, after_s=self.first_byte_s, spread=0.0)


def rows_in_force(rows: Sequence[Row], at_s: float) -> Sequence[Row]:
    """Return the latest rows that begin at or before a moment; before the first row, the first.

    `rows` must be in the order of their times. There is more than one where several begin at the same moment.
    """
    end = max(1, bisect.bisect_right(rows, at_s, key=lambda row: row.at_s))
    latest = rows[end - 1].at_s
    begin = bisect.bisect_left(rows, latest, key=lambda row: row.at_s)
    return rows[begin : bisect.bisect_right(rows, latest, key=lambda row: row.at_s)]


def pick(rows: Sequence[Row], at_s: float, turn: int) -> Row:
    """Return the row that a request meets; `turn` counts the requests that met the rows in force before it."""
    present = rows_in_force(rows, at_s)
    return present[turn % len(present)]


@dataclass(frozen=True)
class Replay:
    """Rows in the order of their times; raises `ValueError` where there is none, or one that can't be played."""

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("a replay needs at least one row")
        if any(row.behaviour.name is BehaviourName.REFUSED for row in self.rows):
            raise ValueError("a row can't refuse connections, since the port does that; take 'reset'")
        object.__setattr__(self, "rows", tuple(sorted(self.rows, key=lambda row: row.at_s)))

    @property
    def end_s(self) -> float:
        """The time of the last row, which stays in force."""
        return self.rows[-1].at_s

    @classmethod
    def from_csv(cls, path: Path | str) -> Self:
        """Return the replay told by a CSV file with a head.

        Times: `at_s`, or `done_at_s` with `seconds`, from which the start follows; rows that were done together
        began together. Latency: `first_byte_s`, or else `seconds`. `behaviour` may be left out or empty; other
        columns are ignored. Raises `ValueError` with the line that can't be read, `OSError` as opening does.
        """
        with Path(path).open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        return cls(tuple(_started([_read(line, number) for number, line in enumerate(lines, start=2)])))


class Replaying:
    """A replay that runs; counts the turns of rows that begin together."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self._moment = replay.rows[0].at_s
        self._turn = 0

    def next(self, at_s: float) -> Behaviour:
        """Return what a request meets that arrives at this moment of the recorded time."""
        row = pick(self.replay.rows, at_s, 0)
        self._turn = self._turn + 1 if row.at_s == self._moment else 1
        self._moment = row.at_s
        return pick(self.replay.rows, at_s, self._turn - 1).in_force()


@dataclass(frozen=True, kw_only=True)
class _Line:
    row: Row
    seconds: float | None


def _read(line: Mapping[str, str | None], number: int) -> _Line:
    try:
        seconds = _number(line, "seconds")
        at_s, first_byte_s = _number(line, "at_s"), _number(line, "first_byte_s", seconds)
        done_at_s = _number(line, "done_at_s") if at_s is None else at_s
        behaviour = Behaviour.parse(line.get("behaviour") or BehaviourName.HEALTHY)
        replace(behaviour, first_byte_s=first_byte_s or 0.0)  # refuses a latency that can't be
    except ValueError as fault:
        raise ValueError(f"line {number}: {fault}") from None
    if done_at_s is None or first_byte_s is None or (at_s is None and seconds is None):
        raise ValueError(f"line {number}: needs at_s and first_byte_s or seconds, or done_at_s and seconds")
    row = Row(at_s=done_at_s, first_byte_s=first_byte_s, behaviour=behaviour)
    return _Line(row=row, seconds=seconds if at_s is None else None)


def _number(line: Mapping[str, str | None], name: str, otherwise: float | None = None) -> float | None:
    value = line.get(name)
    number = float(value) if value else otherwise
    if number is not None and not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return number


def _started(lines: Iterable[_Line]) -> Iterable[Row]:
    for done_at_s, together in groupby(lines, key=lambda line: line.row.at_s):
        group = list(together)
        longest_s = max(line.seconds or 0.0 for line in group)
        for line in group:
            yield replace(line.row, at_s=done_at_s - longest_s)
