"""The course of one step of an agent, the same for callers that block and for those that await."""

import logging
import os
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from breaker.attempt import Act, Asked, Attempt, Limits, Place, Showing, Stand, Step, headers_of, refusal
from breaker.attempt.pace import Pace
from breaker.attempt.told import NO_RETRY
from breaker.client.run.current import current
from breaker.client.said import Decision
from breaker.client.transport.family import Family
from breaker.client.transport.guide import ADDRESSED, Guide, limits_of, others, place_of
from breaker.client.transport.sending import request_to
from breaker.errors import AnswerError
from breaker.verdict import Verdict

_log = logging.getLogger(__name__)

_SILENT = (Verdict.TIMEOUT_FIRST_BYTE, Verdict.TIMEOUT_SILENCE)
# What was broken off here, whatever its facts say.
_WHAT = {Verdict.LOOP: "it has no end", Verdict.MALFORMED: "part of it can't be read"}
# The most questions that are remembered because their answers had no end.
MOST_ENDLESS = 256
_chance = random.Random()  # noqa: S311 # it spreads pauses


@dataclass(frozen=True, kw_only=True, slots=True)
class Restart:
    """What was shown so far has failed, and another attempt will be shown from its beginning, in the same stream.

    `verdict` is what the failed one was, `target` whose it was, `shown_chars` how many characters of it were made.
    """

    verdict: str
    target: str
    shown_chars: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What a caller wants of a transport; see `Transport`."""

    guide: Guide
    route: str | None = None
    limits: Limits | None = None
    hedge_s: float | None = None
    hedge_percentile: float | None = None
    restart: Callable[[Restart], object] | None = None


class Shared:
    """What the steps of one transport share: who is where, and how soon first bytes came.

    Once it is `closed`, what breaks is its caller's doing.
    """

    def __init__(self, rooms: Any) -> None:
        self.rooms = rooms
        self.closed = False
        self._paces: dict[str, Pace] = {}
        self._endless: OrderedDict[int, None] = OrderedDict()  # hashes of questions, salted anew by each process

    def over(self, asked: Asked, attempt: Attempt) -> None:
        """Take what an attempt shows that is over: its first byte, and whether it had no end."""
        if attempt.verdict is Verdict.LOOP:
            self._endless[hash(asked.text)] = None
            if len(self._endless) > MOST_ENDLESS:
                self._endless.popitem(last=False)
        self._paces.setdefault(attempt.place.target, Pace()).add(attempt.ended.answer.first_byte_s)

    def calm(self, asked: Asked) -> bool:
        """Whether the very same question had an answer without an end: then the least reasoning is asked for."""
        return hash(asked.text) in self._endless

    def hedge_s(self, target: str, wishes: Wishes, limits: Limits) -> float | None:
        """How long after a step's begin a second target is asked besides; None for never."""
        if wishes.hedge_percentile is None:
            return wishes.hedge_s
        usual_s = self._paces.get(target, Pace()).percentile(wishes.hedge_percentile / 100)
        otherwise_s = limits.first_byte_s if wishes.hedge_s is None else wishes.hedge_s
        return otherwise_s if usual_s is None else usual_s


class Course:
    """One request of a caller's: what it asks, and the step that is made of it."""

    def __init__(
        self, request: Any, family: Family, asked: Asked, decision: Decision, wishes: Wishes, shared: Shared
    ) -> None:
        self.family = family
        self.wishes = wishes
        self.shared = shared
        self.asked = asked
        self._request = request
        self._journal = current.get()
        self.limits = limits = wishes.limits or limits_of(decision)
        hedge_s = shared.hedge_s(decision.target, wishes, limits)
        self.hedges = hedge_s is not None
        self.step = Step(
            asked,
            place_of(decision),
            _nobody if asked.bound else others(wishes.guide, wishes.route, asked.wire),
            limits,
            began=time.monotonic(),
            new_id=lambda: os.urandom(16).hex(),
            chance=_chance.random,
            hedge_s=hedge_s,
            calm=shared.calm(asked),
        )

    def over(self, attempt: Attempt) -> None:
        """An attempt is over: it belongs to the run in which its step was begun.

        One that has lost is no answer of the task's, and may be let go after the other has ended.
        """
        if self._journal is not None and attempt not in self.step.dropped:
            try:
                self._journal.answered(attempt)
            except Exception as error:  # noqa: BLE001 # no step fails because of us
                _log.warning("a step could not be told of its run: %s", type(error).__name__)

    def next(self, now: float) -> Act:
        """What to do now."""
        return self.step.next(now)

    def request(self, attempt: Attempt) -> Any:
        """The request of an attempt."""
        return request_to(self._request, self.family, self.asked, attempt)

    def shown(self, attempt: Attempt, response: Any, stream: Any) -> Any:
        """The response of an attempt, with what was done in its headers, and the stream in place of its own."""
        verdicts = [one.verdict for one in self.step.tried]
        if attempt.is_over and attempt.stand is Stand.GOOD:
            verdicts.append(attempt.verdict)
        for name, value in headers_of(attempt.place, self.step.made, verdicts):
            response.headers[name] = value
        if attempt.stand is Stand.BAD:
            response.headers[NO_RETRY[0]] = NO_RETRY[1]
            if attempt.place.role != ADDRESSED:
                # Whoever followed it would come back to the target that gave it, again and again.
                response.headers.pop("location", None)
        response.stream = stream
        return response

    def showing(self, attempt: Attempt) -> Showing:
        """What hands on the bytes of an attempt that is shown."""
        return Showing(attempt, restarts=self.wishes.restart is not None and self.asked.streamed)

    def refused(self) -> Any:
        """The response where no attempt gave one that could be shown."""
        said = refusal(self.asked.wire, self.step.tried)
        return self.family.response(said.status, headers=said.headers, content=said.body)

    def error(self, attempt: Attempt) -> AnswerError:
        """The error of an attempt that failed after part of it had been shown."""
        verdict, target = attempt.verdict, attempt.place.target
        what = _WHAT.get(verdict, attempt.ended.judgement.why)
        message = f"the answer of {target} is no whole one ({verdict.value}): {what}; part of it has been shown"
        error = self.family.error(message, silent=verdict in _SILENT)
        error.verdict, error.target, error.shown_chars = verdict.value, target, attempt.shown_chars
        return error

    def restarts(self, attempt: Attempt) -> bool:
        """Whether a fresh start is wished for; then it is announced."""
        if self.wishes.restart is None:
            return False
        verdict = attempt.verdict.value
        self.wishes.restart(Restart(verdict=verdict, target=attempt.place.target, shown_chars=attempt.shown_chars))
        return True


def _nobody(tried: Collection[str]) -> Place | None:
    """The other target of a request that only one can answer."""
    return None
