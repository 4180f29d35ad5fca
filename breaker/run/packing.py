"""What is known of a run as bytes, for as long as this process keeps it.

A thousand runs as objects would be a hundred thousand of them, which the garbage collector stops the service to look
through; and they would take three times the room.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from breaker.run.facts import Check, Stage, Step
from breaker.run.fold import Folded, Run
from breaker.run.operation import Operation

_Row = TypeVar("_Row", bound=tuple[Any, ...])
_Columns = list[Any]  # Any: each holds what its name says


class _Table(Generic[_Row]):
    """Rows of one kind, as columns of values that can be bytes: of each word what it says."""

    def __init__(self, kind: type[_Row]) -> None:
        self._words = dict(_words(kind))
        self._made: Callable[[tuple[Any, ...]], _Row] = partial(tuple.__new__, kind)

    def columns(self, rows: Iterable[_Row]) -> _Columns:
        columns: _Columns = list(zip(*rows, strict=True))
        if columns:
            for place in self._words:
                columns[place] = [word and word._value_ for word in columns[place]]
        return columns

    def rows(self, columns: _Columns) -> tuple[_Row, ...]:
        if columns:
            for place, words in self._words.items():
                columns[place] = map(words.__getitem__, columns[place])
        return tuple(map(self._made, zip(*columns, strict=True)))


def _words(kind: type[Any]) -> Iterable[tuple[int, dict[str | None, StrEnum | None]]]:
    """The columns of a kind that hold words, and the words by what they say."""
    for place, hint in enumerate(get_type_hints(kind).values()):
        for one in (hint, *get_args(hint)):
            if isinstance(one, type) and issubclass(one, StrEnum):
                yield place, {None: None, **{word.value: word for word in one}}


_STEPS, _OPERATIONS, _CHECKS, _STAGES = _Table(Step), _Table(Operation), _Table(Check), _Table(Stage)


def pack(folded: Folded) -> bytes:
    """What is known of a run as bytes; whether it is overfull isn't in them."""
    run = folded.run
    return marshal.dumps(
        (
            _STEPS.columns(run.steps),
            _OPERATIONS.columns(run.operations),
            _CHECKS.columns(run.checks),
            _STAGES.columns(chain.from_iterable(folded.stages.values())),
        )
    )


def unpack(packed: bytes) -> Folded:
    """What `pack` was given."""
    steps, operations, checks, stages = marshal.loads(packed)  # noqa: S302 # this process has made them
    run = Run(steps=_STEPS.rows(steps), operations=_OPERATIONS.rows(operations), checks=_CHECKS.rows(checks))
    by_id = groupby(_STAGES.rows(stages), key=itemgetter(0))
    return Folded(run, {id_: tuple(found) for id_, found in by_id})
