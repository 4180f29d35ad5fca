"""Puts what is known of runs into the shapes of the door."""

from collections.abc import Iterable

from breaker.api.runs import shapes
from breaker.api.shaping import clock
from breaker.done import Ruling
from breaker.run import Check, Operation, Step, hindrance
from breaker.switchboard import Followed
from breaker.switchboard.last_runs import Last, LastRun


def of_ruling(run: str, ruling: Ruling) -> shapes.DoneShape:
    """A decision as an agent reads it."""
    return {
        "run": run,
        "decision": ruling.completion.value,
        "completion_allowed": ruling.completion_allowed,
        "reason": ruling.reason.value,
        "reasons": [reason.value for reason in ruling.reasons],
        "next": ruling.next.value,
        "message": ruling.message,
        "notice": ruling.notice,
        "claimed": ruling.claimed,
        "answers": ruling.answers,
        "hand_backs": ruling.hand_backs,
        "last": None if ruling.last is None else of_step(ruling.last),
        "succeeded": _named(ruling.succeeded),
        "failed": _named(ruling.failed),
        "unknown": _named(ruling.unknown),
        "open": _named(ruling.open),
        "never_started": _named(ruling.never_started),
        "missing": list(ruling.missing),
        "checks": _checks(ruling.checks),
    }


def of_run(name: str, followed: Followed, ruling: Ruling) -> shapes.RunShape:
    """A run as people read it."""
    run = followed.run
    return {
        "run": name,
        "mark": followed.mark,
        "began": None if followed.began is None else clock(followed.began),
        "overfull": run.overfull,
        "steps": [of_step(step) for step in run.steps],
        "operations": [_operation(followed, one) for one in run.operations],
        "checks": _checks(run.checks),
        "done": of_ruling(name, ruling),
    }


def of_step(step: Step) -> shapes.StepShape:
    """An answer in a run: how the protocol ended, and apart from it what the detector said."""
    return {
        "id": step.id,
        "seq": step.seq,
        "target": step.target,
        "protocol": {
            "ended": step.ended.value,
            "status": step.status,
            "end_mark": step.end_mark,
            "finish": step.finish and step.finish.value,
        },
        "detector": {
            "verdict": step.verdict.value,
            "class": step.blame.value,
            "cause": step.cause and step.cause.value,
            "confidence": step.confidence.value,
            "why": step.why,
        },
        "tool_calls": step.tool_calls,
        "says": step.says and step.says.value,
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
    }


def of_last(last: Last) -> shapes.RunsShape:
    """The last decisions, and how often a claim of completion was untrue."""
    return {
        "claims": [
            {"provider": provider, "claimed": count, "prevented": last.prevented.get(provider, 0)}
            for provider, count in sorted(last.claimed.items())
        ],
        "runs": [_last(one) for one in last.runs],
    }


def _operation(followed: Followed, one: Operation) -> shapes.OperationShape:
    hindered = hindrance(followed.run, one)
    return {
        "id": one.id,
        "tool": one.tool,
        "seq": one.seq,
        "state": one.state.value,
        "effect": one.effect.value,
        "required": one.required,
        "attempts": one.attempts,
        "needs": list(one.needs),
        "replaces": list(one.replaces),
        "idempotency_key": one.idempotency_key,
        "reference": one.reference,
        "error": one.error,
        "retryable": one.retryable,
        "seconds": one.seconds,
        "at_s": one.at_s,
        "may_start": hindered is None,
        "why_not": None if hindered is None else hindered.why.value,
        "waits_for": [] if hindered is None else list(hindered.waits_for),
    }


def _named(operations: Iterable[Operation]) -> list[shapes.NamedShape]:
    return [{"id": one.id, "tool": one.tool} for one in operations]


def _checks(checks: Iterable[Check]) -> list[shapes.CheckShape]:
    return [{"id": one.id, "seq": one.seq, "name": one.name, "outcome": one.outcome.value} for one in checks]


def _last(one: LastRun) -> shapes.LastShape:
    return {
        "mark": one.mark,
        "ago_s": round(one.ago_s, 3),
        "decision": one.completion.value,
        "reason": one.reason.value,
        "provider": one.provider,
        "verdict": one.verdict,
        "answers": one.answers,
        "operations": one.operations,
        "prevented": one.prevented,
    }
