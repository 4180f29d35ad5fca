"""Whether a task is done, as an agent uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from breaker.done import Ruling
    from breaker.run import Operation


class DecidedBy(StrEnum):
    """Who said whether a task is done."""

    SERVICE = "service"  # the service, by all that it was told of the run
    LOCAL = "local"  # the client itself, by the same rules and what it knows: the service doesn't answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """Whether a task may be called done.

    `decision` is completed, partially_completed, failed or not_finished; `reasons` are all that speak against it and
    `reason` the one that decides. `next` says what to do: finish, go_on (with `notice`, if there is one, handed to the
    model), ask_again or stop. `message` is for the user, and claims no more than is known. `verdict` is the last
    answer's, None without one. `succeeded`, `failed`, `unknown` and `never_started` are the tools of the operations on
    which the task depends; `unknown` holds all that write, since they may have happened. `source` is who decided.
    """

    completion_allowed: bool
    decision: str
    reason: str
    reasons: tuple[str, ...]
    next: str
    message: str
    notice: str | None
    verdict: str | None
    succeeded: tuple[str, ...]
    failed: tuple[str, ...]
    unknown: tuple[str, ...]
    never_started: tuple[str, ...]
    source: DecidedBy

    def __bool__(self) -> bool:
        """Whether the agent may tell its user that the task is done."""
        return self.completion_allowed


def read(said: Mapping[str, Any]) -> Done:
    """The decision in an answer to `GET /runs/{run}/done`. Raises KeyError or TypeError where it is none."""
    last = said["last"]
    return Done(
        completion_allowed=said["completion_allowed"] is True and said["decision"] == "completed",
        decision=str(said["decision"]),
        reason=str(said["reason"]),
        reasons=tuple(map(str, said["reasons"])),
        next=str(said["next"]),
        message=str(said["message"]),
        notice=None if said["notice"] is None else str(said["notice"]),
        verdict=None if last is None else str(last["detector"]["verdict"]),
        succeeded=_tools(said["succeeded"]),
        failed=_tools(said["failed"]),
        unknown=_tools(said["unknown"]),
        never_started=_tools(said["never_started"]),
        source=DecidedBy.SERVICE,
    )


def local(ruling: Ruling) -> Done:
    """The client's own decision."""
    return Done(
        completion_allowed=ruling.completion_allowed,
        decision=ruling.completion.value,
        reason=ruling.reason.value,
        reasons=tuple(reason.value for reason in ruling.reasons),
        next=ruling.next.value,
        message=ruling.message,
        notice=ruling.notice,
        verdict=ruling.verdict and ruling.verdict.value,
        succeeded=_named(ruling.succeeded),
        failed=_named(ruling.failed),
        unknown=_named(ruling.unknown),
        never_started=_named(ruling.never_started),
        source=DecidedBy.LOCAL,
    )


def _tools(said: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(str(one["tool"]) for one in said)


def _named(operations: Sequence[Operation]) -> tuple[str, ...]:
    return tuple(one.tool for one in operations)
