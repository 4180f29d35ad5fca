"""Decisions are counted once, behind the answers."""

import asyncio
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


@pytest.mark.parametrize("key", [ABOUT, LAST])
async def test_at_the_end_what_the_store_did_not_take_is_counted_though_nobody_asks(
    store: RedisStore, server: StoreServer, counter: Concluding, told: list[Concluded], key: str
) -> None:
    one = await kept(store, "one")
    with server.raw() as raw:
        if raw.exists(key):
            raw.rename(key, "aside")
        raw.set(key, "something else")
        await counter.conclude("one", one, DECISION)
        await counter.settled()
        ending = asyncio.create_task(counter.drain(60))
        await asyncio.sleep(0.1)
        raw.delete(key)
        if raw.exists("aside"):
            raw.rename("aside", key)
    await ending

    assert [one.mark for one in told] == ["one"]
    assert len((await store.runs.last(9)).lines) == 1


async def test_at_the_end_a_store_that_is_gone_is_waited_for_so_long_and_no_longer(
    store: RedisStore, server: StoreServer, counter: Concluding, caplog: pytest.LogCaptureFixture
) -> None:
    found = [await kept(store, name) for name in ("one", "two")]
    server.freeze()
    try:
        for name, one in zip(("one", "two"), found, strict=True):
            await counter.conclude(name, one, DECISION)
        async with asyncio.timeout(60):
            await counter.drain(0.3)
    finally:
        server.thaw()

    assert "2 decisions about runs aren't counted, since the store didn't take them in time" in caplog.text
