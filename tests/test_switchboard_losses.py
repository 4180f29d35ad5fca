"""What the switchboard makes of lost replies, of keys that aren't ours, and of answers that come again."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from breaker.circuit import Cause, Circuit, Move, State
from breaker.errors import StoreGoneError
from breaker.store import codec
from breaker.store.redis import CHANNEL, RedisStore
from breaker.switchboard import newest
from breaker.usual import UNKNOWN, Usual
from breaker.usual import read as read_usual
from tests.boards import Heard, answering
from tests.fixtures import PATIENT_S, folder, own
from tests.store.answers import failed, good, probe
from tests.store_server import StoreServer
from tests.test_switchboard import FIRST, SECOND, board_over

__all__ = ["folder", "own"]


class Faulty(RedisStore):
    """A store whose reply to the next move is lost, which makes no move, or which keeps no lesson."""

    loses: StoreServer | None = None
    moves_nothing = False
    forgetful = False

    async def apply(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """Make the move; the server stands still until nobody waits any more."""
        if self.moves_nothing:
            raise StoreGoneError("the store is gone")
        if self.loses is None:
            return await super().apply(target, move, judged)
        server, self.loses = self.loses, None
        server.freeze()
        try:
            return await super().apply(target, move, judged)
        finally:
            server.thaw()

    async def learn(self, target: str, usual: Usual) -> None:
        """Keep what is usual, where it does."""
        if self.forgetful:
            raise StoreGoneError("the store has no memory left")
        await super().learn(target, usual)


@pytest.fixture
async def faulty(own: StoreServer) -> AsyncIterator[Faulty]:
    """A store over it that can be made to fail; with a limit, so that a lost reply is noticed."""
    made = Faulty.from_url(own.url, limit_s=0.5)
    yield made
    await made.close()


@pytest.fixture
async def store(own: StoreServer) -> AsyncIterator[RedisStore]:
    """Another replica's store, that never fails."""
    made = RedisStore.from_url(own.url, limit_s=PATIENT_S)
    yield made
    await made.close()


def key(target: str, name: str) -> str:
    return f"firstbyte:{{{target}}}:{name}"


@pytest.fixture
async def known_script(faulty: Faulty) -> None:
    """The server knows the script for moves, which else would be sent a second time."""
    await board_over(faulty).hold(SECOND.name, opened=True, who="ann", why="trial", for_s=60)


@pytest.mark.usefixtures("known_script")
async def test_a_move_whose_reply_was_lost_is_told_once_the_store_is_back(own: StoreServer, faulty: Faulty) -> None:
    heard = Heard()
    board = board_over(faulty, heard=heard)
    await board.report(failed("a", target=FIRST.name))
    faulty.loses = own
    assert await board.report(failed("b", target=FIRST.name)) is None
    assert heard.moved == []

    await board.refresh()
    await board.drain(PATIENT_S)

    assert [(target, move.cause) for target, move in heard.moved] == [(FIRST.name, Cause.ERRORS)]
    assert [judged.answer.id for judged in heard.judged] == ["a", "b"]
    assert board.standing(FIRST.name).state is State.OPEN


@pytest.mark.usefixtures("known_script")
async def test_a_hold_by_hand_whose_reply_was_lost_is_told_once_the_store_is_back(
    own: StoreServer, faulty: Faulty
) -> None:
    heard = Heard()
    board = board_over(faulty, heard=heard)
    faulty.loses = own
    with pytest.raises(StoreGoneError):
        await board.hold(FIRST.name, opened=True, who="ann", why="trial", for_s=60)

    await board.refresh()

    assert [move.cause for _, move in heard.moved] == [Cause.MANUAL]


async def test_a_hold_that_a_frozen_store_was_asked_for_is_not_made_once_it_goes_on(
    own: StoreServer, faulty: Faulty
) -> None:
    heard = Heard()
    board = board_over(faulty, heard=heard)
    for target in (FIRST, SECOND):  # so that it knows the script, and the circuit is known
        await board.hold(target.name, opened=True, who="ann", why="trial", for_s=60)
    await asyncio.gather(*(board.refresh() for _ in range(4)))  # over a connection each
    own.freeze()
    with pytest.raises(StoreGoneError):
        await board.refresh()
    asked = board.refresh(), board.hold(FIRST.name, opened=False, who="ann", why="over", for_s=60)
    said = await asyncio.gather(*asked, return_exceptions=True)
    own.thaw()
    await answering(board)

    assert [type(one) for one in said] == [StoreGoneError] * 2
    assert [move.after for _, move in heard.moved] == [State.HELD_OPEN] * 2
    assert board.standing(FIRST.name).state is State.HELD_OPEN


