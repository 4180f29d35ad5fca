"""The one road of every answer, over a real store that comes and goes."""

import asyncio
from dataclasses import replace

import pytest

from breaker.circuit import Cause, State
from breaker.errors import StoreGoneError, UnknownNameError
from breaker.policy import Policy
from breaker.route import Role, Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Switchboard, newest
from breaker.target import Provider, Target
from tests.boards import Heard, answering, replica_over
from tests.fixtures import _worker_server, folder, own, quick, server, store, store_url
from tests.store.answers import failed, good, late, probe
from tests.store_server import StoreServer

__all__ = ["_worker_server", "folder", "own", "quick", "server", "store", "store_url"]

FIRST, SECOND = (
    Target(provider=Provider(name=name, base_url="http://x/v1", wire="openai-chat"), model="m")
    for name in ("first", "second")
)
ROUTE = Route(name="coder", targets=(FIRST, SECOND))


def board_over(store: RedisStore, policy: Policy | None = None, heard: Heard | None = None) -> Switchboard:
    return replica_over(store, ROUTE, policy, heard)


async def test_two_failures_open_the_circuit_and_move_the_route(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    await board.refresh()

    for name in ("a", "b"):
        await board.report(failed(name, target=FIRST.name))

    assert [(target, move.cause) for target, move in heard.moved] == [(FIRST.name, Cause.ERRORS)]
    assert heard.judged[-1].move == heard.moved[0][1]
    assert (board.route("coder").target, board.route().role) == (SECOND, Role.BACKUP)
    assert [m.cause for m in await board.moves(FIRST.name)] == [Cause.ERRORS]


async def test_another_replica_hears_of_a_move_at_once(store: RedisStore, store_url: str) -> None:
    other_store = RedisStore.from_url(store_url, limit_s=5)
    here, there = board_over(store), board_over(other_store)
    await there.refresh()
    woken = asyncio.Event()
    there.watch(lambda _: woken.set())
    following = asyncio.create_task(there.follow())
    try:
        async with asyncio.timeout(60):
            while there.route().role is not Role.BACKUP:
                woken.clear()
                await here.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
                try:
                    await asyncio.wait_for(woken.wait(), 0.1)
                except TimeoutError:  # it wasn't subscribed yet
                    continue
    finally:
        following.cancel()
        await other_store.close()

    assert there.standing(FIRST.name).state is State.HELD_OPEN


async def test_who_watches_hears_of_each_circuit_that_moves_or_is_read(store: RedisStore) -> None:
    here, there, seen = board_over(store), board_over(store), list[str]()
    await there.refresh()
    there.watch(seen.append)

    await there.hold(SECOND.name, opened=True, who="ann", why="deploy", for_s=60)
    await here.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)
    await there.refresh()
    await there.refresh()

    assert seen == [SECOND.name, FIRST.name]


async def test_who_watches_the_store_hears_once_that_it_is_silent_and_once_that_it_is_back(
    own: StoreServer, quick: RedisStore
) -> None:
    board, turns = board_over(quick), list[bool]()
    await answering(board)
    board.watch_store(lambda: turns.append(board.stale()))
    own.freeze()
    async with asyncio.timeout(120):
        while not board.stale():
            with pytest.raises(StoreGoneError):
                await board.refresh()
    own.thaw()
    await answering(board)

    assert len(turns) == 2
    assert not board.stale()


async def test_an_unknown_target_is_refused_with_the_names_there_are(store: RedisStore) -> None:
    board = board_over(store)
    asked = (
        board.report(good("a", target="first/n")),
        board.hold("first/n", opened=True, who="a", why="b", for_s=1),
        board.release("first/n", who="a", why="b"),
        board.moves("first/n"),
    )
    for asking in asked:
        with pytest.raises(UnknownNameError) as caught:
            await asking
        assert caught.value.known == (FIRST.name, SECOND.name)
    with pytest.raises(UnknownNameError):
        board.standing("first/n")


def test_an_unknown_route_is_refused_with_the_names_there_are(store: RedisStore) -> None:
    with pytest.raises(UnknownNameError, match="there is no route 'codr'; there are: coder"):
        board_over(store).route("codr")


async def test_a_hold_by_hand_ends_at_its_time_without_an_answer(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    await board.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=0.05)
    async with asyncio.timeout(60):
        while board.standing(FIRST.name).circuit.held is not None:
            await board.settle()

    assert [move.cause for _, move in heard.moved] == [Cause.MANUAL, Cause.HOLD_OVER]
    assert board.route().role is Role.PRIMARY


async def test_a_hold_can_be_released_once(store: RedisStore) -> None:
    board = board_over(store)
    await board.hold(FIRST.name, opened=True, who="ann", why="deploy", for_s=60)

    assert await board.release(FIRST.name, who="bob", why="done") is not None
    assert await board.release(FIRST.name, who="bob", why="done") is None


async def test_a_circuit_without_probes_closes_unverified_by_the_clock(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, Policy(probing=False, hold_s=0.05), heard)
    for name in ("a", "b"):
        await board.report(failed(name, target=FIRST.name))
    async with asyncio.timeout(60):
        while board.standing(FIRST.name).state is not State.CLOSED:
            await board.settle()

    assert heard.moved[-1][1].cause is Cause.UNVERIFIED


