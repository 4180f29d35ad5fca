"""Takes answers in; while the store is gone they wait here."""

import logging
import time
from collections import deque
from dataclasses import dataclass, replace

from breaker.answer import Answer
from breaker.errors import StoreError, StoreGoneError
from breaker.switchboard.listeners import Judged
from breaker.switchboard.recorder import Recorder
from breaker.verdict import judge

_log = logging.getLogger(__name__)

# Answers that wait for a store that is gone.
MAX_WAITING = 10_000


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An answer that waits since a monotonic moment; `tried`: it was sent, and may have counted without a reply."""

    since: float
    answer: Answer
    tried: bool


class Intake:
    """Hands answers on to the recorder; while the store is gone they wait, MAX_WAITING at most.

    `dropped` counts those that were one too many, and those that the store refuses for good.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._waiting: deque[_Waiting] = deque()
        self.dropped = 0

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def take(self, answer: Answer) -> Judged | None:
        """Judge and record an answer; None while it waits for a store that is gone."""
        judgement = judge(answer)
        answer = await self._recorder.ours(answer, judgement)
        if self._waiting:  # what is gone would cost each answer of many its full limit
            self._wait(answer, tried=False)
            return None
        try:
            return await self._recorder.record(answer, judgement)
        except StoreError as error:
            _log.warning("the answer waits, since the store can't take it: %s", error)
            self._wait(answer, tried=True)
            return None

    async def send(self, within_s: float) -> None:
        """Send what waits, oldest first; its age keeps it honest. What the store refuses for good is dropped.

        Stops after so long, however much is left. Raises StoreGoneError.
        """
        ends = time.monotonic() + within_s
        while self._waiting and time.monotonic() < ends:
            waits = self._waiting.popleft()
            answer = waits.answer
            aged = replace(answer, age_s=answer.began_ago_s + time.monotonic() - waits.since)
            try:
                await self._recorder.record(aged, judge(aged), tried=waits.tried)
            except StoreGoneError:
                self._waiting.appendleft(replace(waits, tried=True))
                raise
            except StoreError as error:
                self.dropped += 1
                _log.warning("an answer of %s is dropped: %s", answer.target, error)

    def _wait(self, answer: Answer, *, tried: bool) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(_Waiting(time.monotonic(), answer, tried))
