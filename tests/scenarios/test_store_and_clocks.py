"""Replicas, clocks, and a store that forgets, falls back, refuses or is gone."""

import asyncio
from pathlib import Path

import pytest

from breaker.circuit import Cause, State
from breaker.route import Role
from breaker.store.codec import CIRCUIT_FIELDS
from breaker.store.redis import RedisStore
from breaker.switchboard import REFRESH_S
from tests.boards import Heard, answering, believe, pass_time
from tests.cluster import one_node_cluster
from tests.entries import failed, good
from tests.fixtures import PATIENT_S
from tests.scenarios.boards import FIRST, SECOND, board_over, stores_over, tripped
from tests.scenarios.story import Story, throttled
from tests.store.answers import failed as failed_report
from tests.store.answers import good as good_report
from tests.store.answers import names
from tests.store_server import StoreServer

KEY = f"firstbyte:{{{FIRST.name}}}:circuit"


@pytest.mark.scenario("store-1")
async def test_a_flushed_store_gets_the_open_circuit_back_from_any_replica(
    store: RedisStore, server: StoreServer
) -> None:
    """All keys are deleted while a circuit is open; then with no replica left that knew it."""
    heard = Heard()
    board = board_over(store, heard=heard)
    ends = await tripped(board)
    epoch = board.standing(FIRST.name).circuit.epoch
    with server.raw() as raw:
        raw.flushall()
    await board.refresh()

    circuit = (await store.look(FIRST.name)).circuit
    assert heard.moved[-1][1].cause is Cause.RESTORED
    assert circuit.open_until == pytest.approx(ends, abs=1e-5)
    with server.raw() as raw:
        raw.flushall()
    fresh = board_over(store, heard=heard)
    await fresh.report(good_report("g", target=FIRST.name))
    await fresh.refresh()
    assert fresh.standing(FIRST.name).state is State.CLOSED
    assert fresh.standing(FIRST.name).circuit.epoch not in ("", epoch)


@pytest.mark.scenario("store-2")
async def test_looking_at_an_open_circuit_never_moves_its_end(server: StoreServer) -> None:
    """Eight replicas read an open circuit again and again."""
    async with stores_over(server, 8) as stores:
        boards = [board_over(one) for one in stores]
        await tripped(boards[0])
        with server.raw() as raw:
            before = raw.hget(KEY, "open_until")
            for _ in range(10):
                await asyncio.gather(*(board.refresh() for board in boards))
                await asyncio.gather(*(board.settle() for board in boards))
            assert raw.hget(KEY, "open_until") == before

    assert {board.standing(FIRST.name).circuit.open_until for board in boards} == {float(before or 0)}


@pytest.mark.scenario("store-3")
@pytest.mark.parametrize("lost", ["open_until", "moved_at", "generation"])
async def test_a_circuit_that_has_lost_a_part_is_lost_and_not_over(
    store: RedisStore, server: StoreServer, lost: str
) -> None:
    """One part of what the store keeps of an open circuit is gone."""
    board = board_over(store)
    ends = await tripped(board)
    with server.raw() as raw:
        raw.hdel(KEY, lost)
    await board.report(good_report("g", target=FIRST.name))
    for _ in range(2):
        await board.refresh()

    assert board.standing(FIRST.name).state is State.OPEN
    assert (await store.look(FIRST.name)).circuit.open_until == pytest.approx(ends, abs=1e-5)


@pytest.mark.scenario("store-4")
async def test_a_flush_in_the_middle_of_a_call_leaves_a_whole_circuit(store: RedisStore, server: StoreServer) -> None:
    """All keys are deleted between a call's begin and its end."""
    board = board_over(store)
    await board.report(failed_report("before", target=FIRST.name))
    with server.raw() as raw:
        raw.flushall()
    await board.report(failed_report("straddles", target=FIRST.name, age_s=60.0))
    with server.raw() as raw:
        assert set(raw.hgetall(KEY)) == set(CIRCUIT_FIELDS)

    assert board.standing(FIRST.name).state is State.CLOSED
    await board.report(failed_report("after", target=FIRST.name))
    assert board.standing(FIRST.name).state is State.OPEN


@pytest.mark.scenario("store-5")
async def test_nothing_is_held_while_a_call_is_under_way(server: StoreServer) -> None:
    """One replica's call takes a minute; another reports meanwhile."""
    async with stores_over(server, 2) as (one, two):
        slow_side, quick_side = board_over(one), board_over(two)
        await slow_side.refresh()
        with server.raw() as raw:
            assert raw.keys() == []  # a call that has begun has left nothing that others could wait for
        async with asyncio.timeout(PATIENT_S):
            judged = await quick_side.report(good_report("quick", target=FIRST.name))
        assert judged is not None
        assert await slow_side.report(good_report("slow", target=FIRST.name, age_s=60.0, seconds=60.0)) is not None
        reading = await one.look(FIRST.name)

    assert names(reading.log.reports) == ["quick", "slow"]
    assert reading.now - reading.log.reports[1].began == pytest.approx(60.0, abs=5.0)


