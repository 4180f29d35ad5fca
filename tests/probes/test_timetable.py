import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.logs import start
from monitor.schedule.timetable import Missed, Phase, Timetable
from monitor.settings import Logs

moments = st.floats(0.0, 3e9)
intervals = st.floats(0.05, 86_400.0)


@given(st.floats(0.0, 0.999), intervals, moments)
def test_the_newest_turn_is_never_older_than_an_interval(share: float, interval_s: float, now: float) -> None:
    number, late_s = Phase(share * interval_s, interval_s).newest(now)

    assert 0.0 <= late_s <= interval_s
    assert math.isclose(share * interval_s + number * interval_s + late_s, now, abs_tol=0.0011)


@given(st.floats(0.0, 0.999), intervals, moments)
def test_the_next_turn_is_the_newest_one_when_it_comes(share: float, interval_s: float, now: float) -> None:
    phase = Phase(share * interval_s, interval_s)
    moment = phase.next(now)

    assert now - 1e-5 <= moment <= now + interval_s + 1e-5
    assert phase.newest(moment)[1] < 1e-4


def test_turns_stand_where_they_stood_before_a_restart() -> None:
    phase = Phase(20.0, 60.0)

    assert [phase.next(now) for now in (0.0, 20.0, 20.5, 1_000_000.0)] == [20.0, 20.0, 80.0, 1_000_040.0]


@given(st.floats(0.0, 0.999), intervals, st.integers(0, 40_000), st.floats(-0.24, 0.74))
def test_a_call_that_comes_a_little_early_or_late_is_known_for_its_turn(
    share: float, interval_s: float, number: int, off: float
) -> None:
    phase = Phase(share * interval_s, interval_s)

    assert phase.called(phase.moment(number) + off * interval_s) == number


class Calls:
    """What a timetable called."""

    def __init__(self) -> None:
        self.turns: list[tuple[str, int, float]] = []
        self.missed: list[Missed] = []
        self.came = asyncio.Event()

    def turn(self, name: str, number: int, late_s: float) -> None:
        self.turns.append((name, number, late_s))
        self.came.set()

    def miss(self, cause: Missed) -> None:
        self.missed.append(cause)
        self.came.set()

    async def until(self, met: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not met():
                self.came.clear()
                await self.came.wait()


@asynccontextmanager
async def timetable(phases: dict[str, Phase], calls: Calls) -> AsyncIterator[Timetable]:
    made = Timetable(phases, calls.turn, calls.miss)
    made.start(dict.fromkeys(phases, 0.0))
    try:
        yield made
    finally:
        made.stop()
        made.stop()
        await asyncio.sleep(0)


async def test_each_turn_is_called_in_its_order_and_holds_its_phase() -> None:
    calls = Calls()
    async with timetable({"a": Phase(0.0, 0.1), "b": Phase(0.05, 0.1)}, calls):
        await calls.until(lambda: len(calls.turns) >= 40)

    numbers = [number for name, number, _ in calls.turns if name == "a"]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] - numbers[0] < len(numbers) + 5 + len(calls.missed)
    # A busy machine makes some late; a phase that wanders would have made all of the last ones so.
    assert all(min(late_s for one, _, late_s in calls.turns[-20:] if one == name) < 0.05 for name in "ab")


async def test_after_a_stall_all_turns_that_were_due_are_one() -> None:
    calls = Calls()
    async with timetable({"a": Phase(0.0, 0.1)}, calls):
        await calls.until(lambda: len(calls.turns) >= 2)
        count = len(calls.turns)
        until = time.monotonic() + 0.55
        while time.monotonic() < until:
            pass  # the loop has other things to do
        await asyncio.sleep(0)
        await calls.until(lambda: len(calls.turns) > count)
        await asyncio.sleep(0)

    left_out = calls.turns[count][1] - calls.turns[count - 1][1] - 1
    assert left_out >= 4
    assert calls.missed.count(Missed.LATE) >= left_out
    assert len(calls.turns) <= count + 2


