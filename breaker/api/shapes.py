"""The JSON that the door speaks: one shape for each thing."""

from typing import NotRequired

# pydantic reads the standard library's TypedDict from Python 3.12 on only.
from typing_extensions import TypedDict


class UnableShape(TypedDict):
    """A target that can't take a step: the needs that it lacks, and its limit where the prompt is longer."""

    target: str
    lacks: list[str]
    max_input_tokens: int | None


class DecisionShape(TypedDict):
    """Where the next step of a route should go."""

    route: str
    target: str
    provider: str
    model: str
    base_url: str
    wire: str
    api_key_env: str | None
    role: str
    state: str
    primary: str
    reason: str
    since_s: float | None
    until_s: float | None
    generation: int
    valid_for_s: float
    stale: bool
    age_s: NotRequired[float | None]
    retry_after_s: NotRequired[float | None]
    able: NotRequired[bool]
    unable: NotRequired[list[UnableShape]]


# `class` is a keyword, so it can't stand in a class's body.
Classed = TypedDict("Classed", {"verdict": str, "class": str})


class VerdictShape(Classed):
    """What a reported answer was."""

    id: str
    why: str


class JudgedShape(Classed):
    """What an exchange was; `facts` are those of a report that lacks only its target and id."""

    id: str
    cause: str | None
    confidence: str
    why: str
    finish_reason: str | None
    facts: dict[str, str | int | float | bool]


class AnswerShape(Classed):
    """A judged answer behind a move, or a target's last one."""

    id: str
    source: str
    part: str
    at: str
    ago_s: float
    late: bool
    ended: str
    streamed: bool
    status: int | None
    headers_s: float | None
    first_byte_s: float | None
    seconds: float
    retry_after_s: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    suspect_timing: bool
    self_suspect: bool


class AutomaticShape(TypedDict):
    """What a circuit would be without the hold by hand that lies over it."""

    state: str
    cause: str | None
    since_s: float | None
    until_s: float | None


class HeldShape(TypedDict):
    """A hold by hand; `automatic` goes on underneath, and is what remains when the hold ends."""

    opened: bool
    who: str
    why: str
    since_s: float
    until_s: float
    automatic: AutomaticShape


class FirstByteShape(TypedDict):
    """The newest first byte that a target has sent."""

    first_byte_s: float
    ago_s: float


class TargetShape(TypedDict):
    """A target with its circuit and its last answers."""

    target: str
    provider: str
    model: str
    wire: str
    api_key_env: str | None
    can: list[str] | None
    max_input_tokens: int | None
    routes: list[str]
    state: str
    cause: str | None
    since_s: float | None
    until_s: float | None
    generation: int
    held: HeldShape | None
    hold_s: float
    last_first_byte: FirstByteShape | None
    last_answer: AnswerShape | None
    usual_first_byte_s: float | None
    sluggish_above_s: float | None
    policy: dict[str, float | bool]
    stale: bool


class MeasureShape(TypedDict):
    """A number that was compared, and the limit that it was compared with."""

    what: str
    value: float
    limit: float


class MoveShape(TypedDict):
    """A change of a circuit with the numbers that were compared and the answers that caused it."""

    target: str
    at: str
    ago_s: float
    before: str
    after: str
    cause: str
    why: str
    generation: int
    measures: list[MeasureShape]
    answers: list[AnswerShape]


class TargetsShape(TypedDict):
    """What is known of all targets; `stale` and `age_s` are those of the oldest."""

    stale: bool
    age_s: float | None
    self_suspect_s: float | None
    targets: list[TargetShape]


class MovesShape(TypedDict):
    """The newest moves of a target, or of all (`target` is null), newest first."""

    target: str | None
    moves: list[MoveShape]


class FlawShape(TypedDict):
    """What is wrong with one report of several: which it is, by its place and its id, and in which fact."""

    index: int
    id: str | None
    field: str | None
    wrong: str


class ReportsShape(TypedDict):
    """What became of reports: how many count, what each was, and what was wrong with the others."""

    accepted: int
    problems: list[FlawShape]
    answers: list[VerdictShape]


class HandShape(TypedDict):
    """A hold by hand, as far as it decides."""

    opened: bool
    since_s: float
    until_s: float


class CircuitShape(TypedDict):
    """A circuit, as far as it decides: `open_s` is null while it is closed, and 0 once its hold is over."""

    generation: int
    cause: str | None
    since_s: float | None
    open_s: float | None
    hold_s: float
    held: HandShape | None


class PlannedShape(TypedDict):
    """A target as those need it who choose among several."""

    target: str
    provider: str
    model: str
    base_url: str
    wire: str
    api_key_env: str | None
    can: list[str] | None
    max_input_tokens: int | None
    circuit: CircuitShape
    policy: dict[str, float | bool]


class ReloadedShape(TypedDict):
    """That the configuration was read anew."""

    reloaded: bool


class RouteShape(TypedDict):
    """A route: its targets, the preferred one first, how many of them may stay out, and whether that is old news."""

    route: str
    targets: list[str]
    max_open_share: float
    stale: bool


class RoutesShape(TypedDict):
    """All that decides where the steps of each route go; `stale` says that one of them is."""

    stale: bool
    routes: list[RouteShape]
    targets: list[PlannedShape]