async def test_a_circuit_whose_target_has_gone_is_left_to_those_who_still_have_it(store: RedisStore) -> None:
    heard, policy = Heard(), Policy(probing=False, hold_s=0.2)
    board = board_over(store, policy, heard)
    await board.refresh()
    for name in ("a", "b"):
        board.take_in(failed(name, target=SECOND.name))

    board.renew([replace(ROUTE, targets=(FIRST,))], {FIRST.name: policy}, {})
    await board.drain(60)  # what was taken in still counts
    opened = (await store.look(SECOND.name)).circuit.open_until
    async with asyncio.timeout(60):
        while opened is None or board.now() < opened:
            await asyncio.sleep(0.02)
            await board.refresh()
    for _ in range(3):
        await board.settle()

    assert [(target, move.cause) for target, move in heard.moved] == [(SECOND.name, Cause.ERRORS)]
    assert (await store.look(SECOND.name)).circuit.open_until == opened


async def test_while_the_store_is_frozen_routes_go_on_and_answers_wait(own: StoreServer, quick: RedisStore) -> None:
    heard = Heard()
    board = board_over(quick, heard=heard)
    await board.refresh()
    own.freeze()
    with pytest.raises(StoreGoneError):
        await board.refresh()

    waited = [await board.report(good(str(i), target=FIRST.name)) for i in range(3)]

    assert waited == [None, None, None]
    assert (board.route().target, board.waiting()) == (FIRST, 3)
    own.thaw()
    await answering(board)
    assert board.waiting() == 0
    assert [judged.answer.id for judged in heard.judged] == ["0", "1", "2"]


async def test_old_failures_that_waited_for_the_store_open_nothing(own: StoreServer, quick: RedisStore) -> None:
    """They counted when they came to their end, not when the store came back."""
    board = board_over(quick)
    await board.refresh()
    own.kill()
    for name, age_s in (("a", 900.0), ("b", 500.0)):
        await board.report(failed(name, target=FIRST.name, age_s=age_s))
    own.start()
    await answering(board)

    assert board.waiting() == 0
    assert board.standing(FIRST.name).state is State.CLOSED
    assert (entry := newest(board.standing(FIRST.name).log)) is not None
    assert board.now() - entry.at == pytest.approx(498, abs=5)


async def test_fresh_failures_that_waited_do(own: StoreServer, quick: RedisStore) -> None:
    board = board_over(quick)
    await board.refresh()
    own.kill()
    for name in ("a", "b"):
        await board.report(failed(name, target=FIRST.name))
    own.start()
    await answering(board)

    assert board.standing(FIRST.name).state is State.OPEN


async def test_an_answer_whose_reply_was_lost_is_told_to_the_listeners_once(
    own: StoreServer, quick: RedisStore
) -> None:
    heard = Heard()
    board = board_over(quick, heard=heard)
    await board.report(good("a", target=FIRST.name))  # the server knows the script from now on
    own.freeze()
    assert await board.report(failed("b", target=FIRST.name)) is None
    own.thaw()
    await answering(board)

    assert [judged.answer.id for judged in heard.judged] == ["a", "b"]
    assert len(board.standing(FIRST.name).log.reports) == 2


async def test_a_store_that_has_forgotten_everything_gets_open_circuits_back(
    server: StoreServer, store: RedisStore
) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    for name in ("a", "b"):
        await board.report(failed(name, target=FIRST.name))
    ends = board.standing(FIRST.name).until
    with server.raw() as raw:
        raw.flushall()

    await board.refresh()
    fresh = board_over(store)
    await fresh.refresh()

    assert heard.moved[-1][1].cause is Cause.RESTORED
    assert fresh.standing(FIRST.name).until == pytest.approx(ends, abs=1e-3)


async def test_a_listener_that_fails_stops_neither_the_answer_nor_the_others(store: RedisStore) -> None:
    heard = Heard()

    def broken(_: Judged) -> None:
        raise RuntimeError("not my day")

    listeners = replace(heard.listeners(), judged=(broken, heard.judged.append))
    board = Switchboard(store, [ROUTE], {FIRST.name: Policy(), SECOND.name: Policy()}, listeners)

    await board.report(good("a", target=FIRST.name))

    assert len(heard.judged) == 1


async def test_before_the_first_read_everything_is_stale_and_goes_to_the_primary(store: RedisStore) -> None:
    board = board_over(store)

    assert (board.age_s(), board.stale(), board.route().target, board.route().stale) == (None, True, FIRST, True)
    await board.refresh()
    assert not board.route().stale


async def test_lookers_see_what_other_processes_recorded(store: RedisStore) -> None:
    there = board_over(store)
    await board_over(store).report(probe("a", target=FIRST.name))

    await there.look_again()

    assert (entry := newest(there.standing(FIRST.name).log)) is not None
    assert entry.answer.id == "a"
    assert newest(there.standing(SECOND.name).log) is None


async def test_a_late_part_and_its_final_part_count_once(store: RedisStore) -> None:
    board = board_over(store)
    await board.report(late("a", target=FIRST.name))
    await board.report(good("a", target=FIRST.name, seconds=44.0, first_byte_s=43.0))

    assert len(board.standing(FIRST.name).log.reports) == 1
    assert board.standing(FIRST.name).state is State.CLOSED
    await board.report(late("b", target=FIRST.name))
    assert board.standing(FIRST.name).state is State.OPEN
