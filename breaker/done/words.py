"""The words of the ruling whether a task is done."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from breaker.run import Check, Operation, Step
from breaker.verdict import Verdict


class Completion(StrEnum):
    """What a task has come to."""

    COMPLETED = "completed"
    PARTIALLY_COMPLETED = "partially_completed"  # nothing more is to come, and part of it has happened
    FAILED = "failed"  # nothing more is to come, and nothing of it has happened
    NOT_FINISHED = "not_finished"  # something is still open, or it was stopped


class Ground(StrEnum):
    """Why a task is, or isn't, completed."""

    AGREED = "agreed"  # all that is known of the run says so
    NO_ANSWER = "no_answer"  # there is no answer yet
    NOT_AN_ANSWER = "not_an_answer"  # the last answer wasn't one; its verdict says what it was
    OUTPUT_LIMIT = "output_limit"  # the last answer was ended by the limit of tokens
    CALLS_OPEN = "calls_open"  # the last answer calls tools, so that another must follow
    OPERATION_OPEN = "operation_open"  # one that is needed is under way
    OPERATION_MISSING = "operation_missing"  # one that is needed hasn't begun, though nothing is in its way
    OPERATION_FAILED = "operation_failed"
    OPERATION_UNKNOWN = "operation_unknown"  # nobody knows whether one that is needed happened
    OPERATION_BLOCKED = "operation_blocked"  # one that is needed can't begin, since another didn't succeed
    CHECK_FAILED = "check_failed"
    CHECK_UNKNOWN = "check_unknown"
    CLAIMED = "claimed"  # completion was claimed, and nothing shows that anything was done
    ANNOUNCED = "announced"  # the last answer says what comes next and does nothing
    SAME_CALLS = "same_calls"  # the same tools were called with the same arguments again and again
    POSSIBLE_DEAD_LOOP = "possible_dead_loop"  # nothing new has come of the last turns
    STEP_LIMIT = "step_limit"
    OVERFULL = "overfull"  # more facts came than are kept, so nobody can say


# Where nothing but these speaks against it, nothing more is to come.
OVER = frozenset(
    {
        Ground.OPERATION_FAILED,
        Ground.OPERATION_UNKNOWN,
        Ground.OPERATION_BLOCKED,
        Ground.CHECK_FAILED,
        Ground.CHECK_UNKNOWN,
    }
)


class Next(StrEnum):
    """What the agent should do now."""

    FINISH = "finish"  # tell its user that it is done
    GO_ON = "go_on"  # carry out what is open; where there is a notice, hand it to the model
    ASK_AGAIN = "ask_again"  # ask for the last answer again, from whoever `GET /route` names
    STOP = "stop"  # go on no longer, and tell its user the message


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """How long a task may go on: answers, times that a model is handed its task back, equal calls in a row, and turns
    without anything new.
    """

    steps: int = 50
    hand_backs: int = 2
    same_calls: int = 3
    turns: int = 6


DEFAULT_BOUNDS = Bounds()
# The most that one who asks may want of these.
MAX_STEPS, MAX_HAND_BACKS = 1_000, 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """Whether a task may be called done, and on what that rests.

    `reasons` are all that speak against it, the first one decides; AGREED alone where none does. `last` is the last
    answer, None where there is none; `claimed` whether an agent would take it for the task's end. `message` is a
    sentence for the user that says no more than what is known; `notice` one for the model, None where none is due.
    `unknown` and `open` are operations that are needed, and others that write: they may have happened. `succeeded`,
    `failed` and `never_started` are needed ones, and `missing` ids that others need and nobody has told of.
    """

    completion: Completion
    reasons: tuple[Ground, ...]
    next: Next
    message: str
    notice: str | None
    claimed: bool
    hand_backs: int
    answers: int
    last: Step | None
    succeeded: tuple[Operation, ...]
    failed: tuple[Operation, ...]
    unknown: tuple[Operation, ...]
    open: tuple[Operation, ...]
    never_started: tuple[Operation, ...]
    missing: tuple[str, ...]
    checks: tuple[Check, ...]

    @property
    def completion_allowed(self) -> bool:
        """Whether the agent may tell its user that the task is done."""
        return self.completion is Completion.COMPLETED

    @property
    def reason(self) -> Ground:
        """The reason that decides."""
        return self.reasons[0]

    @property
    def verdict(self) -> Verdict | None:
        """What the last answer was."""
        return None if self.last is None else self.last.verdict

    @property
    def prevented(self) -> bool:
        """Whether an agent would have called the task done, and it isn't."""
        return self.claimed and not self.completion_allowed
