"""Calls at fixed phases of a clock; the only file that knows APScheduler."""

import logging
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobExecutionEvent, JobSubmissionEvent
from apscheduler.executors.asyncio import AsyncIOExecutor
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger

# A clock was set if it went this much further than the monotonic one.
CLOCK_STEP_S = 1.0
# Clocks are compared to a millisecond, so that a turn on its very moment isn't taken for the one before.
_SLACK_S = 0.001
# A call may come before its turn, by this share of an interval, where the clock was corrected a little meanwhile.
_EARLY = 0.25


class Phase(NamedTuple):
    """Turn `n` is due at `offset_s + n * interval_s` seconds since 1970."""

    offset_s: float
    interval_s: float

    def newest(self, now: float) -> tuple[int, float]:
        """The number of the newest turn, and how many seconds ago it was due."""
        since_s = now - self.offset_s
        number = math.floor((since_s + _SLACK_S) / self.interval_s)
        return number, max(0.0, since_s - number * self.interval_s)

    def called(self, now: float) -> int:
        """The number of the turn that a call at this moment is meant for, be it a little early."""
        return math.floor((now - self.offset_s) / self.interval_s + _EARLY)

    def moment(self, number: int) -> float:
        """When a turn is due, in seconds since 1970."""
        return self.offset_s + number * self.interval_s

    def next(self, now: float) -> float:
        """The first turn at or after a moment, in seconds since 1970."""
        return self.moment(math.ceil((now - self.offset_s) / self.interval_s))


class Missed(Enum):
    """Why a turn wasn't called."""

    LATE = "late"  # it was due more than half an interval ago, or the next one was due as well
    RUNNING = "running"  # the call before hasn't come back


class Timetable:
    """Calls `turn(name, number, seconds late)` at each turn of each phase, and `missed` for a turn that it left out.

    Phases go by `clock`, in seconds since 1970. Where that was corrected a little, a call may come early: less than 0
    seconds late. `turn` must come back at once. After a stall all turns of a name that were due are one. Call `start`
    in the loop.
    """

    def __init__(
        self,
        phases: Mapping[str, Phase],
        turn: Callable[[str, int, float], None],
        missed: Callable[[Missed], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._phases = dict(phases)
        self._turn = turn
        self._missed = missed
        self._last: dict[str, int] = {}
        self._clock = clock
        self._ahead_s = (0.0, 0.0)
        self._stopped = False
        self._scheduler = AsyncIOScheduler(timezone=UTC, executors={"default": _Executor()})
        self._scheduler.add_listener(self._too_late, EVENT_JOB_MISSED)
        self._scheduler.add_listener(self._running, EVENT_JOB_MAX_INSTANCES)

    def start(self, not_before: Mapping[str, float]) -> None:
        """Begin; each name's first turn is the first after so many seconds from now."""
        # It would tell of every missed run; those are counted by `missed`.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        self._ahead_s = self._aheads()
        now = self._clock()
        for name in self._phases:
            self._add(name, now + not_before[name])
        self._scheduler.start()

    def stop(self) -> None:
        """Call nothing any more. May be called twice."""
        if not self._stopped and self._scheduler.running:
            self._stopped = True
            self._scheduler.shutdown(wait=False)

    def check_clock(self) -> bool:
        """Put all turns where they belong if the clock or this machine's was set; says whether one was.

        APScheduler goes by the machine's: set back by an hour, it would call nothing for an hour.
        """
        before, self._ahead_s = self._ahead_s, self._aheads()
        if all(abs(ahead_s - was_s) < CLOCK_STEP_S for ahead_s, was_s in zip(self._ahead_s, before, strict=True)):
            return False
        self._last.clear()
        for name in self._phases:
            self._add(name, self._clock())
        return True

    def _add(self, name: str, earliest: float) -> None:
        phase = self._phases[name]
        self._scheduler.add_job(
            self._call,
            _Turns(phase, earliest, self._clock),
            args=[name],
            id=name,
            replace_existing=True,
            max_instances=1,
            coalesce=True,
            misfire_grace_time=max(1, int(phase.interval_s / 2)),
        )

    async def _call(self, name: str) -> None:
        # A coroutine, since APScheduler would run a plain function in a thread.
        if self._stopped:
            return
        phase, now = self._phases[name], self._clock()
        number = phase.called(now)
        last = self._last.get(name, number - 1)
        if number <= last:
            return  # it was so late that it was taken for the next one, which comes now
        for _ in range(last + 1, number):
            self._missed(Missed.LATE)  # made one with this turn after a stall
        self._last[name] = number
        self._turn(name, number, now - phase.moment(number))

    def _too_late(self, event: JobExecutionEvent) -> None:
        if self._stopped:
            return
        meant = event.scheduled_run_time.timestamp() + self._clock() - time.time()
        self._last[event.job_id] = self._phases[event.job_id].called(meant)
        self._missed(Missed.LATE)

    def _running(self, _: JobSubmissionEvent) -> None:
        if not self._stopped:
            self._missed(Missed.RUNNING)

    def _aheads(self) -> tuple[float, float]:
        """How far the clock and this machine's are ahead of the monotonic one."""
        here = time.monotonic()
        return self._clock() - here, time.time() - here


class _Executor(AsyncIOExecutor):  # type: ignore[misc] # APScheduler leaves it untyped
    """Runs calls on the event loop; those that are on their way when it stops find that out by themselves."""

    def shutdown(self, wait: bool = True) -> None:
        """Cancel none, as APScheduler would: it tells of each that is cancelled as of an error."""


class _Turns(BaseTrigger):  # type: ignore[misc] # APScheduler leaves it untyped
    """Fires at each turn of a phase, wherever on this machine's clock that is by now.

    Its own interval trigger would hold to where the turns were at its start, and APScheduler's `jitter` adds each run's
    to the last one's, so that the phase wanders.
    """

    def __init__(self, phase: Phase, earliest: float, clock: Callable[[], float]) -> None:
        self._phase = phase
        self._clock = clock
        self._first = math.ceil((earliest - phase.offset_s) / phase.interval_s)
        self._numbers: dict[datetime, int] = {}

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime:
        """The moment of the turn after the one that fired at `previous`; of the first one for None."""
        number = self._first if previous is None else self._numbers[previous] + 1
        moment = datetime.fromtimestamp(self._phase.moment(number) - self._clock() + time.time(), UTC)
        self._numbers = {moment: number} if previous is None else {previous: number - 1, moment: number}
        return moment
