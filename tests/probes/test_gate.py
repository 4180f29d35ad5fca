import asyncio
import time
from collections import Counter

import pytest

from monitor.schedule import gate as gates
from monitor.schedule.gate import ABREAST, WAIT_S, Gate


@pytest.fixture
def long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits waits for long."""
    monkeypatch.setattr(gates, "WAIT_S", 600.0)


@pytest.mark.usefixtures("long_wait")
async def test_up_to_its_limit_nobody_waits() -> None:
    gate = Gate(2)
    async with asyncio.timeout(60):
        await gate.enter()
        await gate.enter()


@pytest.mark.usefixtures("long_wait")
async def test_beyond_it_one_waits_for_a_permit_that_is_left() -> None:
    gate = Gate(1)
    first = await gate.enter()
    asyncio.get_running_loop().call_soon(first.leave)
    async with asyncio.timeout(60):
        await gate.enter()


async def test_but_never_for_long_and_then_without_a_permit() -> None:
    gate = Gate(1)
    await gate.enter()
    began = time.monotonic()
    async with asyncio.timeout(60):
        extra = await gate.enter()
    waited_s = time.monotonic() - began
    extra.leave()
    again = asyncio.create_task(gate.enter())
    done, _ = await asyncio.wait([again], timeout=WAIT_S / 2)
    await again

    assert waited_s >= WAIT_S
    assert not done, "a permit that nobody had was given back"


async def test_a_permit_that_is_left_twice_is_free_once() -> None:
    gate = Gate(1)
    first = await gate.enter()
    first.leave()
    first.leave()
    await gate.enter()
    third = asyncio.create_task(gate.enter())
    done, _ = await asyncio.wait([third], timeout=WAIT_S / 2)
    await third

    assert not done


async def test_those_who_come_at_once_enter_a_few_in_each_turn_of_the_loop() -> None:
    gate, turn, entered = Gate(5), 0, Counter[int]()

    async def turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def enter() -> None:
        await gate.enter()
        entered[turn] += 1

    counting = asyncio.create_task(turns())
    await asyncio.gather(*(enter() for _ in range(9)))  # some with a permit and some without
    counting.cancel()

    assert entered.total() == 9
    assert max(entered.values()) <= ABREAST


@pytest.mark.usefixtures("long_wait")
async def test_who_is_cancelled_at_the_entrance_keeps_no_permit() -> None:
    gate = Gate(ABREAST + 1)
    entering = [asyncio.create_task(gate.enter()) for _ in range(ABREAST + 1)]
    await asyncio.sleep(0)
    last = entering.pop()
    last.cancel()
    await asyncio.wait([last])
    async with asyncio.timeout(60):
        await gate.enter()

    assert last.cancelled()
