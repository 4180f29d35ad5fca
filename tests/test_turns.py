"""Batches whose replies come together have a turn of the loop each, where there is time for that."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from breaker.store.contract import Weighed
from breaker.switchboard.turns import Turns
from tests.store.answers import NOW, good, weighed

NAMES = [f"provider/{number}" for number in range(5)]


def batch(target: str, came_in_s: float) -> list[Weighed]:
    """Two answers of a target of which the second came so much later than the first."""
    return [weighed(good(name, target=target), waited_s=s) for name, s in (("a", came_in_s), ("b", 0.0))]


@contextmanager
def counting() -> Iterator[list[int]]:
    """The turns of the loop so far, as the list's one number."""
    turns = [0]

    async def count() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    task = asyncio.ensure_future(count())
    try:
        yield turns
    finally:
        task.cancel()


async def gone_on(made: Turns, came_in_s: float) -> list[int]:
    """In which turn each of five targets' batches goes on, whose last ones were in the store ten seconds before."""
    for name in NAMES:
        await made.take(batch(name, came_in_s), NOW)
    with counting() as turns:

        async def one(name: str) -> int:
            await made.take(batch(name, came_in_s), NOW + 10.0)
            return turns[0]

        return await asyncio.gather(*map(one, NAMES))


async def test_batches_that_go_faster_than_they_came_have_a_turn_each() -> None:
    seen = await gone_on(Turns(), 21.0)

    assert len(set(seen)) == len(NAMES)
    assert seen == sorted(seen)


@pytest.mark.parametrize("came_in_s", [0.0, 10.0, 19.0])
async def test_batches_that_go_hardly_faster_than_they_come_all_go_on_at_once(came_in_s: float) -> None:
    assert len(set(await gone_on(Turns(), came_in_s))) == 1


async def test_the_first_batch_of_a_target_goes_on_at_once() -> None:
    with counting() as turns:
        await Turns().take(batch(NAMES[0], 1000.0), NOW)

        assert turns == [0]


async def test_who_gives_up_keeps_nobody_from_a_turn() -> None:
    made = Turns()
    for name in NAMES:
        await made.take(batch(name, 0.0), NOW)
    tasks = [asyncio.ensure_future(made.take(batch(name, 100.0), NOW + 1.0)) for name in NAMES]
    await asyncio.sleep(0)
    for task in tasks[:2]:
        task.cancel()

    async with asyncio.timeout(60):
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(one, asyncio.CancelledError) for one in ended] == [True, True, False, False, False]
