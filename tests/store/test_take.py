"""Claims for probes that others may have made needless, on a real server."""

import asyncio

import pytest

from breaker.errors import StoreGoneError
from breaker.store.claim import Grant, Need, Wish
from breaker.store.redis import RedisStore
from tests.store_server import StoreServer

INTERVAL_S = 60.0
PROBED = "firstbyte:{p/m}:probed"


def wish(need: Need, since: float, covers: float = 0.0) -> Wish:
    return Wish(need, since, INTERVAL_S, covers)


async def now(store: RedisStore) -> float:
    return (await store.look("p/m")).now


async def told(store: RedisStore, made: Wish) -> None:
    """A whole probe, which told something."""
    assert (await store.take("p/m", "other", 60.0, made)).given
    await store.unclaim("p/m", "other", made)


@pytest.mark.parametrize("need", Need)
async def test_of_many_who_wish_for_the_same_probe_one_may_send_it(store: RedisStore, need: Need) -> None:
    since = await now(store)
    grants = await asyncio.gather(*(store.take("p/m", f"h{i}", 60.0, wish(need, since)) for i in range(50)))

    assert sum(grant.given for grant in grants) == 1


@pytest.mark.parametrize("need", Need)
async def test_after_it_was_sent_it_is_needless(store: RedisStore, need: Need) -> None:
    since = await now(store)
    await told(store, wish(need, since))
    grant = await store.take("p/m", "one", 60.0, wish(need, since))

    assert grant.needless
    assert grant.began_ago_s is not None
    assert grant.began_ago_s < 10.0


@pytest.mark.parametrize("need", Need)
async def test_the_next_one_is_another_matter(store: RedisStore, need: Need) -> None:
    await told(store, wish(need, await now(store)))

    assert (await store.take("p/m", "one", 60.0, wish(need, await now(store)))).given


@pytest.mark.parametrize(
    ("need", "given"),
    [
        pytest.param(Need.TURN, True, id="a turn is made up for"),
        pytest.param(Need.CONFIRM, True, id="so is a confirming one"),
        pytest.param(Need.PACE, False, id="the pace is kept all the same"),
    ],
)
async def test_what_told_nothing_was_no_probe(store: RedisStore, need: Need, *, given: bool) -> None:
    since = await now(store)
    await store.take("p/m", "dead", 60.0, wish(need, since))
    await store.unclaim("p/m", "dead")

    assert (await store.take("p/m", "one", 60.0, wish(need, since))).given is given


async def test_while_the_owner_of_a_turn_is_at_it_others_need_not_wait(store: RedisStore) -> None:
    since = await now(store)
    await store.take("p/m", "owner", 60.0, wish(Need.TURN, since))

    assert (await store.take("p/m", "one", 60.0, wish(Need.TURN, since))).needless


async def test_a_turn_waits_for_an_older_probe_until_its_claim_lapses(store: RedisStore) -> None:
    """Then its owner is dead."""
    await store.take("p/m", "dead", 0.2, wish(Need.TURN, await now(store)))
    since = await now(store)
    found: list[Grant] = []
    async with asyncio.timeout(60):
        while not found or not found[-1].given:
            found.append(await store.take("p/m", "one", 60.0, wish(Need.TURN, since)))

    assert 0.0 < (found[0].again_in_s or 0.0) <= 0.2
    assert not found[0].needless


async def test_an_older_probe_that_tells_something_meanwhile_does_for_the_turn(store: RedisStore) -> None:
    old = wish(Need.TURN, await now(store))
    await store.take("p/m", "owner", 60.0, old)
    since = await now(store)
    await store.unclaim("p/m", "owner", old)

    assert (await store.take("p/m", "one", 60.0, wish(Need.TURN, since))).needless


async def test_a_probe_whose_claim_has_lapsed_was_good_for_its_own_turn_and_no_later_one(
    store: RedisStore, server: StoreServer
) -> None:
    own = wish(Need.TURN, await now(store))
    await store.take("p/m", "slow", 60.0, own)
    with server.raw() as raw:
        raw.delete("firstbyte:{p/m}:claim")
    later = wish(Need.TURN, await now(store))
    await store.unclaim("p/m", "slow", own)

    assert (await store.take("p/m", "one", 60.0, own)).needless
    assert (await store.take("p/m", "one", 60.0, later)).given


async def test_only_confirming_probes_confirm(store: RedisStore) -> None:
    since = await now(store)
    await told(store, wish(Need.TURN, since))

    assert (await store.take("p/m", "one", 60.0, wish(Need.CONFIRM, since))).given


async def test_a_first_probe_may_cover_the_next_turn(store: RedisStore) -> None:
    since = await now(store)
    await told(store, wish(Need.TURN, since, covers=since + 20.0))
    covered = await store.take("p/m", "one", 60.0, wish(Need.TURN, since + 0.5))
    with_it = await store.take("p/m", "one", 60.0, wish(Need.PACE, await now(store)))

    assert covered.needless
    assert with_it.given


async def test_a_turn_that_was_taken_a_little_early_is_taken(store: RedisStore) -> None:
    """By one who thinks that the store's clock is half a second further."""
    due = await now(store) + 0.5
    await told(store, wish(Need.TURN, due))

    assert (await store.take("p/m", "one", 60.0, wish(Need.TURN, due))).needless


@pytest.mark.parametrize("need", Need)
async def test_a_replica_whose_clock_is_minutes_off_gets_nothing_twice(store: RedisStore, need: Need) -> None:
    """Neither what is over nor what is still to come."""
    at = await now(store)
    await told(store, wish(need, at))
    found = [await store.take("p/m", "off", 60.0, wish(need, at + by)) for by in (-300.0, -60.0, 60.0, 300.0)]

    assert [grant.needless for grant in found] == [True] * 4


@pytest.mark.parametrize("need", Need)
async def test_what_is_noted_from_before_the_clock_was_set_back_keeps_nothing_back(
    store: RedisStore, server: StoreServer, need: Need
) -> None:
    at = await now(store)
    with server.raw() as raw:
        raw.hset(PROBED, mapping=dict.fromkeys(("began", "told", "confirmed"), at + 3600.0))

    assert (await store.take("p/m", "one", 60.0, wish(need, at))).given


async def test_nothing_is_kept_for_ever(store: RedisStore, server: StoreServer) -> None:
    await told(store, wish(Need.TURN, await now(store)))
    with server.raw() as raw:
        left_s = raw.ttl(PROBED)

    assert 86_400 < left_s <= 2 * 86_400


async def test_a_store_that_is_gone_is_told() -> None:
    nowhere = RedisStore.from_url("unix:///not/there")
    with pytest.raises(StoreGoneError):
        await nowhere.take("p/m", "one", 1.0, wish(Need.TURN, 1.0))
    await nowhere.close()
