import asyncio
from collections import Counter

from monitor.probe.turns import Turns


async def entered(turns: Turns, count: int) -> Counter[int]:
    """How many of those who came at once went on in which turn of the loop."""
    turn, went = 0, Counter[int]()

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def go() -> None:
        await turns.take()
        went[turn] += 1

    counting = asyncio.create_task(count_turns())
    await asyncio.gather(*(go() for _ in range(count)))
    counting.cancel()
    return went


async def test_only_a_few_go_on_in_each_turn() -> None:
    went = await entered(Turns(3), 20)

    assert went.total() == 20
    assert max(went.values()) == 3


async def test_after_a_pause_it_is_as_at_first() -> None:
    turns = Turns(2)
    first = await entered(turns, 5)
    await asyncio.sleep(0.01)
    second = await entered(turns, 5)

    assert sorted(first.values()) == sorted(second.values()) == [1, 2, 2]


async def test_who_is_cancelled_while_waiting_takes_no_turn() -> None:
    turns = Turns(1)
    first, cancelled, *others = [asyncio.create_task(turns.take()) for _ in range(4)]
    await asyncio.sleep(0)
    cancelled.cancel()
    async with asyncio.timeout(60):
        await asyncio.gather(first, *others)
        await asyncio.wait([cancelled])

    assert cancelled.cancelled()
