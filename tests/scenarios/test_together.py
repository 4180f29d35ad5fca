"""Probes, reports, listeners, routes and recovery together."""

import itertools
import random
from dataclasses import replace

import pytest

from breaker import circuit as circuits
from breaker.answer import Ended, Source
from breaker.circuit import Cause, Circuit, Move, State
from breaker.policy import Policy
from breaker.route import Role, Route, choose
from breaker.store.redis import RedisStore
from breaker.switchboard import Listeners, Switchboard
from breaker.target import Provider, Target
from monitor.metrics import Metrics
from monitor.schedule.spreading import shares
from monitor.settings import TargetPlan
from tests.boards import believe
from tests.entries import failed, good
from tests.probes.world import settings
from tests.scenarios.boards import FIRST, SECOND, board_over, tripped
from tests.scenarios.monitoring import now, open_until, seat
from tests.scenarios.story import BACKUP, PRIMARY, ROUTE, START, Story, answer
from tests.store.answers import good as good_report
from tests.store.answers import probe as good_probe


@pytest.mark.scenario("both-1")
def test_a_good_probe_ends_no_hold_that_agents_reports_began() -> None:
    """Agents' reports open the circuit; the next probe is good."""
    story = Story()
    story.reports(failed, [80.0, 85.0])
    assert story.ends == 685.0
    story.probe(good, 120.0)

    assert (story.state, story.ends) == (State.OPEN, 685.0)


@pytest.mark.scenario("both-2")
def test_with_both_of_two_targets_out_one_is_still_offered() -> None:
    """Two targets, both open."""
    first, second = opened_at(100.0), opened_at(50.0)
    decision = choose(ROUTE, {PRIMARY.name: first, BACKUP.name: second}, START + 200.0)
    assert (decision.target, decision.role) == (BACKUP, Role.LAST_RESORT)  # it comes back first

    same = choose(ROUTE, {PRIMARY.name: first, BACKUP.name: first}, START + 200.0)
    assert (same.target, same.role) == (PRIMARY, Role.LAST_RESORT)


@pytest.mark.scenario("both-3")
async def test_with_all_targets_out_the_answer_says_so_and_when_to_come_back(store: RedisStore) -> None:
    """Every target of a route is open."""
    board = board_over(store)
    await tripped(board, FIRST.name)
    await tripped(board, SECOND.name)
    decision = board.route()

    assert decision.role is Role.LAST_RESORT
    assert decision.retry_after_s == pytest.approx(600.0, abs=5.0)
    assert not decision.state.passes


@pytest.mark.scenario("both-4")
def test_a_hold_that_grows_says_how_long_it_is_and_shrinks_after_a_quiet_hour() -> None:
    """Holds are to double; the target fails whenever it is tried, then is well for over an hour, then fails."""
    story = Story(Policy(hold_growth=2.0))
    story.trip_at_85()
    lengths = [story.circuit.hold_s]
    for _ in range(4):
        ends = story.ends
        assert ends is not None
        story.probes(failed, [ends - 30.0, ends + 5.0])
        lengths.append(story.circuit.hold_s)
    assert lengths == [600.0, 1200.0, 2400.0, 3600.0, 3600.0]

    ends = story.ends
    assert ends is not None
    story.probes(good, [ends - 60.0, ends - 10.0])
    story.go(ends + 5.0)
    assert story.state is State.CLOSED
    story.probes(good, [ends + 60.0 * minute for minute in range(1, 70)])
    story.probes(failed, [ends + 4200.0, ends + 4205.0])
    assert story.circuit.hold_s == 600.0


@pytest.mark.scenario("both-5")
def test_a_flood_of_good_reports_shortens_no_hold() -> None:
    """Agents that still go there report a thousand good answers."""
    story = Story()
    story.trip_at_85()
    story.reports(good, (90.0 + number / 2 for number in range(1000)))

    assert (story.state, story.ends) == (State.OPEN, 685.0)


@pytest.mark.scenario("both-6")
def test_a_flood_of_bad_reports_keeps_no_circuit_half_open() -> None:
    """Agents report failures all the time while the trials are good."""
    story = Story()
    story.half_open_at_690()
    for number in range(4):
        story.reports(failed, [691.0 + 2 * number])
    story.probe(good, 700.0)
    story.reports(failed, [702.0, 704.0, 706.0])
    story.probe(good, 715.0)

    assert (story.state, story.last.cause) == (State.CLOSED, Cause.RECOVERED)
    story.go(720.0)
    assert story.state is State.CLOSED


@pytest.mark.scenario("both-7")
async def test_a_restart_of_the_prober_changes_no_route(store: RedisStore) -> None:
    """The process that probes starts anew, with the circuit closed and with it open."""
    board = board_over(store)
    await board.report(good_probe("p", target=FIRST.name))
    restarted = board_over(store)
    await restarted.refresh()
    assert restarted.route().role is Role.PRIMARY

    ends = await tripped(restarted)
    again = board_over(store)
    await again.refresh()
    assert (again.route().role, again.standing(FIRST.name).circuit.open_until) == (Role.BACKUP, ends)
    place = seat()
    assert place.besides(now(300.0, open_until(685.0))) is not None


@pytest.mark.scenario("both-8")
async def test_when_everything_fails_at_once_nothing_moves_since_it_is_us(store: RedisStore) -> None:
    """Six targets of six providers can't be reached within a minute."""
    targets = tuple(one.target for one in plans("abcdef"))
    policies = {target.name: Policy() for target in targets}
    board = Switchboard(store, [Route(name="r", targets=targets)], policies, network=Cut())
    for turn, target in itertools.product(range(3), targets):
        gone = {"status": None, "first_byte_s": None, "ended": Ended.UNREACHABLE, "text_chars": None}
        await board.report(answer(target=target.name, id=f"{target.name}-{turn}", source=Source.PROBE, **gone))

    assert board.self_suspect_s() is not None
    assert {board.standing(target.name).state for target in targets} == {State.CLOSED}
    assert (board.route().target, board.route().role) == (targets[0], Role.PRIMARY)


