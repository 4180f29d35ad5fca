"""Decisions are counted once, behind the answers."""

import logging

import pytest

from breaker.done import decide
from breaker.run import fold
from breaker.store.contract import KeptRun
from breaker.store.redis import RedisStore
from breaker.switchboard.concluding import Concluding
from breaker.switchboard.listeners import Concluded, Listeners
from tests.fixtures import _worker_server, folder, server, store, store_url
from tests.run.made import answer
from tests.store_server import StoreServer

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]

DECISION = decide(fold([answer(1)]))
ABOUT, LAST = "firstbyte:{run:one}:about", "firstbyte:{runs}:last"


@pytest.fixture
def told() -> list[Concluded]:
    return []


@pytest.fixture
def counter(store: RedisStore, told: list[Concluded]) -> Concluding:
    return Concluding(store.runs, Listeners(concluded=(told.append,)))


async def kept(store: RedisStore, name: str) -> KeptRun:
    await store.runs.add(name, ["a"])
    return await store.runs.read(name)


async def test_one_that_is_asked_for_again_is_counted_once(
    store: RedisStore, counter: Concluding, told: list[Concluded]
) -> None:
    found = await kept(store, "one")
    for _ in range(3):
        await counter.conclude("one", found, DECISION)
    await counter.settled()
    await counter.conclude("one", await kept(store, "one"), DECISION)
    await counter.settled()

    assert [(one.mark, one.claim, one.provider) for one in told] == [("one", True, "zai")]
    assert (await store.runs.last(9)).claimed == {"zai": 1}


@pytest.mark.parametrize("key", [ABOUT, LAST])
async def test_what_the_store_does_not_take_is_counted_with_the_next(
    store: RedisStore,
    server: StoreServer,
    counter: Concluding,
    told: list[Concluded],
    caplog: pytest.LogCaptureFixture,
    key: str,
) -> None:
    one, two = await kept(store, "one"), await kept(store, "two")
    with server.raw() as raw, caplog.at_level(logging.WARNING):
        if raw.exists(key):
            raw.rename(key, "aside")
        raw.set(key, "something else")
        await counter.conclude("one", one, DECISION)
        await counter.settled()
        raw.delete(key)
        if raw.exists("aside"):
            raw.rename("aside", key)
    await counter.conclude("two", two, DECISION)
    await counter.settled()

    assert "aren't counted yet" in caplog.text
    assert [one.mark for one in told] == ["one", "two"]
    assert len((await store.runs.last(9)).lines) == 2
    assert (await store.runs.last(9)).claimed == {"zai": 2}


async def test_more_than_may_wait_are_counted_too(
    store: RedisStore, counter: Concluding, told: list[Concluded]
) -> None:
    many = [f"run-{number}" for number in range(40)]
    for name in many:
        await counter.conclude(name, await kept(store, name), DECISION)
    await counter.settled()

    assert [one.mark for one in told] == many
