"""Who may ask a target whose hold is over, and how many at once."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.circuit import Cause, State, state
from breaker.route import Role, choose
from breaker.store.redis import RedisStore
from monitor.metrics import Skip
from tests.boards import Heard
from tests.entries import failed, good, silent
from tests.scenarios.boards import FIRST, board_over, stores_over
from tests.scenarios.monitoring import now, open_until, seat
from tests.scenarios.story import BACKUP, PRIMARY, ROUTE, START, Story
from tests.store_server import StoreServer


@pytest.mark.scenario("herd-2")
def test_a_trial_that_hangs_lets_nobody_else_in_and_blocks_nothing_for_ever() -> None:
    """The trial hangs; another comes only after its silence has spoken."""
    place, hold_over = seat(), open_until(685.0)
    holder = place.take(690.0)
    assert all(place.besides(now(690.0 + s, hold_over)) is None for s in range(131))
    assert place.skip(0, now(720.0, hold_over)) is Skip.HALF_OPEN

    place.free(holder)  # as its late part does after 40 s
    assert place.besides(now(731.0, hold_over)) is not None


@pytest.mark.scenario("herd-3")
async def test_at_the_very_moment_of_the_holds_end_nobody_slips_through(store: RedisStore, server: StoreServer) -> None:
    """Thirty-two replicas look in the millisecond in which the hold ends."""
    story = Story()
    story.trip_at_85()
    assert story.circuit.open_until is not None
    at = [choose(ROUTE, {PRIMARY.name: story.circuit}, story.circuit.open_until + ms / 1000) for ms in (-1, 0, 1)]
    assert [decision.role for decision in at] == [Role.BACKUP] * 3

    heard = Heard()
    async with stores_over(server, 32) as stores:
        boards = [board_over(one, heard=heard) for one in stores]
        await boards[0].hold(FIRST.name, opened=True, who="ann", why="test", for_s=0.0)
        await asyncio.gather(*(board.refresh() for board in boards))
        await asyncio.gather(*(board.settle() for board in boards))
    assert Counter(move.cause for _, move in heard.moved) == {Cause.MANUAL: 1, Cause.HOLD_OVER: 1}


@pytest.mark.scenario("herd-4")
def test_a_thousand_askers_are_all_sent_to_the_backup_while_half_open() -> None:
    """A thousand agents ask where to go, a second after the hold's end."""
    story = Story()
    story.half_open_at_690()

    assert {story.decision().target for _ in range(1000)} == {BACKUP}
    assert story.state is State.HALF_OPEN


@pytest.mark.scenario("herd-8")
@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["ask", "done", "answer"])), max_size=40))
def test_in_no_order_of_events_are_two_trials_of_one_seat_under_way(steps: list[tuple[str, str]]) -> None:
    """Any interleaving of asking, ending and ending again."""
    place, hold_over = seat(), open_until(685.0)
    holders: dict[str, object] = {}
    under_way: set[str] = set()
    at = 690.0
    for who, what in steps:
        at += 20.0
        if what == "ask" and place.besides(now(at, hold_over)) is not None:
            holders[who] = place.take(at)
            under_way.add(who)
        elif what != "ask" and who in holders:
            place.free(holders[who])
            under_way.discard(who)
        assert len(under_way) <= 1
        assert place.taken is bool(under_way)


@pytest.mark.scenario("herd-9")
def test_ending_a_trial_twice_makes_no_second_place() -> None:
    """One trial is given back twice, with another under way in between."""
    place = seat()
    first = place.take(690.0)
    place.free(first)
    second = place.take(705.0)
    place.free(first)
    assert place.taken

    place.free(second)
    place.free(second)
    assert not place.taken


@pytest.mark.scenario("herd-10")
def test_one_good_trial_does_not_close_when_the_next_is_bad() -> None:
    """A trial is good, the next one fails."""
    story = Story()
    story.half_open_at_690()
    assert story.probe(good, 695.0) is None
    story.probe(failed, 710.0)

    assert (story.state, story.ends) == (State.OPEN, 1310.0)


@pytest.mark.scenario("herd-11")
def test_no_quick_good_trial_overtakes_a_slow_bad_one() -> None:
    """A trial is slow to fail; nobody else may try meanwhile, and two good ones are needed after it."""
    place, hold_over = seat(), open_until(685.0)
    place.take(690.0)
    assert place.besides(now(725.0, hold_over)) is None

    story = Story()
    story.half_open_at_690()
    story.probe(good, 695.0)
    story.probe(silent, 735.0, began=695.0)
    story.go(736.0)
    assert state(story.circuit, START + 736.0) is State.OPEN
    assert story.probe(good, 737.0, began=700.0) is None