async def test_a_move_that_was_never_made_is_never_told(faulty: Faulty, store: RedisStore) -> None:
    heard = Heard()
    board = board_over(faulty, heard=heard)
    await board_over(store).hold(FIRST.name, opened=True, who="ann", why="trial", for_s=60)  # another's looks the same
    faulty.moves_nothing = True
    with pytest.raises(StoreGoneError):
        await board.hold(FIRST.name, opened=True, who="ann", why="trial", for_s=60)

    await board.refresh()

    assert heard.moved == []


async def test_a_lesson_that_is_lost_loses_no_answer(faulty: Faulty) -> None:
    board = board_over(faulty)
    faulty.forgetful = True

    judged = await board.report(probe("a", target=FIRST.name))

    assert judged is not None
    assert judged.reading.log.usual != UNKNOWN
    assert board.waiting() == 0


async def test_a_probe_that_comes_again_teaches_nothing(own: StoreServer, store: RedisStore) -> None:
    board = board_over(store)
    await board.report(probe("a", target=FIRST.name))
    with own.raw() as raw:
        before = str(raw.get(key(FIRST.name, "usual")))

        await board.report(probe("a", target=FIRST.name))

        assert raw.get(key(FIRST.name, "usual")) == before
    assert read_usual(before) != UNKNOWN


@pytest.mark.parametrize("name", ["circuit", "probes", "usual", "moves"])
async def test_a_key_that_is_not_ours_stops_its_own_target_alone(
    own: StoreServer, store: RedisStore, name: str
) -> None:
    board = board_over(store)
    for target in (FIRST, SECOND):
        for answer in ("a", "b"):
            await board.report(failed(answer, target=target.name))
    with own.raw() as raw:
        raw.delete(key(FIRST.name, name))
        raw.sadd(key(FIRST.name, name), "mine")

    for _ in range(3):
        await board.refresh()
        await board.settle()
    await board.look_again()

    assert board.standing(SECOND.name).state is State.OPEN
    assert board.standing(FIRST.name).state is State.OPEN  # as far as anybody knows
    assert not board.stale()
    await board.report(good("c", target=SECOND.name))
    entry = newest(board.standing(SECOND.name).log)
    assert entry is not None
    assert entry.answer.id == "c"


async def test_a_lost_circuit_that_cannot_be_put_back_stops_no_other(own: StoreServer, store: RedisStore) -> None:
    board = board_over(store)
    for target in (FIRST, SECOND):
        for answer in ("a", "b"):
            await board.report(failed(answer, target=target.name))
    with own.raw() as raw:
        raw.flushall()
        raw.set(key(FIRST.name, "moves"), "mine")

    await board.refresh()

    fresh = board_over(store)
    await fresh.refresh()
    assert fresh.standing(SECOND.name).state is State.OPEN


async def test_an_announcement_that_comes_late_takes_nothing_back(own: StoreServer, store: RedisStore) -> None:
    board = board_over(store)
    following = asyncio.ensure_future(board.follow())
    move = await board.hold(FIRST.name, opened=True, who="ann", why="trial", for_s=60)
    released = await board.release(FIRST.name, who="ann", why="done")
    assert released is not None
    marked = Circuit(epoch="e", generation=1)
    with own.raw() as raw:
        async with asyncio.timeout(PATIENT_S):
            while board._snapshot.circuits.get(SECOND.name) != marked:
                raw.publish(CHANNEL, codec.write_announcement(FIRST.name, move.circuit))
                raw.publish(CHANNEL, codec.write_announcement(SECOND.name, marked))
                await asyncio.sleep(0.01)
    following.cancel()

    assert board._snapshot.circuits[FIRST.name] == released.circuit
