"""Circuits moved by hand through the switchboard, while others move them too."""

import asyncio

from breaker.circuit import Cause, State
from breaker.store.contract import Reading
from breaker.store.redis import RedisStore
from tests.boards import Heard
from tests.fixtures import _worker_server, folder, server, store, store_url
from tests.store.answers import failed
from tests.store_server import StoreServer
from tests.test_switchboard import FIRST, board_over

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]


class Looked(RedisStore):
    """A store that counts how often it was looked at."""

    looks = 0

    async def look(self, target: str) -> Reading:
        """Count, and look."""
        self.looks += 1
        return await super().look(target)


class Ahead(RedisStore):
    """A store whose clock for a target's moves isn't the one that is told for all circuits."""

    def ahead_s(self, target: str) -> float:
        """Minutes."""
        return 300.0


async def test_a_circuit_that_is_known_is_moved_without_a_look(store_url: str) -> None:
    store = Looked.from_url(store_url, limit_s=30)
    board = board_over(store)
    await board.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
    await board.refresh()
    store.looks = 0

    held = await board.hold(FIRST.name, opened=False, who="bob", why="done", for_s=60)
    released = await board.release(FIRST.name, who="bob", why="done")
    await store.close()

    assert store.looks == 0
    assert released is not None
    assert [held.after, released.after] == [State.HELD_CLOSED, State.CLOSED]


async def test_a_hold_is_laid_over_what_another_has_moved_unheard(store: RedisStore) -> None:
    heard = Heard()
    here, there = board_over(store, heard=heard), board_over(store)
    await there.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
    await here.refresh()
    await there.release(FIRST.name, who="ann", why="done")
    for name in ("a", "b"):
        await there.report(failed(name, target=FIRST.name))

    await here.hold(FIRST.name, opened=False, who="bob", why="we know", for_s=60)
    released = await there.release(FIRST.name, who="bob", why="done")

    assert [move.before for _, move in heard.moved] == [State.OPEN]
    assert released is not None
    assert released.after is State.OPEN


async def test_a_hold_is_released_by_one_that_has_not_heard_of_it(store: RedisStore) -> None:
    here, there = board_over(store), board_over(store)
    await there.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
    await there.release(FIRST.name, who="ann", why="done")
    await here.refresh()
    await there.hold(FIRST.name, opened=True, who="ann", why="again", for_s=60)

    released = await here.release(FIRST.name, who="bob", why="done")

    assert released is not None
    assert [move.cause for move in await here.moves(FIRST.name)] == [Cause.MANUAL] * 4


async def test_a_hold_is_made_by_the_clock_that_ends_it(store_url: str) -> None:
    store = Ahead.from_url(store_url, limit_s=30)
    board = board_over(store)
    await board.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
    await board.refresh()

    move = await board.hold(FIRST.name, opened=True, who="ann", why="longer", for_s=60)
    await store.close()

    held = move.circuit.held
    assert held is not None
    assert held.since > board.now() + 200
    assert held.until == held.since + 60


async def test_one_that_has_moved_as_often_in_another_way_is_read_and_keeps_what_lies_below(
    server: StoreServer, store: RedisStore
) -> None:
    """A copy from before the last move has taken the store's place, and there another has moved it."""
    here, there, key = board_over(store), board_over(store), f"firstbyte:{{{FIRST.name}}}:circuit"
    await there.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
    with server.raw() as raw:
        copy = raw.hgetall(key)
        await there.release(FIRST.name, who="ann", why="done")
        await here.refresh()
        raw.hset(key, mapping=copy)
    for name in ("a", "b"):
        await board_over(store).report(failed(name, target=FIRST.name))

    await here.refresh()
    await here.hold(FIRST.name, opened=False, who="bob", why="we know", for_s=60)
    released = await here.release(FIRST.name, who="bob", why="done")

    assert released is not None
    assert released.after is State.OPEN


async def test_of_many_who_move_a_circuit_at_once_each_gets_its_turn(store: RedisStore) -> None:
    boards = [board_over(store) for _ in range(30)]

    held = [board.hold(FIRST.name, opened=True, who=f"p{n}", why="trial", for_s=60) for n, board in enumerate(boards)]
    moves = await asyncio.gather(*held)

    assert sorted(move.circuit.generation for move in moves) == list(range(1, 31))
