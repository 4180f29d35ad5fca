import asyncio
import time

from monitor.lag import EVERY_S, STALL_S, LoopLag


def stall(seconds: float) -> None:
    """Keep the loop from its work."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


async def beats(count: int) -> None:
    """Let the watch have so many turns."""
    for _ in range(count):
        await asyncio.sleep(EVERY_S)


async def test_a_stall_is_known_at_once_and_stays_known() -> None:
    async with LoopLag() as lag:
        await beats(1)
        began = time.monotonic()
        stall(STALL_S + 0.2)

        at_once_s, passed_s = lag.stalled_s(began), time.monotonic() - began
        await beats(3)

        assert STALL_S + 0.1 < at_once_s <= passed_s
        assert lag.stalled_s(began) >= at_once_s - 0.1


async def test_a_stall_before_a_moment_is_not_counted_after_it() -> None:
    async with LoopLag() as lag:
        await beats(1)
        stall(STALL_S + 0.2)
        await beats(2)

        assert lag.stalled_s(time.monotonic()) == 0.0
        assert lag.stalled_s(0.0) > STALL_S


async def test_small_lateness_is_no_stall_but_is_measured() -> None:
    async with LoopLag() as lag:
        await beats(1)
        began = time.monotonic()
        stall(STALL_S / 2)
        await beats(2)

        stalled_s, worst_s = lag.stalled_s(began), lag.take_worst_s()
        assert worst_s > STALL_S / 5
        assert (stalled_s > 0) == (worst_s > STALL_S)  # a busy machine may have added a stall of its own


async def test_the_worst_lateness_is_taken_once() -> None:
    async with LoopLag() as lag:
        await beats(1)
        stall(STALL_S + 0.2)
        await beats(2)

        first_s, second_s = lag.take_worst_s(), lag.take_worst_s()
        assert first_s > STALL_S
        assert second_s < first_s


async def test_it_stops_and_may_be_stopped_twice() -> None:
    lag = LoopLag()
    lag.start()
    lag.start()
    await lag.stop()
    await lag.stop()

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert lag.stalled_s(0.0) == 0.0
