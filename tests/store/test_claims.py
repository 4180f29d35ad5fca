"""Claims on targets, on a real server."""

import asyncio

import pytest

from breaker.errors import StoreGoneError
from breaker.store.redis import RedisStore
from tests.store_server import StoreServer

KEY = "firstbyte:{p/m}:claim"


async def test_one_at_a_time_has_the_claim(store: RedisStore) -> None:
    taken = await asyncio.gather(*(store.claim("p/m", f"h{number}", 60.0) for number in range(20)))
    other = await store.claim("p/n", "h99", 60.0)

    assert taken.count(True) == 1
    assert other


async def test_its_holder_renews_it(store: RedisStore, server: StoreServer) -> None:
    assert await store.claim("p/m", "one", 1.0)
    assert await store.claim("p/m", "one", 60.0)
    with server.raw() as raw:
        left_ms = raw.pttl(KEY)

    assert 50_000 < left_ms <= 60_000


async def test_it_is_given_back_by_its_holder_alone(store: RedisStore) -> None:
    await store.claim("p/m", "one", 60.0)
    await store.unclaim("p/m", "two")
    kept = await store.claim("p/m", "two", 60.0)
    await store.unclaim("p/m", "one")
    await store.unclaim("p/m", "one")
    free = await store.claim("p/m", "two", 60.0)

    assert (kept, free) == (False, True)


async def test_it_lapses_by_itself(store: RedisStore, server: StoreServer) -> None:
    await store.claim("p/m", "one", 0.05)
    async with asyncio.timeout(60):
        while not await store.claim("p/m", "two", 60.0):
            pass
    with server.raw() as raw:
        assert raw.get(KEY) == "two"


async def test_a_store_that_is_gone_is_told() -> None:
    nowhere = RedisStore.from_url("unix:///not/there")
    with pytest.raises(StoreGoneError):
        await nowhere.claim("p/m", "one", 1.0)
    with pytest.raises(StoreGoneError):
        await nowhere.unclaim("p/m", "one")
    await nowhere.close()
