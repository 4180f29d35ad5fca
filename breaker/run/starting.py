"""Says whether an operation may begin, and whether it may be tried again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from breaker.run.fold import Run
from breaker.run.operation import Operation
from breaker.run.words import Effect, State

# Nothing comes of these by themselves.
_STANDING = frozenset({State.PLANNED, State.FAILED, State.UNKNOWN})


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


def blocked(run: Run) -> frozenset[str]:
    """The ids of those that haven't begun and can't any more.

    What they need failed, is unknown, or can't begin itself; those that wait for each other in a ring never will.
    """
    waits = _in_the_way(run)
    waiting = defaultdict[str, list[str]](list)
    for name, needs in waits.items():
        for need in needs:
            waiting[need].append(name)
    free = [name for name, needs in waits.items() if not needs]
    for name in free:
        for other in waiting[name]:
            waits[other].remove(name)
            if not waits[other]:
                free.append(other)
    return frozenset(name for name, needs in waits.items() if needs)


def _in_the_way(run: Run) -> dict[str, set[str]]:
    """For each operation that hasn't begun, what it needs of which nothing comes as it stands."""
    stand = {one.id for one in run.operations if one.state in _STANDING and not run.replaced(one)}
    return {one.id: stand.intersection(one.needs) for one in run.operations if one.state is State.PLANNED}
