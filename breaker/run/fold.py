"""Makes a run of its facts, in whatever order and however often they came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from breaker.run import codec
from breaker.run.facts import Check, Fact, Stage, Step
from breaker.run.words import Effect, State

_F = TypeVar("_F", Step, Stage, Check)
_T = TypeVar("_T")

# After these nobody knows whether it happened.
_OPEN_ENDED = (State.EXECUTING, State.UNKNOWN)
# Of two ends that an attempt is said to have had at the same place in the run, the one that promises least holds.
_PROMISES = (State.PLANNED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One thing that is to happen, as all its stages together say it.

    `seq` is its first stage's, `ended_seq` its last one's. `attempts` is how many were begun. What isn't known is None.
    """

    id: str
    seq: int
    ended_seq: int
    tool: str
    effect: Effect
    state: State
    attempts: int
    needs: tuple[str, ...]
    replaces: tuple[str, ...]
    required: bool
    idempotency_key: str | None
    reference: str | None
    error: str | None
    retryable: bool
    arguments: str | None
    results: frozenset[str]
    seconds: float | None
    at_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
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
        return next((one for one in self.operations if one.id == id), None)

    def replaced(self, operation: Operation) -> bool:
        """Whether it failed or never began, and a later one that does the same in another way has succeeded."""
        return operation.state in (State.FAILED, State.PLANNED) and any(
            operation.id in one.replaces and one.seq > operation.seq and one.state is State.SUCCEEDED
            for one in self.operations
        )

    def has(self, id: str) -> bool:  # noqa: A002 # a fact's name
        """Whether an operation has succeeded, itself or in another way."""
        found = self.operation(id)
        return found is not None and (found.state is State.SUCCEEDED or self.replaced(found))


def fold(facts: Iterable[Fact], *, overfull: bool = False) -> Run:
    """The run that these facts tell of; the same for the same set of them."""
    known = set(facts)
    steps = {one.id: one for one in _sorted(fact for fact in known if isinstance(fact, Step))}
    checks = {one.name: one for one in _sorted(fact for fact in known if isinstance(fact, Check))}
    stages = defaultdict[str, list[Stage]](list)
    for one in _sorted(fact for fact in known if isinstance(fact, Stage)):
        stages[one.id].append(one)
    operations = [_operation(found) for found in stages.values()]
    return Run(
        steps=tuple(sorted(steps.values(), key=_order)),
        operations=tuple(sorted(operations, key=lambda one: (one.seq, one.id))),
        checks=tuple(sorted(checks.values(), key=_order)),
        overfull=overfull,
    )


def _order(fact: Fact) -> tuple[int, str]:
    return fact.seq, fact.id


def _sorted(facts: Iterable[_F]) -> list[_F]:
    """In the order of the run; what has the same place, in that of its text, so that arrival never decides."""
    found = list(facts)
    if len({_order(fact) for fact in found}) == len(found):
        return sorted(found, key=_order)
    return sorted(found, key=lambda fact: (*_order(fact), codec.write(fact)))


def _operation(stages: list[Stage]) -> Operation:
    """One operation of its stages, which are in their order."""
    first, last = stages[0], stages[-1]
    effect = Effect.WRITE if any(one.effect is Effect.WRITE for one in stages) else Effect.READ
    key = _last(one.idempotency_key for one in stages)
    state, at = _state(stages, effect, harmless=effect is Effect.READ or key is not None)
    said = [one.required for one in stages if one.required is not None]
    return Operation(
        id=first.id,
        seq=first.seq,
        ended_seq=last.seq,
        tool=first.tool,
        effect=effect,
        state=state,
        attempts=max((one.attempt for one in stages if one.state is not State.PLANNED), default=0),
        needs=_last(one.needs or None for one in stages) or (),
        replaces=tuple(dict.fromkeys(old for one in stages for old in one.replaces)),
        required=any(said) if said else effect is Effect.WRITE,
        idempotency_key=key,
        reference=_last(one.reference for one in stages),
        error=None if state is State.SUCCEEDED else at.error,
        retryable=state is State.FAILED and at.retryable is True,
        arguments=_last(one.arguments for one in stages),
        results=frozenset(one.result for one in stages if one.result is not None),
        seconds=at.seconds,
        at_s=_last(one.at_s for one in stages),
    )


def _state(stages: list[Stage], effect: Effect, *, harmless: bool) -> tuple[State, Stage]:
    """What all attempts together come to, and the stage that says so; `harmless` says that two do what one does.

    An attempt that was never heard of again when the next began may have happened.
    """
    attempts: dict[int, Stage] = {}
    for one in stages:
        before = attempts.get(one.attempt)
        if before is None or _weight(before) <= _weight(one):
            attempts[one.attempt] = one
    newest = attempts[max(attempts)]
    lost = [one for one in attempts.values() if one is not newest and one.state in _OPEN_ENDED]
    won = [one for one in attempts.values() if one.state is State.SUCCEEDED]
    if lost and not harmless:
        return State.UNKNOWN, lost[-1]
    if won and (harmless or newest.state not in _OPEN_ENDED):
        return State.SUCCEEDED, won[-1]
    if lost and effect is Effect.WRITE and newest.state is State.FAILED:
        return State.UNKNOWN, lost[-1]
    return newest.state, newest


def _weight(stage: Stage) -> tuple[int, int, int]:
    """An end stands before a begin, whichever was told later, and a begin before a plan; of several ends the last."""
    progress = 2 if stage.state.ended else int(stage.state is State.EXECUTING)
    return progress, stage.seq, _PROMISES.index(stage.state)


def _last(values: Iterable[_T | None]) -> _T | None:
    found = None
    for value in values:
        found = found if value is None else value
    return found
