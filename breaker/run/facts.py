"""The facts of a run: answers, stages of operations, checks. None holds a word of what was asked or said."""

from __future__ import annotations

from typing import NamedTuple

from breaker.answer import Answer, Ended, Finish
from breaker.run.words import Effect, Outcome, Says, State
from breaker.verdict import Blame, Confidence, Judgement, Verdict


class Step(NamedTuple):
    """One answer in a run: how the protocol ended, and apart from it what the detector said and why.

    `seq` orders all facts of a run. `calls` is a digest of the tools that the answer calls and of their arguments,
    None where it calls none or they aren't known; `says` is what the end of its text sounds like. Token counts and
    `tools` (whether any were offered) are None where they aren't known.
    """

    id: str
    seq: int
    target: str
    ended: Ended
    verdict: Verdict
    blame: Blame
    why: str
    confidence: Confidence = Confidence.HIGH
    cause: Verdict | None = None
    status: int | None = None
    finish: Finish | None = None
    end_mark: bool | None = None
    tools: bool | None = None
    tool_calls: int | None = None
    calls: str | None = None
    says: Says | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Stage(NamedTuple):
    """How far one attempt at an operation is.

    `needs` are the ids of operations that must have succeeded before it may begin; `replaces` of those that failed and
    are tried in another way by this one. `required` says whether the task is complete without it; None: one that
    writes is needed, one that reads isn't. `retryable` says of a failure that nothing happened, so that it may be tried
    again. `idempotency_key` lets the other side see that a second attempt is the same. `arguments` and `result` are
    digests. `seconds` is how long the attempt took, `at_s` when it came to this, in seconds since the run began.
    """

    id: str
    seq: int
    tool: str
    state: State
    effect: Effect = Effect.READ
    attempt: int = 1
    needs: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    required: bool | None = None
    idempotency_key: str | None = None
    reference: str | None = None
    error: str | None = None
    retryable: bool | None = None
    arguments: str | None = None
    result: str | None = None
    seconds: float | None = None
    at_s: float | None = None


class Check(NamedTuple):
    """What a check of the task's own said; of several with one name the last one holds."""

    id: str
    seq: int
    name: str
    outcome: Outcome


Fact = Step | Stage | Check


def step(answer: Answer, judgement: Judgement, *, seq: int, calls: str | None = None, says: Says | None = None) -> Step:
    """An answer's place in a run; one of which nothing says that it held anything shows nobody that a task is done."""
    if judgement.blame is Blame.OK and _untold(answer):
        judgement = _NOTHING_TOLD
    return Step(
        id=answer.id,
        seq=seq,
        target=answer.target,
        ended=answer.ended,
        verdict=judgement.verdict,
        blame=judgement.blame,
        why=judgement.why,
        confidence=judgement.confidence,
        cause=judgement.cause,
        status=answer.status,
        finish=answer.finish,
        end_mark=answer.end_mark,
        tools=answer.tools,
        tool_calls=answer.tool_calls,
        calls=calls,
        says=says,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
    )


_NOTHING_TOLD = Judgement(
    Verdict.EMPTY,
    Blame.INCONCLUSIVE,
    "nothing was told of what it held; tell text_chars, media, tool_calls or completion_tokens",
    confidence=Confidence.LOW,
)


def _untold(answer: Answer) -> bool:
    held = (answer.text_chars, answer.tool_calls, answer.media, answer.completion_tokens)
    return not any(held)
