"""Says whether an operation may begin, and whether it may be tried again."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from breaker.run.fold import Operation, Run
from breaker.run.words import Effect, State


class Why(StrEnum):
    """Why an operation may not begin."""

    NEEDS = "needs"  # what it depends on hasn't succeeded
    NOBODY_KNOWS = "nobody_knows"  # it may have happened already
    NOT_AGAIN = "not_again"  # it failed, and nothing says that nothing happened
    DONE = "done"  # it has happened


class Hindrance(NamedTuple):
    """Why an operation may not begin, and which others it waits for."""

    why: Why
    waits_for: tuple[str, ...] = ()


def hindrance(run: Run, operation: Operation | None, needs: Iterable[str] = ()) -> Hindrance | None:
    """What keeps an operation from being begun; None where nothing does. One that isn't known yet has only `needs`."""
    waits = tuple(need for need in (operation.needs if operation else needs) if not run.has(need))
    if waits:
        return Hindrance(Why.NEEDS, waits)
    if operation is None or operation.effect is Effect.READ or operation.state is State.PLANNED:
        return None
    if operation.state is State.SUCCEEDED:
        return Hindrance(Why.DONE)
    if operation.idempotency_key is not None or operation.retryable:
        return None
    return Hindrance(Why.NOT_AGAIN if operation.state is State.FAILED else Why.NOBODY_KNOWS)


def blocked(run: Run, operation: Operation, seen: frozenset[str] = frozenset()) -> bool:
    """Whether one that hasn't begun waits for another that failed, is unknown, or is blocked itself."""
    for need in operation.needs:
        other = run.operation(need)
        if other is None or need in seen or run.has(need):
            continue
        if other.state in (State.FAILED, State.UNKNOWN):
            return True
        if other.state is State.PLANNED and blocked(run, other, seen | {operation.id}):
            return True
    return False
