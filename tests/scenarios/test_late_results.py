"""Results of calls that began before the circuit moved."""

import asyncio

import pytest

from breaker.circuit import Cause, State
from breaker.store.redis import RedisStore
from monitor.schedule.seat import Seat
from tests.boards import Heard
from tests.entries import failed, good, silent, slow
from tests.scenarios.boards import FIRST, board_over, stores_over
from tests.scenarios.monitoring import seat
from tests.scenarios.story import Story, cancelled
from tests.store.answers import failed as failed_report
from tests.store_server import StoreServer


@pytest.mark.scenario("late-1")
@pytest.mark.parametrize("by_a_probe", [False, True], ids=["report", "probe"])
def test_a_good_call_from_before_the_trip_decides_nothing_while_half_open(by_a_probe: bool) -> None:
    """A call begun while the circuit was closed comes back well in half-open."""
    story = Story()
    story.half_open_at_690()
    heard = story.probe if by_a_probe else story.report

    assert heard(good, 691.0, began=0.0) is None
    assert story.probe(good, 695.0) is None
    assert story.state is State.HALF_OPEN


@pytest.mark.scenario("late-2")
def test_a_good_call_from_before_the_trip_closes_nothing_during_the_hold() -> None:
    """A call begun while the circuit was closed comes back well while it is open."""
    story = Story()
    story.trip_at_85()

    assert story.report(good, 200.0, began=0.0) is None
    assert (story.state, story.ends) == (State.OPEN, 685.0)


@pytest.mark.scenario("late-3")
def test_twenty_old_calls_that_end_in_half_open_leave_the_decision_to_the_probes() -> None:
    """A crowd of old calls ends, well and badly, during half-open."""
    story = Story()
    story.half_open_at_690()
    for number in range(20):
        kind = (good, failed, slow)[number % 3]
        assert story.report(kind, 690.0 + number / 2, began=10.0, name=f"old-{number}") is None
        assert story.probe(kind, 690.0 + number / 2, began=11.0, name=f"older-{number}") is None
    assert story.state is State.HALF_OPEN

    story.probes(good, [705.0, 720.0])
    assert story.last.cause is Cause.RECOVERED


@pytest.mark.scenario("late-4")
def test_an_old_good_call_does_not_leave_open_and_close_in_one_step() -> None:
    """The first thing heard after the hold is an old call's good end."""
    story = Story()
    story.trip_at_85()
    story.probes(failed, range(120, 685, 60))

    assert story.probe(good, 686.0, began=5.0) is None
    assert story.state is State.HALF_OPEN


@pytest.mark.scenario("late-5")
def test_a_good_probe_during_the_hold_shortens_nothing_and_is_remembered() -> None:
    """A probe begun during the hold is good: evidence, but no early end."""
    story = Story()
    story.trip_at_85()
    assert story.probe(good, 103.0, began=100.0) is None
    assert (story.state, story.ends) == (State.OPEN, 685.0)

    story.probes(good, range(160, 685, 60))
    story.go(685.0)
    assert (story.last.cause, story.last.at) == (Cause.RECOVERED, story.now)


@pytest.mark.scenario("late-6")
def test_bad_reports_that_come_just_after_the_trip_open_nothing_anew() -> None:
    """Five calls that were under way fail right after the trip."""
    story = Story()
    story.trip_at_85()
    for number in range(5):
        story.report(failed, 85.0 + number / 1000, began=60.0, name=f"late-{number}")

    assert story.openings() == [85.0]


@pytest.mark.scenario("late-7")
def test_failures_during_the_hold_do_not_put_off_its_end() -> None:
    """Every probe of the hold fails, to its last second."""
    story = Story()
    story.trip_at_85()
    for at in range(120, 685, 20):
        story.probe(failed, at)
        story.report(failed, at)
    story.go(684.999)
    before = story.state
    story.go(685.0)

    assert (before, story.state) == (State.OPEN, State.HALF_OPEN)


@pytest.mark.scenario("late-8")
async def test_six_failures_at_the_same_moment_trip_once(store: RedisStore, server: StoreServer) -> None:
    """Six workers report a failure at once, just as the threshold is reached."""
    heard = Heard()
    async with stores_over(server, 6) as stores:
        boards = [board_over(one, heard=heard) for one in stores]
        await boards[0].report(failed_report("first", target=FIRST.name))
        await asyncio.gather(*(b.report(failed_report(f"f{i}", target=FIRST.name)) for i, b in enumerate(boards)))

    (_, move), *more = heard.moved
    assert more == []
    assert move.circuit.open_until == pytest.approx(move.at + 600.0, abs=1e-6)
    assert len(await store.moves(FIRST.name, 10)) == 1


@pytest.mark.scenario("late-9")
def test_a_probe_of_one_half_open_round_does_not_count_in_the_next() -> None:
    """A trial of the first round hangs and ends well in the second."""
    story = Story()
    story.half_open_at_690()
    assert story.probe(failed, 821.0, name="second") is not None
    assert story.ends == 1421.0
    story.probes(failed, range(880, 1421, 60))

    assert story.probe(good, 1423.0, began=690.0, name="first") is None
    assert story.probe(good, 1425.0) is None
    story.probe(good, 1440.0)
    assert (story.state, story.last.cause) == (State.CLOSED, Cause.RECOVERED)

    # Where the trial's asker says that it is silent, that ends its round; what comes later is of an old one.
    other = Story()
    other.half_open_at_690()
    other.probe(silent, 730.0, began=690.0, name="first")
    assert other.probe(good, 830.0, began=690.0, name="first") is None
    assert (other.state, other.ends) == (State.OPEN, 1330.0)


@pytest.mark.scenario("late-10")
def test_an_old_neutral_end_gives_no_running_probes_place_away() -> None:
    """While a trial runs, an old call ends with no verdict."""
    place: Seat = seat()
    old = place.take(0.0)
    place.free(old)
    place.take(690.0)
    place.free(old)
    assert place.taken

    story = Story()
    story.half_open_at_690()
    assert story.probe(cancelled, 700.0, began=80.0) is None
    assert story.state is State.HALF_OPEN
