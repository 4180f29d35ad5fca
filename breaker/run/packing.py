"""What is known of a run as bytes, for as long as this process keeps it.

A thousand runs as objects would be a hundred thousand of them, which the garbage collector stops the service to look
through; and they would take three times the room.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from breaker.run.facts import Check, Stage, Step
from breaker.run.fold import NOTHING, Folded, Run
from breaker.run.operation import Operation

_Row = TypeVar("_Row", bound=tuple[Any, ...])
_Columns = list[Any]  # Any: each holds what its name says


class _Table(Generic[_Row]):
    """Rows of one kind, as columns of values that can be bytes: of each word what it says."""

    def __init__(self, kind: type[_Row]) -> None:
        self._words = dict(_words(kind))
        self._made: Callable[[tuple[Any, ...]], _Row] = partial(tuple.__new__, kind)

    def columns(self, rows: Sequence[_Row]) -> _Columns:
        """The columns of rows; one that says the same of all of them is a list of that alone."""
        columns: _Columns = list(zip(*rows, strict=True))
        for place, column in enumerate(columns):
            first, words = column[0], self._words.get(place)
            if place and column.count(first) == len(column):
                columns[place] = [first and first._value_ if words else first]
            elif words:
                columns[place] = tuple([word and word._value_ for word in column])
        return columns

    def rows(self, columns: _Columns) -> tuple[_Row, ...]:
        """The rows that were given to `columns`."""
        for place, column in enumerate(columns):
            words = self._words.get(place)
            if type(column) is list:
                columns[place] = repeat(words[column[0]] if words else column[0])
            elif words:
                columns[place] = map(words.__getitem__, column)
        return tuple(map(self._made, zip(*columns, strict=False)))


def _words(kind: type[Any]) -> Iterable[tuple[int, dict[str | None, StrEnum | None]]]:
    """The columns of a kind that hold words, and the words by what they say."""
    for place, hint in enumerate(get_type_hints(kind).values()):
        for one in (hint, *get_args(hint)):
            if isinstance(one, type) and issubclass(one, StrEnum):
                yield place, {None: None, **{word.value: word for word in one}}


_STEPS, _OPERATIONS, _CHECKS, _STAGES = _Table(Step), _Table(Operation), _Table(Check), _Table(Stage)


class Packed(NamedTuple):
    """What is known of a run as bytes, each kind by itself; whether it is overfull isn't in them."""

    steps: bytes
    operations: bytes
    checks: bytes
    stages: bytes


def pack(folded: Folded, before: Folded | None = None, packed: Packed | None = None) -> Packed:
    """What is known of a run as bytes; what is the same as `before` is taken from what that was packed to."""
    run, stages = folded.run, folded.stages
    if before is None or packed is None:
        before, packed = NOTHING, _NOTHING
    was = before.run
    return Packed(
        packed.steps if run.steps is was.steps else marshal.dumps(_STEPS.columns(run.steps)),
        packed.operations if run.operations is was.operations else marshal.dumps(_OPERATIONS.columns(run.operations)),
        packed.checks if run.checks is was.checks else marshal.dumps(_CHECKS.columns(run.checks)),
        packed.stages if stages is before.stages else marshal.dumps(_STAGES.columns([*chain(*stages.values())])),
    )


def unpack(packed: Packed) -> Folded:
    """What `pack` was given."""
    steps, operations, checks, stages = map(marshal.loads, packed)
    run = Run(steps=_STEPS.rows(steps), operations=_OPERATIONS.rows(operations), checks=_CHECKS.rows(checks))
    by_id = groupby(_STAGES.rows(stages), key=itemgetter(0))
    return Folded(run, {id_: tuple(found) for id_, found in by_id})


_NOTHING = Packed(*[marshal.dumps([])] * 4)
