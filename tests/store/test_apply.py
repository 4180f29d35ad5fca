"""Which of several moves is made, what is noted of it, and who hears of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from breaker.circuit import Cause, Circuit, Held, Move, State, hold
from breaker.store.contract import LEDGER
from breaker.store.redis import CHANNEL, RedisStore
from tests.fixtures import PATIENT_S
from tests.store.answers import TARGET, failed, late, probe, record
from tests.store_server import StoreServer

DAY_S = 86_400


def key(name: str) -> str:
    return f"firstbyte:{{{TARGET}}}:{name}"


async def opened(store: RedisStore) -> Move:
    """A move that two bad probes would make, not yet applied."""
    reading = await record(store, probe("late", status=500), failed("b"), late("c"))
    after = replace(
        reading.circuit,
        generation=reading.circuit.generation + 1,
        cause=Cause.ERRORS,
        moved_at=reading.now,
        open_until=reading.now + 600.0,
    )
    return Move(
        at=reading.now,
        before=State.CLOSED,
        after=State.OPEN,
        cause=Cause.ERRORS,
        why="2 bad answers in a row",
        circuit=after,
        answers=(*reading.log.probes, *reading.log.reports),
    )


def before(move: Move) -> Circuit:
    """The circuit that `opened` judged."""
    return Circuit(epoch=move.circuit.epoch)


@pytest.fixture
async def stores(server: StoreServer) -> AsyncIterator[list[RedisStore]]:
    """Sixteen replicas' stores."""
    made = [RedisStore.from_url(server.url, limit_s=PATIENT_S) for _ in range(16)]
    yield made
    for one in made:
        await one.close()


async def test_a_move_is_made_as_it_was_judged(store: RedisStore) -> None:
    move = await opened(store)

    assert await store.apply(TARGET, move, before(move)) == move

    assert (await store.look(TARGET)).circuit == move.circuit
    assert (await store.circuits([TARGET]))[0] == {TARGET: move.circuit}
    assert await store.moves(TARGET, 10) == [move]


@pytest.mark.parametrize(
    "stale",
    [
        lambda circuit: replace(circuit, generation=7),
        lambda circuit: replace(circuit, epoch="0123456789abcdef"),
        lambda circuit: Circuit(),
    ],
    ids=["generation", "epoch", "absent"],
)
async def test_a_move_judged_on_another_circuit_changes_nothing(
    store: RedisStore, server: StoreServer, stale: Callable[[Circuit], Circuit]
) -> None:
    move = await opened(store)
    found = await store.look(TARGET)

    assert await store.apply(TARGET, move, stale(before(move))) is None

    assert (await store.look(TARGET)).circuit == found.circuit
    assert await store.moves(TARGET, 10) == []


async def test_the_same_move_is_made_once(store: RedisStore) -> None:
    move = await opened(store)
    await store.apply(TARGET, move, before(move))

    assert await store.apply(TARGET, move, before(move)) is None


async def test_of_sixteen_replicas_one_moves_the_circuit(store: RedisStore, stores: list[RedisStore]) -> None:
    move = await opened(store)
    async with store.announcements() as heard:
        made = await asyncio.gather(*(one.apply(TARGET, move, before(move)) for one in stores))

        assert [one for one in made if one is not None] == [move]
        assert await asyncio.wait_for(anext(heard), 60) == (TARGET, move.circuit)
    assert await store.moves(TARGET, 10) == [move]


async def test_a_circuit_that_was_never_there_gets_its_epoch_with_the_move(store: RedisStore) -> None:
    reading = await store.look(TARGET)
    wanted = hold(reading.circuit, reading.now, opened=True, who="ann", why="trial", until=reading.now + 60)

    made = await store.apply(TARGET, wanted, reading.circuit)

    assert made is not None
    assert len(made.circuit.epoch) == 16
    assert made == replace(wanted, circuit=replace(wanted.circuit, epoch=made.circuit.epoch))
    assert (await store.look(TARGET)).circuit == made.circuit
    assert (await record(store, probe("a"))).circuit == made.circuit


async def test_a_move_judged_before_the_first_answer_is_too_late_after_it(store: RedisStore) -> None:
    reading = await store.look(TARGET)
    wanted = hold(reading.circuit, reading.now, opened=True, who="ann", why="trial", until=reading.now + 60)
    await record(store, probe("a"))

    assert await store.apply(TARGET, wanted, reading.circuit) is None


async def test_a_move_judged_before_a_flush_is_too_late_after_it(store: RedisStore, server: StoreServer) -> None:
    move = await opened(store)
    with server.raw() as raw:
        raw.flushall()

    assert await store.apply(TARGET, move, before(move)) is None
    anew = await record(store, probe("a"))
    assert await store.apply(TARGET, move, before(move)) is None
    assert anew.circuit.epoch != move.circuit.epoch


async def test_a_hold_by_hand_comes_back_with_who_and_why(store: RedisStore) -> None:
    move = await opened(store)
    held = Held(opened=False, who="Zoë", why='a "trial"\nof two lines', since=move.at, until=move.at + 60.000001)
    wanted = replace(move, circuit=replace(move.circuit, held=held))

    await store.apply(TARGET, wanted, before(move))

    assert (await store.look(TARGET)).circuit.held == held
    assert await store.moves(TARGET, 1) == [wanted]


async def test_the_ledger_keeps_the_newest_moves_newest_first(store: RedisStore) -> None:
    move = await opened(store)
    judged = before(move)
    for _ in range(LEDGER + 5):
        made = await store.apply(
            TARGET, replace(move, circuit=replace(judged, generation=judged.generation + 1)), judged
        )
        assert made is not None
        judged = made.circuit

    kept = await store.moves(TARGET, 1000)
    assert [one.circuit.generation for one in kept] == list(range(LEDGER + 5, 5, -1))
    assert await store.moves(TARGET, 3) == kept[:3]
    assert await store.moves(TARGET, 0) == []


async def test_expiry_never_ends_a_hold(store: RedisStore, server: StoreServer) -> None:
    move = await opened(store)
    held = Held(opened=True, who="ann", why="summer", since=move.at, until=move.at + 90 * DAY_S)

    await store.apply(TARGET, replace(move, circuit=replace(move.circuit, held=held)), before(move))
    await record(store, probe("z"))

    with server.raw() as raw:
        assert raw.ttl(key("circuit")) > 119 * DAY_S
        assert raw.ttl(key("moves")) > 119 * DAY_S


async def test_an_unreadable_move_is_left_out(store: RedisStore, server: StoreServer) -> None:
    move = await opened(store)
    await store.apply(TARGET, move, before(move))
    with server.raw() as raw:
        raw.lpush(key("moves"), '{"cause":"unheard-of"}')

    assert await store.moves(TARGET, 10) == [move]


async def test_announcements_leave_out_what_they_cannot_read(store: RedisStore, server: StoreServer) -> None:
    move = await opened(store)
    async with store.announcements() as heard:
        with server.raw() as raw:
            raw.publish(CHANNEL, "hush")

        await store.apply(TARGET, move, before(move))

        assert await asyncio.wait_for(anext(heard), 60) == (TARGET, move.circuit)
