"""The JSON that the door speaks: one shape for each thing, times in seconds rounded to milliseconds."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NotRequired

# pydantic reads the standard library's TypedDict from Python 3.12 on only.
from typing_extensions import TypedDict

from breaker.answer import Answer
from breaker.circuit import Held, Move, State
from breaker.log import Entry, Log
from breaker.route import Decision, Route
from breaker.switchboard import Standing, newest
from breaker.verdict import Judgement


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
    primary: str
    reason: str
    since_s: float | None
    until_s: float | None
    generation: int
    valid_for_s: float
    stale: bool
    retry_after_s: NotRequired[float | None]


# `class` is a keyword, so it can't stand in a class's body.
_Classed = TypedDict("_Classed", {"verdict": str, "class": str})


class VerdictShape(_Classed):
    """What a reported answer was."""

    id: str
    why: str


class JudgedShape(_Classed):
    """What an exchange was; `facts` are those of a report that lacks only its target and id."""

    id: str
    cause: str | None
    confidence: str
    why: str
    finish_reason: str | None
    facts: dict[str, str | int | float | bool]


class AnswerShape(_Classed):
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
    prompt_tokens: int | None
    completion_tokens: int | None


class HeldShape(TypedDict):
    """A hold by hand."""

    opened: bool
    who: str
    why: str
    since_s: float
    until_s: float


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
    routes: list[str]
    state: str
    cause: str | None
    since_s: float | None
    until_s: float | None
    generation: int
    held: HeldShape | None
    last_first_byte: FirstByteShape | None
    last_answer: AnswerShape | None


class MoveShape(TypedDict):
    """A change of a circuit with the answers that caused it."""

    at: str
    ago_s: float
    before: str
    after: str
    cause: str
    why: str
    generation: int
    answers: list[AnswerShape]


class TargetsShape(TypedDict):
    """What is known of all targets, and how old that is."""

    stale: bool
    age_s: float | None
    targets: list[TargetShape]


class MovesShape(TypedDict):
    """The newest moves of a target, newest first."""

    target: str
    moves: list[MoveShape]


class FlawShape(TypedDict):
    """What is wrong with one report of several."""

    index: int
    wrong: str


class ReportsShape(TypedDict):
    """What became of reports: how many count, what each was, and what was wrong with the others."""

    accepted: int
    problems: list[FlawShape]
    answers: list[VerdictShape]


def of_decision(decision: Decision) -> DecisionShape:
    """A decision as an agent reads it."""
    target = decision.target
    shape: DecisionShape = {
        "route": decision.route.name,
        "target": target.name,
        "provider": target.provider.name,
        "model": target.model,
        "base_url": target.provider.base_url,
        "wire": target.provider.wire,
        "api_key_env": target.provider.api_key_env,
        "role": decision.role.value,
        "primary": decision.route.targets[0].name,
        "reason": decision.reason.value,
        "since_s": _ms(decision.since_s),
        "until_s": _ms(decision.until_s),
        "generation": decision.generation,
        "valid_for_s": round(decision.valid_for_s, 3),
        "stale": decision.stale,
    }
    if decision.retry_after_s is not None:
        shape["retry_after_s"] = _ms(decision.retry_after_s)
    return shape


def of_standing(standing: Standing, routes: Sequence[Route], now: float) -> TargetShape:
    """A target as it stands at `now`."""
    target, circuit = standing.target, standing.circuit
    last = newest(standing.log)
    held = circuit.held if standing.state in (State.HELD_OPEN, State.HELD_CLOSED) else None
    return {
        "target": target.name,
        "provider": target.provider.name,
        "model": target.model,
        "wire": target.provider.wire,
        "routes": [route.name for route in routes if target in route.targets],
        "state": standing.state.value,
        "cause": "manual" if held else circuit.cause and circuit.cause.value,
        "since_s": _ago(since(standing), now),
        "until_s": None if standing.until is None else round(standing.until - now, 3),
        "generation": circuit.generation,
        "held": None if held is None else _of_held(held, now),
        "last_first_byte": _of_first_byte(standing.log, now),
        "last_answer": None if last is None else of_entry(last, now),
    }


def of_move(move: Move, now: float) -> MoveShape:
    """A move as it is told at `now`."""
    return {
        "at": clock(move.at),
        "ago_s": _ago_s(move.at, now),
        "before": move.before.value,
        "after": move.after.value,
        "cause": move.cause.value,
        "why": move.why,
        "generation": move.circuit.generation,
        "answers": [of_entry(entry, now) for entry in move.answers],
    }


def of_entry(entry: Entry, now: float) -> AnswerShape:
    """A judged answer as it is told at `now`."""
    answer = entry.answer
    return {
        "id": answer.id,
        "source": answer.source.value,
        "part": answer.part.value,
        "at": clock(entry.at),
        "ago_s": _ago_s(entry.at, now),
        "verdict": entry.verdict.value,
        "class": entry.blame.value,
        "late": entry.late,
        "ended": answer.ended.value,
        "streamed": answer.streamed,
        "status": answer.status,
        "headers_s": _ms(answer.headers_s),
        "first_byte_s": _ms(answer.first_byte_s),
        "seconds": round(answer.seconds, 3),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
    }


def of_verdict(answer: Answer, judgement: Judgement) -> VerdictShape:
    """What a reported answer was."""
    return {
        "id": answer.id,
        "verdict": judgement.verdict.value,
        "class": judgement.blame.value,
        "why": judgement.why,
    }


def since(standing: Standing) -> float | None:
    """Since when a circuit has been as it is, in the store's time; None where it has never moved."""
    circuit = standing.circuit
    if standing.state in (State.HELD_OPEN, State.HELD_CLOSED) and circuit.held:
        return circuit.held.since
    if standing.state is State.HALF_OPEN:
        return circuit.open_until
    return circuit.moved_at or None


def newest_first_byte(log: Log) -> Entry | None:
    """The entry that counted last among those that had a first byte."""
    entries = [entry for entry in (*log.probes, *log.reports) if entry.answer.first_byte_s is not None]
    return max(entries, key=lambda entry: entry.at, default=None)


def clock(at: float) -> str:
    """A moment as RFC 3339 has it, in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _of_held(held: Held, now: float) -> HeldShape:
    return {
        "opened": held.opened,
        "who": held.who,
        "why": held.why,
        "since_s": _ago_s(held.since, now),
        "until_s": round(held.until - now, 3),
    }


def _of_first_byte(log: Log, now: float) -> FirstByteShape | None:
    entry = newest_first_byte(log)
    if entry is None or entry.answer.first_byte_s is None:
        return None
    return {"first_byte_s": round(entry.answer.first_byte_s, 3), "ago_s": _ago_s(entry.at, now)}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _ago(at: float | None, now: float) -> float | None:
    return None if at is None else _ago_s(at, now)


def _ago_s(at: float, now: float) -> float:
    """Never negative: the store's clock may have been set back since."""
    return max(round(now - at, 3), 0.0)
