"""Makes a run of its facts, in whatever order and however often they came, all at once or some after others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from breaker.run import codec
from breaker.run.facts import Check, Fact, Stage, Step
from breaker.run.operation import Operation, operation
from breaker.run.words import Outcome, State
from breaker.verdict import Blame

# The number, and with it the id: which all facts and operations begin with, the other way round.
_seq, _order = itemgetter(1), itemgetter(1, 0)
# By names that are quick to find: a word takes ten times as long by its kind.
_NOT_DONE, _SUCCEEDED = (State.FAILED, State.PLANNED), State.SUCCEEDED
# Of two checks at the same place the one that promises least holds.
_DOUBTS = (Outcome.PASSED, Outcome.UNKNOWN, Outcome.FAILED)


@dataclass(frozen=True, kw_only=True)
class Run:
    """All that is known of one task: answers and checks in their order, operations in that of their first stages.

    `overfull` says that more facts came than are kept.
    """

    steps: tuple[Step, ...] = ()
    operations: tuple[Operation, ...] = ()
    checks: tuple[Check, ...] = ()
    overfull: bool = False

    def operation(self, id: str) -> Operation | None:  # noqa: A002 # a fact's name
        """An operation by its id; None where it isn't known."""
        return self._by_id.get(id)

    def replaced(self, operation: Operation) -> bool:
        """Whether it failed or never began, and a later one that does the same in another way has succeeded."""
        at = self._replaced_at.get(operation.id)
        return at is not None and at > operation.seq and operation.state in _NOT_DONE

    def has(self, id: str) -> bool:  # noqa: A002 # a fact's name
        """Whether an operation has succeeded, itself or in another way."""
        found = self.operation(id)
        return found is not None and (found.state is _SUCCEEDED or self.replaced(found))

    # A thousand operations may need sixteen others each.

    @cached_property
    def _by_id(self) -> dict[str, Operation]:
        return {one.id: one for one in self.operations}

    @cached_property
    def _replaced_at(self) -> dict[str, int]:
        """The places of the last ones that have succeeded, by what they replace."""
        happened = (one for one in self.operations if one.replaces and one.state is _SUCCEEDED)
        return {id_: one.seq for one in happened for id_ in one.replaces}


class Folded(NamedTuple):
    """A run, and what is needed besides to take in more facts: the stages of each operation that hasn't succeeded.

    Nearly nothing is ever told of one that has, so that its stages aren't kept.
    """

    run: Run = Run()
    stages: Mapping[str, tuple[Stage, ...]] = {}


NOTHING = Folded()


def fold(facts: Iterable[Fact], *, overfull: bool = False) -> Run:
    """The run that these facts tell of; the same for the same set of them."""
    folded = more(NOTHING, facts, overfull=overfull)
    assert folded is not None
    return folded.run


def more(folded: Folded, facts: Iterable[Fact], *, overfull: bool = False) -> Folded | None:
    """What is known with some more facts; None where that can't be told without all that came before.

    The run is what `fold` makes of all facts together.
    """
    steps, checks, stages = list[Step](), list[Check](), defaultdict[str, list[Stage]](list)
    for fact in facts:
        if isinstance(fact, Stage):
            stages[fact.id].append(fact)
        elif isinstance(fact, Step):
            steps.append(fact)
        else:
            checks.append(fact)
    run = folded.run
    operations = {one.id: one for one in run.operations} if stages else {}
    if any(id_ in operations and id_ not in folded.stages for id_ in stages):
        return None
    known = dict(folded.stages)
    for id_, found in stages.items():
        known[id_] = tuple(_sorted([*known.get(id_, ()), *found]))
        operations[id_] = operation(known[id_])
        if operations[id_].state is _SUCCEEDED:
            del known[id_]
    more_run = Run(
        steps=_steps(run.steps, steps),
        operations=tuple(sorted(operations.values(), key=_order)) if stages else run.operations,
        checks=_checks(run.checks, checks),
        overfull=overfull,
    )
    return Folded(more_run, known if stages else folded.stages)


def _steps(known: tuple[Step, ...], new: Sequence[Step]) -> tuple[Step, ...]:
    """Each answer once, in their order; of several at one place those that are none are the last."""
    if not new:
        return known
    held = {one.id: one for one in known}
    for one in new:
        before = held.setdefault(one.id, one)
        if before is not one and _comes_later(one, before):
            held[one.id] = one
    if len(set(map(_seq, held.values()))) == len(held):  # so it is nearly always, and takes a fifth of the time
        return tuple(sorted(held.values(), key=_seq))
    return tuple(sorted(held.values(), key=lambda one: (one.seq, _doubt(one), one.id)))


def _comes_later(one: Step, other: Step) -> bool:
    """Whether of two that are told of one answer this one holds; arrival never decides."""
    place, others = (one.seq, _doubt(one)), (other.seq, _doubt(other))
    return codec.write(one) > codec.write(other) if place == others else place > others


def _checks(known: tuple[Check, ...], new: Sequence[Check]) -> tuple[Check, ...]:
    """The last check of each name, in their order; of several at one place the one that promises least."""
    if not new:
        return known
    held = {one.name: one for one in sorted([*known, *new], key=lambda one: (one.seq, _doubt(one), one.id))}
    return tuple(sorted(held.values(), key=itemgetter(1, 0, 2)))


def _sorted(stages: list[Stage]) -> list[Stage]:
    """In the order of the run; arrival never decides. What they promise is weighed later."""
    if len(set(map(_seq, stages))) == len(stages):
        return sorted(stages, key=_seq)
    return sorted(stages, key=lambda one: (one.seq, codec.write(one)))


def _doubt(fact: Step | Check) -> int:
    """How much a fact speaks against its task, beside another at the same place."""
    if isinstance(fact, Step):
        return 0 if fact.blame is Blame.OK else 1
    return _DOUBTS.index(fact.outcome)
