"""Circuits that never leave half-open, or never leave open."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from breaker import circuit as circuits
from breaker.answer import Body, Ended, Fault, Finish, Source
from breaker.circuit import Cause, State
from breaker.route import Role
from breaker.store.redis import RedisStore
from breaker.target import Provider, Target
from breaker.verdict import judge
from monitor.budget import Level
from monitor.metrics import Skip
from monitor.settings import TargetPlan
from tests.boards import Heard
from tests.entries import failed, good, refused, silent
from tests.probes.world import POLICY, settings, world
from tests.scenarios.boards import FIRST, board_over, stores_over, tripped
from tests.scenarios.monitoring import now, open_until, seat
from tests.scenarios.story import Story, answer, unreachable
from tests.store.answers import failed as failed_report
from tests.store.answers import good as good_report
from tests.store_server import StoreServer

DAY_S = 86_400.0


@pytest.mark.scenario("stuck-1")
def test_a_trial_that_never_ends_and_no_other_leads_out_by_the_clock() -> None:
    """The trial is never heard of again, and nobody asks any more."""
    story = Story()
    story.half_open_at_690()
    told = story.log.probes[-1].at
    then = circuits.next_due(story.circuit, story.log, story.policy, story.now)
    assert then == told + story.policy.silent_s

    story.go(1000.0)
    assert (story.state, story.last.cause) == (State.CLOSED, Cause.UNVERIFIED)


@pytest.mark.scenario("stuck-2")
def test_a_trial_that_a_spent_budget_holds_back_takes_no_place() -> None:
    """A trial is due, but today's budget is spent."""
    place, hold_over = seat(), open_until(685.0)
    place.free(place.take(690.0))
    spent = place.besides(now(705.0, hold_over, Level.SPENT))

    assert spent is not None
    assert spent.at == 690.0 + place.plan.policy.interval_s
    assert not place.taken
    assert place.besides(now(705.0, hold_over)) is not None


@pytest.mark.scenario("stuck-3")
def test_six_days_without_a_trial_are_no_six_days_of_half_open() -> None:
    """One trial never ends; six days go by."""
    story = Story()
    story.half_open_at_690()
    story.go(6 * DAY_S)

    assert story.state is State.CLOSED
    assert story.last.at - story.circuit.moved_at == 0.0
    assert story.last.at < story.now - 5.9 * DAY_S


@pytest.mark.scenario("stuck-4")
def test_a_provider_that_hangs_gets_one_trial_after_another_and_no_agent() -> None:
    """Every trial hangs, for two hours."""
    story = Story()
    story.trip_at_85()
    for begin in range(120, 7200, 60):
        story.probe(silent, begin + 40.0, began=begin)
        assert not story.state.passes
        assert story.decision().role is Role.BACKUP

    assert story.openings() == [85.0, *story.openings()[1:]]
    assert all(later - earlier >= 600.0 for earlier, later in itertools.pairwise(story.openings()))


@pytest.mark.scenario("stuck-5")
def test_one_bad_trial_opens_again_however_few_answers_there_are() -> None:
    """The only thing known in half-open is one bad trial."""
    story = Story()
    story.trip_at_85()
    story.probes(good, [600.0])
    story.go(690.0)
    assert story.state is State.HALF_OPEN

    story.probe(failed, 700.0)
    assert (story.state, story.ends) == (State.OPEN, 1300.0)


@pytest.mark.scenario("stuck-6")
def test_a_trial_that_gets_no_connection_is_a_bad_one() -> None:
    """The name isn't found, or nothing listens."""
    story = Story()
    story.half_open_at_690()
    story.probe(unreachable, 700.0)

    assert (story.state, story.last.cause) == (State.OPEN, Cause.ERRORS)


