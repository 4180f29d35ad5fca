"""Calls at fixed phases of the wall clock; the only file that knows APScheduler."""

import logging
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.executors.asyncio import AsyncIOExecutor
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

# The wall clock was set if it went this much further than the monotonic one.
CLOCK_STEP_S = 1.0
# Clocks are compared to a millisecond, so that a turn on its very moment isn't taken for the one before.
_SLACK_S = 0.001


class Phase(NamedTuple):
    """Turn `n` is due at `offset_s + n * interval_s` seconds since 1970."""

    offset_s: float
    interval_s: float

    def newest(self, now: float) -> tuple[int, float]:
        """The number of the newest turn, and how many seconds ago it was due."""
        since_s = now - self.offset_s
        number = math.floor((since_s + _SLACK_S) / self.interval_s)
        return number, max(0.0, since_s - number * self.interval_s)

    def next(self, now: float) -> float:
        """The first turn at or after a moment, in seconds since 1970."""
        return self.offset_s + math.ceil((now - self.offset_s) / self.interval_s) * self.interval_s


class Missed(Enum):
    """Why a turn wasn't called."""

    LATE = "late"  # it was due more than half an interval ago, or the next one was due as well
    RUNNING = "running"  # the call before hasn't come back


class Timetable:
    """Calls `turn(name, number, seconds late)` at each turn of each phase, and `missed` for a turn that it left out.

    `turn` must come back at once. After a stall all turns of a name that were due are one. Call `start` in the loop.
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
        self._clock_s = 0.0
        self._stopped = False
        self._scheduler = AsyncIOScheduler(timezone=UTC, executors={"default": AsyncIOExecutor()})
        self._scheduler.add_listener(self._too_late, EVENT_JOB_MISSED)
        self._scheduler.add_listener(lambda _: missed(Missed.RUNNING), EVENT_JOB_MAX_INSTANCES)

    def start(self, not_before: Mapping[str, float]) -> None:
        """Begin; each name's first turn is the first after so many seconds from now."""
        # It would tell of every missed run; those are counted by `missed`.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        self._clock_s = self._ahead_s()
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
        """Put all turns where they belong if the wall clock was set; says whether it was.

        APScheduler goes by that clock: set back by an hour, it would call nothing for an hour.
        """
        ahead_s = self._ahead_s()
        step_s, self._clock_s = ahead_s - self._clock_s, ahead_s
        if abs(step_s) < CLOCK_STEP_S:
            return False
        self._last.clear()
        for name in self._phases:
            self._add(name, self._clock())
        return True

    def _add(self, name: str, earliest: float) -> None:
        phase = self._phases[name]
        begins = datetime.fromtimestamp(phase.next(earliest), UTC)
        self._scheduler.add_job(
            self._call,
            # Its `jitter` is left alone: each run's is added to the last one's, so that the phase wanders.
            IntervalTrigger(seconds=phase.interval_s, start_date=begins),
            args=[name],
            id=name,
            replace_existing=True,
            max_instances=1,
            coalesce=True,
            misfire_grace_time=max(1, int(phase.interval_s / 2)),
        )

    async def _call(self, name: str) -> None:
        # A coroutine, since APScheduler would run a plain function in a thread.
        number, late_s = self._phases[name].newest(self._clock())
        for _ in range(self._last.get(name, number - 1) + 1, number):
            self._missed(Missed.LATE)  # made one with this turn after a stall
        self._last[name] = number
        self._turn(name, number, late_s)

    def _too_late(self, event: JobExecutionEvent) -> None:
        self._last[event.job_id], _ = self._phases[event.job_id].newest(event.scheduled_run_time.timestamp())
        self._missed(Missed.LATE)

    def _ahead_s(self) -> float:
        """How far the wall clock is ahead of the monotonic one."""
        return self._clock() - time.monotonic()