@pytest.mark.scenario("both-9")
async def test_a_listener_that_asks_back_or_fails_holds_up_nothing(store: RedisStore) -> None:
    """What hears of a move asks for the state and the route at once; another one throws."""
    seen: list[tuple[State, Role]] = []
    boards: list[Switchboard] = []

    def asks_back(target: str, _: Move) -> None:
        seen.append((boards[0].standing(target).state, boards[0].route().role))

    def fails(*_: object) -> None:
        raise RuntimeError("not my day")

    listeners = Listeners(judged=(fails,), moved=(fails, asks_back))
    boards.append(Switchboard(store, [ROUTE], {FIRST.name: Policy(), SECOND.name: Policy()}, listeners))
    await tripped(boards[0])
    assert seen == [(State.OPEN, Role.BACKUP)]

    judged = await boards[0].report(good_report("after", target=FIRST.name))
    assert judged is not None


@pytest.mark.scenario("both-10")
def test_news_that_comes_in_the_wrong_order_leaves_the_newest(store: RedisStore) -> None:
    """Twenty moves are announced in any order, some twice."""
    circuit, told = Circuit(epoch="e"), [Circuit(epoch="e")]
    for number in range(20):
        opened = circuit.open_until is None
        circuit = replace(circuit, generation=number + 1, open_until=START + number if opened else None)
        told.append(circuit)
    for turn in range(20):
        shuffled = [*told, *told[:5]]
        random.Random(turn).shuffle(shuffled)
        board = board_over(store)
        for one in shuffled:
            board._mover.take(FIRST.name, one)
        assert board.standing(FIRST.name).circuit == told[-1]


@pytest.mark.scenario("both-11")
async def test_page_route_and_metric_never_disagree_on_what_a_circuit_is(store: RedisStore) -> None:
    """A circuit is looked at in every state, around each edge of it."""
    board = board_over(store)
    await board.refresh()
    metrics = Metrics(settings([TargetPlan(target=FIRST, policy=Policy()), TargetPlan(target=SECOND, policy=Policy())]))
    metrics.watch(board)
    held = circuits.hold(opened_at(0.0), START, opened=False, who="ann", why="test", until=START + 300.0).circuit
    for circuit, at in itertools.product((Circuit(), opened_at(0.0), held), (0.0, 299.9, 300.0, 599.9, 600.0, 700.0)):
        board._snapshot.circuits[FIRST.name] = circuit
        believe(board, START + at + 0.01 - board.now())
        said = circuits.state(circuit, board.now())
        standing, decision = board.standing(FIRST.name), board.route()
        assert standing.state is said
        assert (decision.target == FIRST) is said.passes
        assert [shown for shown, value in states_shown(metrics).items() if value] == [said.value]


def states_shown(metrics: Metrics) -> dict[str, float]:
    """What the metrics say of the first target's circuit."""
    return {
        sample.labels["state"]: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if "state" in sample.labels and sample.labels.get("provider") == FIRST.provider.name
    }


@pytest.mark.scenario("both-12")
def test_after_closing_whoever_asks_without_a_session_may_come_back_at_once() -> None:
    """The circuit has closed; everybody asks where to go."""
    story = Story()
    story.half_open_at_690()
    story.probe(good, 700.0)
    assert story.decision().role is Role.BACKUP  # one good trial brings nobody back
    story.probe(good, 715.0)

    assert story.decision().role is Role.PRIMARY


@pytest.mark.scenario("both-13")
def test_targets_that_trip_together_are_not_probed_together() -> None:
    """Four targets trip in the same second."""
    found = sorted(share for _, share in shares(plans("abcd")))

    assert [b - a for a, b in itertools.pairwise(found)] == [0.25] * 3
    assert Policy().jitter_s > 0.0


@pytest.mark.scenario("both-14")
def test_how_many_good_trials_close_is_a_number_one_can_choose() -> None:
    """Good, good; good, bad; with one, two and three wanted."""
    for wanted in (1, 2, 3):
        story = Story(Policy(recover_row=wanted))
        story.half_open_at_690()
        for number in range(wanted):
            assert story.state is State.HALF_OPEN
            story.probe(good, 695.0 + 15 * number)
        assert story.state is State.CLOSED

    story = Story()
    story.half_open_at_690()
    story.probe(good, 695.0)
    story.probe(failed, 710.0)
    assert story.ends == 1310.0


@pytest.mark.scenario("both-15")
def test_what_was_bad_before_the_recovery_is_forgotten() -> None:
    """The circuit has closed; one failure follows."""
    story = Story()
    story.closed_at_685()
    assert story.probe(failed, 700.0) is None

    story.probe(failed, 705.0)
    assert story.state is State.OPEN


def opened_at(at: float) -> Circuit:
    """A circuit that opened for a hold at a moment of the story."""
    moved = START + at
    return Circuit(epoch="e", generation=1, cause=Cause.SLOW, moved_at=moved, open_until=moved + 600.0)


def plans(names: str) -> list[TargetPlan]:
    """A target of a provider of its own for each letter."""
    accounts = [Provider(name=name, base_url="http://127.0.0.1/v1", wire="openai-chat") for name in names]
    return [TargetPlan(target=Target(provider=account, model="m"), policy=Policy()) for account in accounts]


class Cut:
    """Our own network is down."""

    suspect_since = 0.0

    async def down(self, target: str) -> bool:
        return bool(target)

    def was_down(self, seconds: float) -> bool:
        return seconds >= 0
