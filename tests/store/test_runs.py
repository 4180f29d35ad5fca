"""Runs, on every kind of store."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from breaker.errors import StoreError, StoreGoneError
from breaker.store.contract import Added, Conclusion, KeptRun, Note, Novel
from breaker.store.redis import RedisStore
from breaker.store.runs import KEPT_S, MOST_BYTES, MOST_FACTS, MOST_LAST
from tests.store_server import StoreServer

NEW, KNOWN, OUT = Added.NEW, Added.KNOWN, Added.LEFT_OUT


async def read(store: RedisStore, name: str = "one") -> KeptRun:
    return await store.runs.read(name)


async def conclude(store: RedisStore, name: str, decided: str, claimed: str) -> Novel | StoreError:
    (new,) = await store.runs.conclude([Conclusion(name, decided, claimed)])
    return new


FACTS, ABOUT = "firstbyte:{run:one}:facts", "firstbyte:{run:one}:about"


async def test_each_fact_is_kept_once(store: RedisStore) -> None:
    first = await store.runs.add("one", ["a", "b", "a"])
    second = await store.runs.add("one", ["b", "c"])
    kept = await read(store)

    assert (first, second) == ((NEW, NEW, KNOWN), (KNOWN, NEW))
    assert sorted(kept.lines) == ["a", "b", "c"]
    assert not kept.overfull
    assert kept.began is not None


async def test_one_that_nobody_told_of_is_empty(store: RedisStore) -> None:
    kept = await read(store)

    assert (kept.lines, kept.began, kept.decided, kept.claimed) == ((), None, "", "")


async def test_only_what_is_new_is_told_to_whoever_knows_the_rest(store: RedisStore) -> None:
    await store.runs.add("one", ["a", "b"])
    first = await read(store)
    again = await store.runs.read("one", first.stamp)
    await store.runs.add("one", ["a"])
    twice = await store.runs.read("one", first.stamp)
    await conclude(store, "one", "failed", "s1")
    concluded = await store.runs.read("one", first.stamp)
    await store.runs.add("one", ["c", "a"])
    await store.runs.add("one", ["0"])
    more = await store.runs.read("one", first.stamp)
    last = await store.runs.read("one", more.stamp)

    assert (first.whole, sorted(first.lines)) == (True, ["a", "b"])
    assert [(one.whole, one.lines, one.stamp) for one in (again, twice, concluded)] == [(False, (), first.stamp)] * 3
    assert (concluded.began, concluded.decided, concluded.claimed) == (first.began, "failed", "s1")
    assert (more.whole, more.lines) == (False, ("c", "0"))
    assert (last.whole, last.lines) == (False, ())


async def test_that_more_came_than_is_kept_is_news_too(store: RedisStore) -> None:
    await store.runs.add("one", [f"{number}" for number in range(MOST_FACTS)])
    before = await read(store)
    await store.runs.add("one", ["one more"])
    after = await store.runs.read("one", before.stamp)

    assert (after.stamp != before.stamp, after.overfull, after.whole, after.lines) == (True, True, False, ())


async def lost(server: StoreServer, lines: list[str]) -> None:
    """A server took over that lacked the last facts."""
    with server.raw() as raw:
        raw.zrem(FACTS, *lines)


async def lost_all(server: StoreServer, lines: list[str]) -> None:
    """It is forgotten, and is begun anew under the same id."""
    with server.raw() as raw:
        raw.delete(FACTS, ABOUT)


async def lost_facts(server: StoreServer, lines: list[str]) -> None:
    """A full server has thrown away one key of two."""
    with server.raw() as raw:
        raw.delete(FACTS)


@pytest.mark.parametrize("later", [["c"], ["c", "b"], ["c", "d"], ["b"], []], ids=str)
@pytest.mark.parametrize("lose", [lost, lost_all, lost_facts])
async def test_all_is_told_to_whoever_knows_what_is_not_there(
    store: RedisStore, server: StoreServer, lose: Callable[[StoreServer, list[str]], Awaitable[None]], later: list[str]
) -> None:
    await store.runs.add("one", ["a"])
    await store.runs.add("one", ["b", "b2"])
    known = await read(store)
    await lose(server, ["b", "b2"])
    for line in later:
        await store.runs.add("one", [line])
    found, cold = await store.runs.read("one", known.stamp), await read(store)

    assert found == cold
    assert found.whole
    assert found.stamp != known.stamp


async def test_what_is_new_always_comes_after_what_is_known(store: RedisStore, server: StoreServer) -> None:
    """A server took over whose clock is behind."""
    await store.runs.add("one", ["a", "b"])
    with server.raw() as raw:
        raw.zadd(FACTS, {"a": 4e15, "b": 4e15})
    known = await read(store)
    await store.runs.add("one", ["c"])
    await store.runs.add("one", ["d"])
    found = await store.runs.read("one", known.stamp)

    assert (found.whole, found.lines) == (False, ("c", "d"))


@pytest.mark.parametrize("known", ["x", "1 2", "1 2 x 1", "1796040000 3 1 ", "  0  "])
async def test_all_is_told_to_whoever_knows_something_else(store: RedisStore, known: str) -> None:
    await store.runs.add("one", ["a"])
    found = await store.runs.read("one", known)

    assert (found.whole, found.lines) == (True, ("a",))


async def test_many_may_add_at_once(store: RedisStore) -> None:
    became = await asyncio.gather(*(store.runs.add("one", [f"{number % 20}"]) for number in range(60)))

    assert [what for (what,) in became].count(NEW) == 20
    assert len(set((await read(store)).lines)) == 20


async def test_runs_stand_apart(store: RedisStore) -> None:
    await asyncio.gather(*(store.runs.add(f"run-{number}", [f"{number}"]) for number in range(20)))
    kept = await asyncio.gather(*(read(store, f"run-{number}") for number in range(20)))

    assert [one.lines for one in kept] == [(f"{number}",) for number in range(20)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([f"{number}" for number in range(MOST_FACTS)], id="of so many facts"),
        pytest.param([f"{number:0{MOST_BYTES // 64}}" for number in range(64)], id="of so many bytes"),
    ],
)
async def test_a_run_holds_no_more_than(store: RedisStore, lines: list[str]) -> None:
    filled = await store.runs.add("one", lines)
    before = await read(store)
    more = await store.runs.add("one", ["one more", lines[0]])
    after = await read(store)

    assert (set(filled), more) == ({NEW}, (OUT, KNOWN))
    assert (before.overfull, after.overfull) == (False, True)
    assert sorted(after.lines) == sorted(before.lines)


async def test_it_is_forgotten_a_day_after_its_last_fact(store: RedisStore, server: StoreServer) -> None:
    await store.runs.add("one", ["a"])
    with server.raw() as raw:
        raw.expire(FACTS, 60)
        raw.expire(ABOUT, 60)
        await store.runs.add("one", ["b"])
        left = [raw.ttl(FACTS), raw.ttl(ABOUT)]

    assert all(KEPT_S - 60 < seconds <= KEPT_S for seconds in left)


async def test_each_decision_and_each_claim_is_new_once(store: RedisStore) -> None:
    await store.runs.add("one", ["a"])
    found = await asyncio.gather(*(conclude(store, "one", "failed", "s1") for _ in range(10)))
    others = [
        await conclude(store, "one", "completed", "s1"),
        await conclude(store, "one", "completed", "s2"),
        await conclude(store, "one", "completed", ""),
    ]
    kept = await read(store)

    assert sorted(new for new in found if isinstance(new, Novel)) == [(False, False)] * 9 + [(True, True)]
    assert others == [(True, False), (False, True), (False, False)]
    assert (kept.decided, kept.claimed) == ("completed", "s2")


async def test_a_decision_makes_no_run(store: RedisStore) -> None:
    assert await conclude(store, "one", "failed", "s1") == (False, False)
    assert (await read(store)).began is None


async def test_those_of_many_runs_are_noted_in_one_go(store: RedisStore, server: StoreServer) -> None:
    names = [f"run-{number}" for number in range(20)]
    for name in names:
        await store.runs.add(name, ["a"])
    await store.runs.conclude([Conclusion(name, "failed", "") for name in names[::2]])
    with server.raw() as raw:
        raw.delete("firstbyte:{run:run-7}:about")
        raw.set("firstbyte:{run:run-7}:about", "something else")
    new = await store.runs.conclude([Conclusion(name, "failed", "s1") for name in names])

    assert isinstance(new[7], StoreError)
    assert new[:7] + new[8:] == [(number % 2 == 1, True) for number in range(20) if number != 7]


async def test_the_last_decisions_and_all_claims_are_kept(store: RedisStore) -> None:
    await store.runs.note([Note("first"), Note("second", "p", prevented=True)])
    await store.runs.note([Note("third", "p")])
    last = await store.runs.last(2)

    assert [line.partition(" ")[2] for line in last.lines] == ["third", "second"]
    assert all(0 <= last.now - float(line.partition(" ")[0]) < 600 for line in last.lines)
    assert (last.claimed, last.prevented) == ({"p": 2}, {"p": 1})


async def test_of_the_last_decisions_so_many_are_kept(store: RedisStore) -> None:
    for number in range(MOST_LAST + 5):
        await store.runs.note([Note(f"{number}")])
    last = await store.runs.last(MOST_LAST + 5)

    assert len(last.lines) == MOST_LAST
    assert last.lines[0].endswith(f" {MOST_LAST + 4}")


async def test_what_is_something_else_is_told(store: RedisStore, server: StoreServer) -> None:
    with server.raw() as raw:
        raw.set(FACTS, "x")

    with pytest.raises(StoreError):
        await store.runs.add("one", ["a"])
    with pytest.raises(StoreError):
        await store.runs.read("one")


async def test_a_store_that_is_gone_is_told() -> None:
    nowhere = RedisStore.from_url("unix:///not/there")
    with pytest.raises(StoreGoneError):
        await nowhere.runs.add("one", ["a"])
    with pytest.raises(StoreGoneError):
        await nowhere.runs.read("one")
    await nowhere.close()
