"""Makes an operation of its stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from breaker.run.facts import Stage
from breaker.run.words import Effect, State

# By names that are quick to find: a word takes ten times as long by its kind.
_PLANNED, _EXECUTING, _SUCCEEDED, _FAILED, _UNKNOWN = (
    State.PLANNED,
    State.EXECUTING,
    State.SUCCEEDED,
    State.FAILED,
    State.UNKNOWN,
)
_WRITE = Effect.WRITE
# After these nobody knows whether it happened.
_OPEN_ENDED = (_EXECUTING, _UNKNOWN)
# Of two ends that an attempt is said to have had at the same place in the run, the one that promises least holds.
_PROMISES = (_PLANNED, _EXECUTING, _SUCCEEDED, _FAILED, _UNKNOWN)


class Operation(NamedTuple):
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


def operation(stages: Sequence[Stage]) -> Operation:
    """One operation of its stages, which are in their order: of most that they tell, the last one holds."""
    needs = reference = arguments = at_s = required = None
    effect, attempts = Effect.READ, 0
    replaces: tuple[str, ...] = ()
    results: list[str] = []
    for one in stages:
        if one.effect is _WRITE:
            effect = one.effect
        if one.attempt > attempts and one.state is not _PLANNED:
            attempts = one.attempt
        if one.required is not None:
            required = bool(required) or one.required
        if one.replaces:
            replaces += one.replaces
        if one.result is not None:
            results.append(one.result)
        needs = one.needs or needs
        reference, arguments = one.reference or reference, one.arguments or arguments
        at_s = at_s if one.at_s is None else one.at_s
    first, last, key = stages[0], stages[-1], _key(stages)
    state, at = _state(stages, effect, harmless=effect is Effect.READ or key is not None)
    return Operation(
        first.id,
        first.seq,
        last.seq,
        first.tool,
        effect,
        state,
        attempts,
        needs or (),
        tuple(dict.fromkeys(replaces)),
        effect is _WRITE if required is None else required,
        key,
        reference,
        None if state is _SUCCEEDED else at.error,
        state is _FAILED and at.retryable is True,
        arguments,
        frozenset(results),
        at.seconds,
        at_s,
    )


def _key(stages: Sequence[Stage]) -> str | None:
    """The key by which the other side sees that all attempts are the same; None where one had none, or another."""
    keys = {one.idempotency_key for one in stages if one.idempotency_key is not None}
    if len(keys) != 1:
        return None
    began = min((one.attempt for one in stages if one.state is not _PLANNED), default=None)
    keyed = min(one.attempt for one in stages if one.idempotency_key is not None)
    return keys.pop() if began is None or keyed <= began else None


def _state(stages: Sequence[Stage], effect: Effect, *, harmless: bool) -> tuple[State, Stage]:
    """What all attempts together come to, and the stage that says so; `harmless` says that two do what one does.

    An attempt that was never heard of again when the next began may have happened.
    """
    attempts: dict[int, Stage] = {}
    for one in stages:
        before = attempts.get(one.attempt)
        if before is None or _overtakes(one, before):
            attempts[one.attempt] = one
    if len(attempts) == 1:
        (only,) = attempts.values()
        return only.state, only
    newest = attempts[max(attempts)]
    lost = [one for one in attempts.values() if one is not newest and one.state in _OPEN_ENDED]
    won = [one for one in attempts.values() if one.state is _SUCCEEDED]
    if lost and not harmless:
        return _UNKNOWN, lost[-1]
    if won and (harmless or newest.state not in _OPEN_ENDED):
        return _SUCCEEDED, won[-1]
    if lost and effect is _WRITE and newest.state is _FAILED:
        return _UNKNOWN, lost[-1]
    return newest.state, newest


def _overtakes(one: Stage, before: Stage) -> bool:
    """Whether a stage that was told later says more: an end more than a begin, a begin more than a plan.

    Of several ends at one place in the run the one that promises least.
    """
    progress, other = _progress(one), _progress(before)
    if progress != other or one.seq != before.seq:
        return progress >= other
    return _PROMISES.index(one.state) >= _PROMISES.index(before.state)


def _progress(stage: Stage) -> int:
    if stage.state is _PLANNED:
        return 0
    return 1 if stage.state is _EXECUTING else 2