async def test_a_turn_that_is_too_late_is_left_out_and_told() -> None:
    calls = Calls()
    phase = Phase((time.time() + 0.2) % 2.6, 2.6)
    async with timetable({"a": phase}, calls):
        due = phase.newest(phase.next(time.time()))[0]
        until = time.monotonic() + 1.6
        while time.monotonic() < until:
            pass  # longer than half an interval, which is the grace
        await calls.until(lambda: bool(calls.missed))
        await calls.until(lambda: bool(calls.turns))

    assert calls.missed == [Missed.LATE]
    assert calls.turns[0][1] == due + 1


async def test_a_first_turn_can_be_put_off() -> None:
    calls = Calls()
    made = Timetable({"a": Phase(0.0, 0.1), "b": Phase(0.0, 0.1)}, calls.turn, calls.miss)
    made.start({"a": 0.0, "b": 0.5})
    await calls.until(lambda: any(name == "b" for name, *_ in calls.turns))
    made.stop()
    await asyncio.sleep(0)

    assert sum(name == "a" for name, *_ in calls.turns) >= 4


@pytest.mark.parametrize("ticks", range(8))
async def test_stopped_at_any_moment_it_calls_nothing_and_complains_of_nothing(
    ticks: int, caplog: pytest.LogCaptureFixture
) -> None:
    calls = Calls()
    soon = (time.time() + 0.05) % 60.0
    made = Timetable({"a": Phase(soon, 60.0), "b": Phase(soon, 60.0)}, calls.turn, calls.miss)
    made.start({"a": 0.0, "b": 0.0})
    await asyncio.sleep(0)
    time.sleep(0.1)  # noqa: ASYNC251 # both are due, and the loop hasn't seen it
    for _ in range(ticks):
        await asyncio.sleep(0)
    made.stop()
    before = list(calls.turns)
    for _ in range(10):
        await asyncio.sleep(0)

    assert calls.turns == before
    assert calls.missed == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_what_it_counts_itself_isnt_told_by_its_scheduler_when_the_log_begins_anew() -> None:
    async with timetable({"a": Phase(0.0, 60.0)}, Calls()):
        start(Logs())
        assert not logging.getLogger("apscheduler.scheduler").isEnabledFor(logging.WARNING)


async def test_a_clock_that_is_set_is_noticed_once_and_turns_go_on() -> None:
    step_s = 0.0
    calls = Calls()
    made = Timetable({"a": Phase(0.0, 0.1)}, calls.turn, calls.miss, clock=lambda: time.time() + step_s)
    made.start({"a": 0.0})
    before = made.check_clock()
    step_s = -3600.0
    noticed = [made.check_clock(), made.check_clock()]
    count = len(calls.turns)
    await calls.until(lambda: len(calls.turns) >= count + 2)
    made.stop()
    await asyncio.sleep(0)

    assert before is False
    assert noticed == [True, False]


async def test_turns_go_by_the_clock_that_is_given_and_not_by_this_machines() -> None:
    """It is minutes ahead, and goes faster."""
    began = time.time()

    def clock() -> float:
        return time.time() + 130.0 + 0.3 * (time.time() - began)

    calls, phase = Calls(), Phase(0.05, 0.2)
    made = Timetable({"a": phase}, calls.turn, calls.miss, clock)
    first = phase.called(clock())
    made.start({"a": 0.0})
    await calls.until(lambda: len(calls.turns) >= 10)
    last = phase.called(clock())
    made.stop()
    await asyncio.sleep(0)

    numbers = [number for _, number, _ in calls.turns]
    assert first <= numbers[0] <= first + 2
    assert numbers[-1] >= last - 1
    assert numbers == sorted(set(numbers))
    assert min(late_s for *_, late_s in calls.turns) > -0.1


@pytest.mark.parametrize("started", [True, False], ids=["running", "never started"])
async def test_it_may_be_stopped_at_any_time(started: bool) -> None:
    calls = Calls()
    made = Timetable({"a": Phase(0.0, 0.1)}, calls.turn, calls.miss)
    if started:
        made.start({"a": 0.0})
    made.stop()
    await asyncio.sleep(0)
    made.stop()

    assert asyncio.all_tasks() == {asyncio.current_task()}
