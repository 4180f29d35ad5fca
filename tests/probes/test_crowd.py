import asyncio
import time
from collections import Counter

import pytest

from monitor.schedule import crowd as crowds
from monitor.schedule.crowd import ABREAST, WAIT_S, Crowd


@pytest.fixture
def long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits waits for long."""
    monkeypatch.setattr(crowds, "WAIT_S", 600.0)


@pytest.mark.usefixtures("long_wait")
async def test_up_to_its_limit_nobody_waits() -> None:
    crowd = Crowd(2)
    async with asyncio.timeout(60):
        await crowd.enter()
        await crowd.enter()


@pytest.mark.usefixtures("long_wait")
async def test_beyond_it_one_waits_for_a_place_that_is_left() -> None:
    crowd = Crowd(1)
    first = await crowd.enter()
    asyncio.get_running_loop().call_soon(first.leave)
    async with asyncio.timeout(60):
        await crowd.enter()


async def test_but_never_for_long_and_then_without_a_place() -> None:
    crowd = Crowd(1)
    await crowd.enter()
    began = time.monotonic()
    async with asyncio.timeout(60):
        extra = await crowd.enter()
    waited_s = time.monotonic() - began
    extra.leave()
    again = asyncio.create_task(crowd.enter())
    done, _ = await asyncio.wait([again], timeout=WAIT_S / 2)
    await again

    assert waited_s >= WAIT_S
    assert not done, "a place that nobody had was given free"


async def test_a_place_that_is_left_twice_is_free_once() -> None:
    crowd = Crowd(1)
    first = await crowd.enter()
    first.leave()
    first.leave()
    await crowd.enter()
    third = asyncio.create_task(crowd.enter())
    done, _ = await asyncio.wait([third], timeout=WAIT_S / 2)
    await third

    assert not done


async def test_those_who_come_at_once_enter_a_few_in_each_turn_of_the_loop() -> None:
    crowd, turn, entered = Crowd(5), 0, Counter[int]()

    async def turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def enter() -> None:
        await crowd.enter()
        entered[turn] += 1

    counting = asyncio.create_task(turns())
    await asyncio.gather(*(enter() for _ in range(9)))  # some with a place and some without
    counting.cancel()

    assert entered.total() == 9
    assert max(entered.values()) <= ABREAST


@pytest.mark.usefixtures("long_wait")
async def test_who_is_cancelled_at_the_entrance_keeps_no_place() -> None:
    crowd = Crowd(ABREAST + 1)
    entering = [asyncio.create_task(crowd.enter()) for _ in range(ABREAST + 1)]
    await asyncio.sleep(0)
    last = entering.pop()
    last.cancel()
    await asyncio.wait([last])
    async with asyncio.timeout(60):
        await crowd.enter()

    assert last.cancelled()