@pytest.mark.scenario("store-6")
async def test_the_clocks_of_replicas_decide_nothing(server: StoreServer) -> None:
    """The replicas' clocks stand minutes apart."""
    async with stores_over(server, 3) as stores:
        boards = [board_over(one) for one in stores]
        await asyncio.gather(*(board.refresh() for board in boards))
        for board, step_s in zip(boards, (-300.0, 0.0, 300.0), strict=True):
            believe(board, step_s)
        with server.raw() as raw:
            before = raw.time()[0]
            for number, board in enumerate(boards):
                await board.report(failed_report(f"f{number}", target=FIRST.name, age_s=3.0))
            after = raw.time()[0] + 1
        readings = [await one.look(FIRST.name) for one in stores]

    ends = {reading.circuit.open_until for reading in readings}
    assert len(ends) == 1
    assert before + 600.0 <= (ends.pop() or 0.0) <= after + 600.0
    assert all(before - 3.0 <= entry.began <= after for entry in readings[0].log.reports)


@pytest.mark.scenario("store-7")
async def test_while_the_store_is_gone_the_last_known_goes_on_and_says_so(own: StoreServer) -> None:
    """The store is gone from shortly after the trip until after the hold's end."""
    store = RedisStore.from_url(own.url, limit_s=PATIENT_S)
    board = board_over(store)
    await board.refresh()
    await tripped(board)
    own.kill()
    pass_time(board, 10.0)
    open_decision = board.route()
    assert (open_decision.role, open_decision.stale, open_decision.state) == (Role.BACKUP, True, State.CLOSED)
    assert await board.report(failed_report("meanwhile", target=FIRST.name)) is None
    pass_time(board, 600.0)
    assert (board.route().role, board.standing(FIRST.name).state) == (Role.BACKUP, State.HALF_OPEN)

    own.start()
    pass_time(board, -600.0)
    await answering(board)
    found = (await store.look(FIRST.name)).circuit
    await store.close()
    assert found.open_until is not None  # the server came back empty, and was told
    assert board.waiting() == 0


@pytest.mark.scenario("store-8")
def test_a_clock_that_is_set_neither_lengthens_a_hold_nor_proves_recovery() -> None:
    """The store's clock goes back by 700 s; in another story it goes forward by an hour."""
    back = Story()
    back.trip_at_85()
    back.go(300.0)
    back.set_clock(-700.0)
    assert back.last.cause is Cause.CLOCK
    assert (back.circuit.open_until or 0.0) - back.now <= 600.0

    forward = Story()
    forward.trip_at_85()
    forward.probes(good, [200.0, 260.0, 295.0])
    forward.set_clock(3600.0)
    assert forward.last.cause is not Cause.RECOVERED
    assert forward.causes() == [Cause.SLOW, Cause.UNVERIFIED]


@pytest.mark.scenario("store-9")
async def test_a_failover_that_loses_the_trip_is_noticed_and_made_good(store: RedisStore, server: StoreServer) -> None:
    """A replica of the store takes over that knows everything but the last seconds."""
    board = board_over(store)
    await board.report(good_report("before", target=FIRST.name))
    with server.raw() as raw:
        raw.copy(KEY, "older")
    ends = await tripped(board)
    epoch = board.standing(FIRST.name).circuit.epoch
    with server.raw() as raw:
        raw.copy("older", KEY, replace=True)
    await board.refresh()

    found = (await store.look(FIRST.name)).circuit
    assert found.epoch == epoch
    assert found.open_until == pytest.approx(ends, abs=1e-5)
    assert [move.cause for move in await store.moves(FIRST.name, 1)] == [Cause.RESTORED]


@pytest.mark.scenario("store-10")
async def test_a_cluster_takes_every_call(folder: Path) -> None:
    """The store is a node of a cluster, which refuses calls that touch two slots."""
    async with one_node_cluster(folder) as url:
        store = RedisStore.from_url(url, limit_s=PATIENT_S)
        board = board_over(store)
        await tripped(board)
        await board.refresh()
        await board.hold(SECOND.name, opened=True, who="ann", why="test", for_s=60)
        await board.look_again()
        await board.settle()
        moves = [(await board.moves(name))[0].cause for name in (FIRST.name, SECOND.name)]
        await store.close()

    assert moves == [Cause.ERRORS, Cause.MANUAL]
    assert board.route().role is Role.LAST_RESORT


