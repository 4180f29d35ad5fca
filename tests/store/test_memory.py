"""The store's memory has a limit for each target, however many answers come."""

import asyncio

import pytest

from breaker.answer import Answer, Source
from breaker.store.redis import RedisStore
from tests.store.answers import failed, good, probe, record
from tests.store_server import StoreServer

AT_ONCE = 8
# More than the ids that are kept of a target, so that after the first fifth all is full.
FULL = 4_400


async def fill(store: RedisStore, numbers: range, targets: int) -> None:
    """Record so many answers of a few targets: mostly agents' reports, good and bad, and some probes."""
    left = iter(numbers)

    async def some() -> None:
        for number in left:
            await record(store, answer(number, targets))

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


def answer(number: int, targets: int) -> Answer:
    target, name = f"p/m{number % targets}", f"answer-{number:032d}"
    if number % 50 == 0:
        return probe(name, target=target)
    return (failed if number % 3 else good)(name, target=target, source=Source.REPORT)


def used(server: StoreServer) -> int:
    """The bytes of all keys."""
    with server.raw() as raw:
        return sum(int(raw.memory_usage(key, samples=0)) for key in raw.scan_iter("firstbyte:*"))


async def plateau(store: RedisStore, server: StoreServer, answers: int, targets: int) -> float:
    """How much larger the store is after all answers than after a fifth of them."""
    await fill(store, range(answers // 5), targets)
    before = used(server)
    await fill(store, range(answers // 5, answers), targets)
    return used(server) / before


async def test_memory_stays_flat(store: RedisStore, server: StoreServer) -> None:
    assert await plateau(store, server, 5 * FULL, targets=1) < 1.1


@pytest.mark.soak
async def test_memory_stays_flat_over_a_million_answers(store: RedisStore, server: StoreServer) -> None:
    assert await plateau(store, server, 1_000_000, targets=20) < 1.05


def test_the_answers_are_of_all_targets_and_kinds() -> None:
    made = [answer(number, 3) for number in range(200)]

    assert len({a.target for a in made}) == 3
    assert {a.source for a in made} == set(Source)
    assert {a.status for a in made} == {200, 500}
