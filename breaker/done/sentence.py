"""Says what a task has come to, to its user and to its model. What isn't done is said first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from breaker.done.words import Completion, Ground, Next, Ruling
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
    Ground.NO_ANSWER: "The model hasn't answered.",
    Ground.OUTPUT_LIMIT: "The last answer was cut off at the limit of its length.",
    Ground.CALLS_OPEN: "The model has called tools and waits for what comes of it.",
    Ground.CLAIMED: "The model says that it is complete, but nothing shows that anything was done.",
    Ground.ANNOUNCED: "The model has only announced what it would do next.",
    Ground.SAME_CALLS: "It was stopped since it made the same calls again and again.",
    Ground.POSSIBLE_DEAD_LOOP: "It was stopped since nothing new came of its last turns.",
    Ground.OVERFULL: "It was too long to be followed.",
}
_ACTED = "The model says that it has changed something, but nothing shows that it has."
_NOTICES = {
    Ground.ANNOUNCED: "You have announced a next step and called no tool. The task is still open: do it now.",
    Ground.CLAIMED: "You have said that the task is complete, but no tool has shown that it is."
    " Do what is left, or say what keeps you from it.",
}
_ACTED_NOTICE = (
    "You have said that you changed something, but no tool that does so was called."
    " Do what is left, or say what keeps you from it."
)


def message(ruling: Ruling) -> str:
    """A sentence or some for the user."""
    tools = _tools(ruling)
    parts = [_BEGINS[ruling.completion]]
    parts += [_why(reason, ruling) for reason in ruling.reasons]
    parts.append(_listed("Done", ruling.succeeded, tools))
    parts.append(_listed("Failed", ruling.failed, tools))
    parts.append(_listed("Nobody knows whether it happened (look before it is done again)", ruling.unknown, tools))
    parts.append(_listed("Not ended", ruling.open, tools))
    parts.append(_listed("Not started", ruling.never_started, tools))
    parts.append(_checks("Checks that failed", ruling.checks, Outcome.FAILED))
    parts.append(_checks("Checks that couldn't be made", ruling.checks, Outcome.UNKNOWN))
    return " ".join(part for part in parts if part)


def notice(ruling: Ruling) -> str | None:
    """What to tell the model where its task is handed back to it; None where nothing is to be said."""
    reason = next((reason for reason in ruling.reasons if reason in _NOTICES), None)
    if ruling.next is not Next.GO_ON or reason is None:
        return None
    said = _ACTED_NOTICE if reason is Ground.CLAIMED and _acted(ruling) else _NOTICES[reason]
    left = _listed("Still to do", ruling.never_started, _tools(ruling))
    return " ".join(part for part in (said, left) if part)


def _tools(ruling: Ruling) -> Mapping[str, str]:
    """The tools of all operations that are told of, by their ids."""
    groups = (ruling.succeeded, ruling.failed, ruling.unknown, ruling.open, ruling.never_started)
    return {one.id: one.tool for group in groups for one in group}


def _why(reason: Ground, ruling: Ruling) -> str:
    if reason is Ground.NOT_AN_ANSWER and ruling.last is not None:
        return f"The last answer was none: {ruling.last.why} ({ruling.last.verdict})."
    if reason is Ground.CLAIMED and _acted(ruling):
        return _ACTED
    if reason is Ground.STEP_LIMIT:
        return f"It was stopped after {ruling.answers} answers."
    return _WHY.get(reason, "")


def _acted(ruling: Ruling) -> bool:
    return ruling.last is not None and ruling.last.says is Says.ACTED and not ruling.never_started


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
