"""The JSON that the door speaks of runs: one shape for each thing."""

# pydantic reads the standard library's TypedDict from Python 3.12 on only.
from typing_extensions import TypedDict

from breaker.api.shapes import Classed, FlawShape


class ProtocolShape(TypedDict):
    """How the exchange ended."""

    ended: str
    status: int | None
    end_mark: bool | None
    finish: str | None


class DetectorShape(Classed):
    """What an answer was judged to be, and why."""

    cause: str | None
    confidence: str
    why: str


class StepShape(TypedDict):
    """An answer in a run."""

    id: str
    seq: int
    target: str
    protocol: ProtocolShape
    detector: DetectorShape
    tool_calls: int | None
    says: str | None
    prompt_tokens: int | None
    completion_tokens: int | None


class NamedShape(TypedDict):
    """An operation by its id, and its tool."""

    id: str
    tool: str


class OperationShape(NamedShape):
    """An operation, and whether it may begin now; `seq` is its first stage's."""

    seq: int
    state: str
    effect: str
    required: bool
    attempts: int
    needs: list[str]
    replaces: list[str]
    idempotency_key: str | None
    reference: str | None
    error: str | None
    retryable: bool
    seconds: float | None
    at_s: float | None
    may_start: bool
    why_not: str | None
    waits_for: list[str]


class CheckShape(TypedDict):
    """What a check of the task's own said."""

    id: str
    seq: int
    name: str
    outcome: str


class DoneShape(TypedDict):
    """Whether a task may be called done, and on what that rests."""

    run: str
    decision: str
    completion_allowed: bool
    reason: str
    reasons: list[str]
    next: str
    message: str
    notice: str | None
    claimed: bool
    answers: int
    hand_backs: int
    last: StepShape | None
    succeeded: list[NamedShape]
    failed: list[NamedShape]
    unknown: list[NamedShape]
    open: list[NamedShape]
    never_started: list[NamedShape]
    missing: list[str]
    checks: list[CheckShape]


class RunShape(TypedDict):
    """All that is known of a run."""

    run: str
    mark: str
    began: str | None
    overfull: bool
    steps: list[StepShape]
    operations: list[OperationShape]
    checks: list[CheckShape]
    done: DoneShape


class AddedShape(TypedDict):
    """What became of facts: how many are taken, and what was wrong with the others; `overfull` if some aren't kept."""

    accepted: int
    problems: list[FlawShape]
    overfull: bool


class ClaimsShape(TypedDict):
    """How often an agent would have called a task done on a provider's answer, and how often it wasn't."""

    provider: str
    claimed: int
    prevented: int


class LastShape(TypedDict):
    """What was decided of a run, without its id."""

    mark: str
    ago_s: float
    decision: str
    reason: str
    provider: str | None
    verdict: str | None
    answers: int
    operations: int
    prevented: bool


class RunsShape(TypedDict):
    """The last decisions about runs, newest first."""

    claims: list[ClaimsShape]
    runs: list[LastShape]