@pytest.mark.scenario("stuck-7")
async def test_a_fault_of_our_own_in_a_trial_gives_its_place_back(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever reads or judges the answer throws; and the judge itself has a verdict for every answer."""
    for ended, finish, fault, body in itertools.product(Ended, [None, *Finish], [None, *Fault], [None, *Body]):
        if ended is not Ended.PENDING:
            assert judge(answer(ended=ended, finish=finish, fault=fault, body=body, source=Source.PROBE)).why

    account = Provider(name="x", base_url="http://127.0.0.1:9/v1", wire="no-such-wire")
    strange = TargetPlan(target=Target(provider=account, model="m"), policy=replace(POLICY, interval_s=0.2))
    async with world(settings([strange]), store) as w:
        await w.until(lambda: (w.metrics.registry.get_sample_value("firstbyte_probe_crashes_total") or 0) >= 2)
        assert w.moves == []
    assert "a fault of ours" in caplog.text


@pytest.mark.scenario("stuck-8")
async def test_asking_where_to_go_takes_nothing(store: RedisStore, server: StoreServer) -> None:
    """Ten thousand agents ask while the circuit is not closed."""
    board = board_over(store)
    await tripped(board)
    key = f"firstbyte:{{{FIRST.name}}}:circuit"
    with server.raw() as raw:
        before = raw.hgetall(key), raw.pexpiretime(key)
        for number in range(10_000):
            assert board.route().role is Role.BACKUP
            if number % 500 == 0:
                await board.refresh()
                await board.look_again()
        assert (raw.hgetall(key), raw.pexpiretime(key)) == before

    place, hold_over = seat(), open_until(685.0)
    assert len({place.besides(now(690.0, hold_over)) for _ in range(10_000)}) == 1


@pytest.mark.scenario("stuck-9")
async def test_what_a_circuit_is_stands_in_one_write(store: RedisStore, server: StoreServer) -> None:
    """Someone reads all the time while the circuit opens and is held and let go."""
    async with stores_over(server, 2) as (one, two):
        mover, reader = board_over(one), board_over(two)
        seen = set()

        async def read() -> None:
            for _ in range(60):
                circuit = (await two.look(FIRST.name)).circuit
                seen.add((circuit.generation, circuit.cause, circuit.open_until is not None, circuit.held is not None))

        async def move() -> None:
            await tripped(mover)
            await mover.hold(FIRST.name, opened=False, who="ann", why="test", for_s=60)
            await mover.release(FIRST.name, who="ann", why="test")

        await asyncio.gather(read(), move())
        await reader.refresh()

    whole = {
        (0, None, False, False),
        (1, Cause.ERRORS, True, False),
        (2, Cause.ERRORS, True, True),
        (3, Cause.ERRORS, True, False),
    }
    assert seen <= whole
    assert reader.standing(FIRST.name).state is State.OPEN


@pytest.mark.scenario("stuck-10")
def test_an_open_target_without_any_traffic_is_still_probed_and_comes_back() -> None:
    """No agent comes near it; its own probes go on."""
    place = seat()
    assert place.skip(5, now(300.0, open_until(685.0))) is None
    assert place.besides(now(300.0, open_until(685.0))) is not None
    assert place.skip(11, now(690.0, open_until(685.0))) is Skip.HALF_OPEN

    story = Story()
    story.closed_at_685()
    assert story.decision().role is Role.PRIMARY


@pytest.mark.scenario("stuck-11")
def test_answers_that_say_nothing_either_way_do_not_keep_it_half_open_for_ever() -> None:
    """After the hold every trial is refused by our own fault."""
    story = Story()
    story.trip_at_85()
    story.probes(refused, range(120, 1500, 15))

    assert story.causes() == [Cause.SLOW, Cause.UNVERIFIED]


@pytest.mark.scenario("stuck-13")
def test_the_end_of_a_hold_shows_at_once_though_nobody_called() -> None:
    """Nothing at all happens between the last probe and the hold's end."""
    story = Story()
    story.trip_at_85()
    story.probes(failed, range(120, 650, 60))
    moves = len(story.moves)
    story.go(686.0)

    assert story.state is State.HALF_OPEN
    assert story.decision().role is Role.BACKUP
    assert len(story.moves) == moves


@pytest.mark.scenario("stuck-14")
async def test_a_failure_in_the_middle_of_opening_leaves_no_half_made_circuit(server: StoreServer) -> None:
    """Four replicas report failures and good answers in a race, again and again."""
    heard = Heard()
    async with stores_over(server, 4) as stores:
        for turn in range(25):
            with server.raw() as raw:
                raw.flushall()
            boards = [board_over(one, heard=heard) for one in stores]
            answers = [failed_report(f"{turn}-{i}", target=FIRST.name) for i in range(8)]
            answers.insert(4, good_report(f"{turn}-good", target=FIRST.name))
            await asyncio.gather(*(boards[i % 4].report(one) for i, one in enumerate(answers)))
            await boards[0].refresh()
            circuit = (await stores[0].look(FIRST.name)).circuit
            assert (circuit.cause, circuit.generation) == (Cause.ERRORS, 1)
            assert circuit.open_until == pytest.approx(circuit.moved_at + 600.0, abs=1e-5)

    assert len(heard.moved) == 25
