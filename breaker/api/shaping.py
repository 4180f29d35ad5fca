"""Puts what the switchboard knows into the shapes of the door: times in seconds, rounded to milliseconds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

from breaker import usual
from breaker.answer import Answer
from breaker.api.shapes import (
    AnswerShape,
    AutomaticShape,
    DecisionShape,
    FirstByteShape,
    HeldShape,
    MeasureShape,
    MoveShape,
    TargetShape,
    UnableShape,
    VerdictShape,
)
from breaker.circuit import Circuit, Held, Measure, Move, State, state, until
from breaker.log import Entry, Log
from breaker.route import Decision, Route, Unable
from breaker.switchboard import Standing, newest
from breaker.verdict import Judgement


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
        "state": decision.state.value,
        "primary": decision.route.targets[0].name,
        "reason": decision.reason.value,
        "since_s": ms(decision.since_s),
        "until_s": ms(decision.until_s),
        "generation": decision.generation,
        "valid_for_s": round(decision.valid_for_s, 3),
        "stale": decision.stale,
    }
    if decision.stale:
        shape["age_s"] = ms(decision.age_s)
    if decision.retry_after_s is not None:
        shape["retry_after_s"] = ms(decision.retry_after_s)
    if decision.unable:
        shape["able"] = decision.able
        shape["unable"] = [_of_unable(each) for each in decision.unable]
    return shape


def _of_unable(each: Unable) -> UnableShape:
    lacks = [ability.value for ability in each.lacks]
    return {"target": each.target, "lacks": lacks, "max_input_tokens": each.max_input_tokens}


def by_target(routes: Sequence[Route]) -> dict[str, list[str]]:
    """The names of the routes that each target is in, by its name."""
    inside = defaultdict[str, list[str]](list)
    for route in routes:
        for name in {target.name for target in route.targets}:
            inside[name].append(route.name)
    return inside


def of_standing(standing: Standing, routes: Mapping[str, Sequence[str]], now: float) -> TargetShape:
    """A target as it stands at `now`; `routes` are those that each target is in."""
    target, circuit = standing.target, standing.circuit
    last = newest(standing.log)
    return {
        "target": target.name,
        "provider": target.provider.name,
        "model": target.model,
        "wire": target.provider.wire,
        "api_key_env": target.provider.api_key_env,
        "can": None if target.can is None else [ability.value for ability in target.can],
        "max_input_tokens": target.max_input_tokens,
        "routes": list(routes[target.name]),
        "state": standing.state.value,
        "cause": standing.cause and standing.cause.value,
        "since_s": _ago(since(standing), now),
        "until_s": None if standing.until is None else round(standing.until - now, 3),
        "generation": circuit.generation,
        "held": None if standing.held is None else _of_held(standing.held, circuit, now),
        "hold_s": round(circuit.hold_s, 3),
        "last_first_byte": _of_first_byte(standing.log, now),
        "last_answer": None if last is None else of_entry(last, now),
        "usual_first_byte_s": ms(usual.typical_s(standing.log.usual)),
        "sluggish_above_s": ms(sluggish_above_s(standing)),
        "policy": asdict(standing.policy),
        "stale": standing.stale,
    }


def of_move(target: str, move: Move, now: float) -> MoveShape:
    """A target's move as it is told at `now`."""
    return {
        "target": target,
        "at": clock(move.at),
        "ago_s": _ago_s(move.at, now),
        "before": move.before.value,
        "after": move.after.value,
        "cause": move.cause.value,
        "why": move.why,
        "generation": move.circuit.generation,
        "measures": [_of_measure(measure) for measure in move.measures],
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
        "headers_s": ms(answer.headers_s),
        "first_byte_s": ms(answer.first_byte_s),
        "seconds": round(answer.seconds, 3),
        "retry_after_s": ms(answer.retry_after_s),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "suspect_timing": answer.suspect_timing,
        "self_suspect": answer.self_suspect,
    }


def of_verdict(answer: Answer, judgement: Judgement) -> VerdictShape:
    """What a reported answer was."""
    return {"id": answer.id, "verdict": judgement.verdict, "class": judgement.blame, "why": judgement.why}


def since(standing: Standing) -> float | None:
    """Since when a circuit has been as it is, in the store's time; None where it has never moved."""
    return _since(standing.circuit, standing.state) if standing.held is None else standing.held.since


def _since(circuit: Circuit, now_is: State) -> float | None:
    return circuit.open_until if now_is is State.HALF_OPEN else circuit.moved_at or None


def sluggish_above_s(standing: Standing) -> float | None:
    """A first byte above this speaks for a slump; None where nothing does: too little is known, or the rule is off."""
    return usual.limit_s(standing.log.usual, standing.policy) if standing.policy.slump else None


def newest_first_byte(log: Log) -> Entry | None:
    """The entry that counted last among those that had a first byte."""
    entries = [entry for entry in (*log.probes, *log.reports) if entry.answer.first_byte_s is not None]
    return max(entries, key=lambda entry: entry.at, default=None)


def ms(seconds: float | None) -> float | None:
    """A length of time as the door says it, to the millisecond; None stays None."""
    return None if seconds is None else round(seconds, 3)


def clock(at: float) -> str:
    """A moment as RFC 3339 has it, in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _of_held(held: Held, circuit: Circuit, now: float) -> HeldShape:
    return {
        "opened": held.opened,
        "who": held.who,
        "why": held.why,
        "since_s": _ago_s(held.since, now),
        "until_s": round(held.until - now, 3),
        "automatic": _of_automatic(replace(circuit, held=None), now),
    }


def _of_automatic(circuit: Circuit, now: float) -> AutomaticShape:
    ends = until(circuit, now)
    now_is = state(circuit, now)
    return {
        "state": now_is.value,
        "cause": circuit.cause and circuit.cause.value,
        "since_s": _ago(_since(circuit, now_is), now),
        "until_s": None if ends is None else round(ends - now, 3),
    }


def _of_measure(measure: Measure) -> MeasureShape:
    return {"what": measure.what, "value": round(measure.value, 3), "limit": round(measure.limit, 3)}


def _of_first_byte(log: Log, now: float) -> FirstByteShape | None:
    entry = newest_first_byte(log)
    if entry is None or entry.answer.first_byte_s is None:
        return None
    return {"first_byte_s": round(entry.answer.first_byte_s, 3), "ago_s": _ago_s(entry.at, now)}


def _ago(at: float | None, now: float) -> float | None:
    return None if at is None else _ago_s(at, now)


def _ago_s(at: float, now: float) -> float:
    """Never negative: the store's clock may have been set back since."""
    return max(round(now - at, 3), 0.0)
