"""Says what a task has come to, to its user and to its model. What isn't done is said first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from breaker.done.words import Completion, Decision, Next, Reason
from breaker.run import Check, Operation, Outcome, Says

_MOST_NAMED = 20
# What an operation's name is made of; of those that look alike it is made once.
_LOOKS = attrgetter("tool", "error", "needs", "attempts")

_BEGINS = {
    Completion.COMPLETED: "The task is done.",
    Completion.PARTIALLY_COMPLETED: "The task is not done, only part of it is.",
    Completion.FAILED: "The task has failed: it is not done.",
    Completion.NOT_FINISHED: "The task is not done.",
}
_WHY = {
    Reason.NO_ANSWER: "The model hasn't answered.",
    Reason.OUTPUT_LIMIT: "The last answer was cut off at the limit of its length.",
    Reason.CALLS_OPEN: "The model has called tools and waits for what comes of it.",
    Reason.CLAIMED: "The model says that it is complete, but nothing shows that anything was done.",
    Reason.ANNOUNCED: "The model has only announced what it would do next.",
    Reason.SAME_CALLS: "It was stopped since it made the same calls again and again.",
    Reason.POSSIBLE_DEAD_LOOP: "It was stopped since nothing new came of its last turns.",
    Reason.OVERFULL: "It was too long to be followed.",
}
_ACTED = "The model says that it has changed something, but nothing shows that it has."
_NOTICES = {
    Reason.ANNOUNCED: "You have announced a next step and called no tool. The task is still open: do it now.",
    Reason.CLAIMED: "You have said that the task is complete, but no tool has shown that it is."
    " Do what is left, or say what keeps you from it.",
}
_ACTED_NOTICE = (
    "You have said that you changed something, but no tool that does so was called."
    " Do what is left, or say what keeps you from it."
)


def message(decision: Decision) -> str:
    """A sentence or some for the user."""
    tools = _tools(decision)
    parts = [_BEGINS[decision.completion]]
    parts += [_why(reason, decision) for reason in decision.reasons]
    parts.append(_listed("Done", decision.succeeded, tools))
    parts.append(_listed("Failed", decision.failed, tools))
    parts.append(_listed("Nobody knows whether it happened (look before it is done again)", decision.unknown, tools))
    parts.append(_listed("Not ended", decision.open, tools))
    parts.append(_listed("Not started", decision.never_started, tools))
    parts.append(_checks("Checks that failed", decision.checks, Outcome.FAILED))
    parts.append(_checks("Checks that couldn't be made", decision.checks, Outcome.UNKNOWN))
    return " ".join(part for part in parts if part)


def notice(decision: Decision) -> str | None:
    """What to tell the model where its task is handed back to it; None where nothing is to be said."""
    reason = next((reason for reason in decision.reasons if reason in _NOTICES), None)
    if decision.next is not Next.GO_ON or reason is None:
        return None
    said = _ACTED_NOTICE if reason is Reason.CLAIMED and _acted(decision) else _NOTICES[reason]
    left = _listed("Still to do", decision.never_started, _tools(decision))
    return " ".join(part for part in (said, left) if part)


def _tools(decision: Decision) -> Mapping[str, str]:
    """The tools of all operations that are told of, by their ids."""
    groups = (decision.succeeded, decision.failed, decision.unknown, decision.open, decision.never_started)
    return {one.id: one.tool for group in groups for one in group}


def _why(reason: Reason, decision: Decision) -> str:
    if reason is Reason.NOT_AN_ANSWER and decision.last is not None:
        return f"The last answer was none: {decision.last.why} ({decision.last.verdict})."
    if reason is Reason.CLAIMED and _acted(decision):
        return _ACTED
    if reason is Reason.STEP_LIMIT:
        return f"It was stopped after {decision.answers} answers."
    return _WHY.get(reason, "")


def _acted(decision: Decision) -> bool:
    return decision.last is not None and decision.last.says is Says.ACTED and not decision.never_started


def _listed(title: str, operations: Sequence[Operation], tools: Mapping[str, str]) -> str:
    alike = Counter(map(_LOOKS, operations)) if operations else {}
    names = _joined((_named(*looks, tools), often) for looks, often in alike.items())
    return f"{title}: {names}." if names else ""


def _joined(names: Iterable[tuple[str, int]]) -> str:
    """Names as a list that a person reads: each once, with how often, and of many only the first."""
    times: dict[str, int] = {}
    for name, often in names:
        times[name] = times.get(name, 0) + often
    said = [name if often == 1 else f"{name} ({often} times)" for name, often in times.items()]
    more = len(said) - _MOST_NAMED
    return ", ".join(said[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _named(tool: str, error: str | None, needs: Iterable[str], attempts: int, tools: Mapping[str, str]) -> str:
    names = ", ".join(tools.get(need, need) for need in needs)
    waits = f", which needs {names}" if names and not attempts else ""
    return f"`{tool}`" + (f" ({error})" if error else "") + waits


def _checks(title: str, checks: Iterable[Check], outcome: Outcome) -> str:
    names = _joined((f"`{check.name}`", 1) for check in checks if check.outcome is outcome)
    return f"{title}: {names}." if names else ""