@pytest.mark.scenario("store-11")
def test_a_short_time_out_does_not_cut_a_long_one_short() -> None:
    """A 429 asks for one second while the target fails; another comes in the middle of a long hold."""
    story = Story()
    story.probe(throttled, 60.0, retry_after_s=1.0)
    assert story.ends == 65.0
    story.probe(failed, 64.0)
    story.go(70.0)
    assert story.decision().role is Role.BACKUP
    story.probe(failed, 80.0)
    assert story.ends == 680.0

    story.probe(throttled, 200.0, retry_after_s=1.0)
    story.go(210.0)
    assert (story.state, story.ends) == (State.OPEN, 680.0)


@pytest.mark.scenario("store-12")
async def test_another_replica_knows_of_a_move_at_once_and_within_a_second_without_being_told(
    server: StoreServer,
) -> None:
    """One replica trips; another listens, a third one only reads once a second."""
    async with stores_over(server, 3) as stores:
        here, listens, reads = (board_over(one) for one in stores)
        await asyncio.gather(listens.refresh(), reads.refresh())
        async with stores[1].announcements() as said:
            await tripped(here)
            async with asyncio.timeout(60):
                name, circuit = await anext(said)
        listens._mover.take(name, circuit)
        assert listens.route().role is Role.BACKUP
        assert reads.route().role is Role.PRIMARY
        await reads.refresh()

    assert reads.route().role is Role.BACKUP
    assert REFRESH_S <= 1.0


@pytest.mark.scenario("store-13")
async def test_forgotten_scripts_and_a_node_that_takes_no_writes_lose_nothing(own: StoreServer) -> None:
    """The scripts are flushed between two calls; then the node is a replica for a while."""
    store = RedisStore.from_url(own.url, limit_s=PATIENT_S)
    heard = Heard()
    board = board_over(store, heard=heard)
    await board.report(failed_report("one", target=FIRST.name))
    with own.raw() as raw:
        raw.script_flush()
        await board.report(good_report("two", target=FIRST.name))
        raw.replicaof("127.0.0.1", 1)
        assert await board.report(failed_report("three", target=FIRST.name)) is None
        raw.replicaof("NO", "ONE")
    await answering(board)
    reading = await store.look(FIRST.name)
    await store.close()

    assert names(reading.log.reports) == ["one", "two", "three"]
    assert [judged.answer.id for judged in heard.judged] == ["one", "two", "three"]


@pytest.mark.scenario("store-14")
async def test_an_answer_that_is_told_twice_counts_once(own: StoreServer) -> None:
    """The reply to a report is lost, and it is sent again; so do sixteen in a race."""
    store = RedisStore.from_url(own.url, limit_s=1.0)  # what a frozen server costs
    board = board_over(store)
    await board.report(good_report("before", target=FIRST.name))
    own.freeze()
    assert await board.report(failed_report("again", target=FIRST.name)) is None
    own.thaw()
    await answering(board)
    judged = await asyncio.gather(*(board.report(failed_report("again", target=FIRST.name)) for _ in range(16)))
    await store.close()

    assert [any(one.reading.counted) for one in judged if one is not None] == [False] * 16
    assert board.standing(FIRST.name).state is State.CLOSED
    assert names(board.standing(FIRST.name).log.reports) == ["before", "again"]


@pytest.mark.scenario("store-15")
async def test_a_hold_by_hand_reaches_all_replicas_while_the_rest_goes_on_beneath(server: StoreServer) -> None:
    """Somebody closes a circuit by hand in the middle of an outage."""
    async with stores_over(server, 2) as (one, two):
        here, there = board_over(one), board_over(two)
        await here.hold(FIRST.name, opened=False, who="ann", why="we know", for_s=300)
        await tripped(here)
        await there.refresh()
        assert there.standing(FIRST.name).state is State.HELD_CLOSED
        assert there.route().role is Role.PRIMARY
        await there.release(FIRST.name, who="ann", why="done")
        await here.refresh()

    assert {here.standing(FIRST.name).state, there.standing(FIRST.name).state} == {State.OPEN}


@pytest.mark.scenario("store-16")
async def test_a_restart_of_every_replica_moves_no_hold(server: StoreServer) -> None:
    """All replicas start anew in the middle of a hold."""
    async with stores_over(server, 1) as (one,):
        ends = await tripped(board_over(one))
    async with stores_over(server, 3) as stores:
        boards = [board_over(store) for store in stores]
        await asyncio.gather(*(board.refresh() for board in boards))

        found = [board.standing(FIRST.name).circuit.open_until for board in boards]
        assert found == pytest.approx([ends] * 3, abs=1e-5)
        assert {board.standing(FIRST.name).state for board in boards} == {State.OPEN}
