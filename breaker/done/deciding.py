"""Decides whether a task may be called done: every rule of it is here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from breaker.answer import Ended, Finish
from breaker.done import sentence
from breaker.done.words import DEFAULT_BOUNDS, OVER, Bounds, Completion, Ground, Next, Ruling
from breaker.run import Effect, Operation, Outcome, Run, Says, State, Step, blocked
from breaker.verdict import Blame, Verdict

_STUCK = frozenset({Ground.SAME_CALLS, Ground.POSSIBLE_DEAD_LOOP, Ground.STEP_LIMIT, Ground.OVERFULL})
_CLAIMS = frozenset({Says.DONE, Says.ACTED})
_HANDED_BACK = frozenset({Ground.CLAIMED, Ground.ANNOUNCED})
# What is asked of each step and operation, by names that are quick to find.
_WELL, _ANSWERS, _GOING_ON = Blame.OK, (Verdict.OK, Verdict.TOOL_CALL), (Finish.TOOL_CALLS, Finish.PAUSED)
_PLANNED, _SUCCEEDED = State.PLANNED, State.SUCCEEDED


def decide(run: Run, bounds: Bounds = DEFAULT_BOUNDS) -> Ruling:
    """Whether a task is done, by all that its run is known to be; the same for the same run."""
    seen = _Seen(run, bounds)
    reasons = tuple(dict.fromkeys(seen.reasons())) or (Ground.AGREED,)
    completion, last = seen.completion(reasons), seen.last
    ruling = Ruling(
        completion=completion,
        reasons=reasons,
        next=seen.next(completion, reasons),
        message="",
        notice=None,
        claimed=last is not None and _ends_a_task(last),
        hand_backs=seen.hand_backs,
        answers=len(seen.answers),
        last=last,
        succeeded=seen.having(State.SUCCEEDED),
        failed=seen.having(State.FAILED),
        unknown=seen.perhaps(State.UNKNOWN),
        open=seen.perhaps(State.EXECUTING),
        never_started=seen.having(State.PLANNED),
        missing=seen.missing,
        checks=run.checks,
    )
    return replace(ruling, message=sentence.message(ruling), notice=sentence.notice(ruling))


class _Seen:
    """A run as the rules see it."""

    def __init__(self, run: Run, bounds: Bounds) -> None:
        self._run = run
        self._bounds = bounds
        self.last = run.steps[-1] if run.steps else None
        self.answers = [step for step in run.steps if _is_answer(step)]
        self.hand_backs = len([step for step in self.answers if step is not self.last and not _goes_on(step)])
        self._in_vain = sum(1 for _ in takewhile(lambda step: not _is_answer(step), reversed(run.steps)))
        happened = [one for one in run.operations if one.state is _SUCCEEDED]
        self._went_on = max((one.ended_seq for one in happened), default=-1)
        self._rested_on = {need for one in happened for need in one.needs}
        self._blocked = blocked(run)
        self._counted = [one for one in run.operations if self._counts(one)]
        self._in = {state: tuple(one for one in self._counted if one.state is state) for state in State}
        known = {one.id for one in run.operations}
        needs = dict.fromkeys(need for one in self._counted for need in one.needs)
        self.missing = tuple(need for need in needs if need not in known)

    def having(self, state: State) -> tuple[Operation, ...]:
        """The operations that count and are in a state."""
        return self._in[state]

    def perhaps(self, state: State) -> tuple[Operation, ...]:
        """The same, and what is written besides: what may have happened concerns the user, needed or not."""
        counted = {one.id for one in self._counted}
        return tuple(
            one
            for one in self._run.operations
            if one.state is state and (one.id in counted or one.effect is Effect.WRITE)
        )

    def reasons(self) -> Iterator[Ground]:
        """All that speaks against completion, what decides first."""
        if self._run.overfull:
            yield Ground.OVERFULL
        yield from self._stuck()
        found = list(self._turn()) or list(self._said_only())
        found += [*self._operations(), *self._checks()]
        if found and len(self.answers) >= self._bounds.steps:
            yield Ground.STEP_LIMIT
        yield from found

    def completion(self, reasons: Sequence[Ground]) -> Completion:
        """What these reasons make of it."""
        if reasons == (Ground.AGREED,):
            return Completion.COMPLETED
        if not OVER.issuperset(reasons):
            return Completion.NOT_FINISHED
        return Completion.PARTIALLY_COMPLETED if self.having(State.SUCCEEDED) else Completion.FAILED

    def next(self, completion: Completion, reasons: Sequence[Ground]) -> Next:
        """What is to be done now."""
        if completion is Completion.COMPLETED:
            return Next.FINISH
        if completion is not Completion.NOT_FINISHED or _STUCK.intersection(reasons):
            return Next.STOP
        if _HANDED_BACK.intersection(reasons) and self.hand_backs >= self._bounds.hand_backs:
            return Next.STOP
        if Ground.OUTPUT_LIMIT in reasons:
            return Next.ASK_AGAIN if self._in_vain <= self._bounds.hand_backs else Next.STOP
        if self.last is not None and Ground.NOT_AN_ANSWER in reasons:
            of_no_use = self.last.blame is Blame.CALLER_FAULT or self._in_vain >= self._bounds.turns
            return Next.STOP if of_no_use else Next.ASK_AGAIN
        return Next.GO_ON

    # The last answer

    def _turn(self) -> Iterator[Ground]:
        """What is wrong with the last answer as the end of a task."""
        if self.last is None:
            yield Ground.NO_ANSWER
        elif self.last.verdict is Verdict.LENGTH:
            yield Ground.OUTPUT_LIMIT
        elif not _is_answer(self.last):
            yield Ground.NOT_AN_ANSWER
        elif _goes_on(self.last):
            yield Ground.CALLS_OPEN

    def _said_only(self) -> Iterator[Ground]:
        """Whether a final answer says more than was done. `last` is an answer without a call."""
        assert self.last is not None
        waits = bool(self.missing or self._startable() or self.having(State.EXECUTING))
        if self.last.says in _CLAIMS and (waits or not self._has_evidence()):
            yield Ground.CLAIMED
        elif waits or (self.last.says is Says.NEXT and self._has_tools()):
            yield Ground.ANNOUNCED

    def _has_tools(self) -> bool:
        return any(step.tools or _goes_on(step) for step in self._run.steps)

    def _has_evidence(self) -> bool:
        """Whether anything at all speaks of work that was done, or failed; a task without tools is its answer."""
        if not self._has_tools() and not self._run.operations:
            return True
        if any(check.outcome is Outcome.PASSED for check in self._run.checks):
            return True
        if self._counted and self.last is not None and self.last.says is Says.ACTED:
            return self._may_have_acted()
        return bool(self._counted) or (not self._run.operations and any(_goes_on(step) for step in self.answers))

    def _may_have_acted(self) -> bool:
        """Whether anything was written, as far as is known: not each call need have been told as an operation."""
        calls = [step.tool_calls for step in self.answers if _goes_on(step)]
        told = None not in calls and sum(many or 0 for many in calls) <= len(self._run.operations)
        return not told or any(one.effect is Effect.WRITE for one in self._counted)

    # Operations and checks

    def _counts(self, one: Operation) -> bool:
        """Whether the task depends on an operation: one that only reads does while nothing has succeeded since.

        What has happened brings in all on which it depends.
        """
        if self._run.replaced(one):
            return False
        if one.required or one.state is _SUCCEEDED or one.id in self._rested_on:
            return True
        return one.state is not _PLANNED and self._went_on <= one.ended_seq

    def _operations(self) -> Iterator[Ground]:
        if self.having(State.UNKNOWN):
            yield Ground.OPERATION_UNKNOWN
        if self.having(State.FAILED):
            yield Ground.OPERATION_FAILED
        if self.having(State.EXECUTING):
            yield Ground.OPERATION_OPEN
        startable = self._startable()
        if self.missing or startable:
            yield Ground.OPERATION_MISSING
        if len(startable) < len(self.having(State.PLANNED)):
            yield Ground.OPERATION_BLOCKED

    def _startable(self) -> list[Operation]:
        """Those that haven't begun though nothing is in their way for good."""
        return [one for one in self.having(State.PLANNED) if one.id not in self._blocked]

    def _checks(self) -> Iterator[Ground]:
        outcomes = {check.outcome for check in self._run.checks}
        if Outcome.FAILED in outcomes:
            yield Ground.CHECK_FAILED
        if Outcome.UNKNOWN in outcomes:
            yield Ground.CHECK_UNKNOWN

    # Going round

    def _stuck(self) -> Iterator[Ground]:
        """Whether the run goes round; a final answer ends that."""
        if not self.answers or not _goes_on(self.answers[-1]):
            return
        newest = [step.calls for step in self.answers[-self._bounds.same_calls :]]
        if len(newest) == self._bounds.same_calls and newest[0] is not None and len(set(newest)) == 1:
            yield Ground.SAME_CALLS
        elif self._goes_round():
            yield Ground.POSSIBLE_DEAD_LOOP

    def _goes_round(self) -> bool:
        """Whether the last turns called only what was called before, learnt nothing, and grew in no way."""
        before, turns = self.answers[: -self._bounds.turns], self.answers[-self._bounds.turns :]
        known = {step.calls for step in before if step.calls is not None}
        if not before or any(step.calls not in known for step in turns):
            return False
        grown = _most_tokens(turns) > _most_tokens(before)
        return not grown and not self._learnt_since(turns[0].seq)

    def _learnt_since(self, seq: int) -> bool:
        """Whether an operation has had a result since that none had before."""
        new = [one for one in self._run.operations if one.ended_seq >= seq]
        old = {result for one in self._run.operations if one.ended_seq < seq for result in one.results}
        return any(not one.results <= old for one in new)


def _is_answer(step: Step) -> bool:
    return step.blame is _WELL and step.verdict in _ANSWERS


def _goes_on(step: Step) -> bool:
    """Whether an answer is no end by its own word: it calls tools, or waits to be asked to go on."""
    return bool(step.tool_calls) or step.finish in _GOING_ON


def _ends_a_task(step: Step) -> bool:
    """Whether an agent that believes any end of a stream would take this for the end of its task."""
    came = step.status is None or 200 <= step.status < 300
    ended = step.ended is Ended.COMPLETE or (step.ended is Ended.CANCELLED and bool(step.end_mark))
    return came and ended and not _goes_on(step)


def _most_tokens(steps: Sequence[Step]) -> int:
    return max((step.completion_tokens or 0 for step in steps), default=0)
