"""Whose fault an answer is."""

from dataclasses import replace

import pytest

from breaker.answer import Answer, Ended, Source
from breaker.circuit import Cause, State
from breaker.log import Entry
from breaker.policy import Policy
from breaker.route import Role, Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Target
from breaker.verdict import Blame, Verdict, judge
from monitor.schedule.misfits import Misfits
from tests.entries import failed, good, refused, silent, slow
from tests.scenarios.boards import FIRST, SECOND, board_over
from tests.scenarios.monitoring import judged, now, open_until, seat
from tests.scenarios.story import Kind, Story, answer, cancelled, throttled, unreachable
from tests.store.answers import failed as failed_report
from tests.store.answers import good as good_report
from tests.wire.streams import CHAT, MESSAGE_START, MESSAGES, block, delta, named, read, sse, text


@pytest.mark.scenario("judge-1")
def test_pressing_stop_opens_nothing() -> None:
    """Ten agents end their exchanges before any limit."""
    story = Story()
    story.reports(cancelled, range(10))

    assert story.moves == []
    assert judge(story.log.reports[0].answer).verdict is Verdict.CANCELLED


@pytest.mark.scenario("judge-2")
def test_a_trial_that_a_shutdown_ends_does_not_close() -> None:
    """We stop in the middle of a trial."""
    story = Story()
    story.half_open_at_690()
    story.probe(good, 691.0)
    assert story.probe(cancelled, 700.0) is None
    assert story.state is State.HALF_OPEN

    place = seat()
    place.free(place.take(690.0))  # as an ended task does in any case
    assert place.besides(now(705.0, open_until(685.0))) is not None


@pytest.mark.scenario("judge-3")
def test_a_trial_that_its_asker_ends_or_spoils_does_not_open_again() -> None:
    """A trial is cancelled, another asks for what can't be."""
    story = Story()
    story.half_open_at_690()
    story.probe(cancelled, 700.0)
    story.probe(refused, 715.0)

    assert (story.state, story.openings()) == (State.HALF_OPEN, [85.0])


@pytest.mark.scenario("judge-4")
@pytest.mark.parametrize("status", [400, 413, 422])
def test_bad_requests_open_nothing_and_our_own_are_told_of(status: int) -> None:
    """A hundred callers send what can't be answered; our probe does too."""
    story = Story()
    for at in range(100):
        story.report(failed, at, status=status)
    story.probes(lambda at, **facts: failed(at, status=status, **facts), [100.0, 160.0, 220.0])
    assert story.moves == []

    misfits = Misfits()
    misfits.hear(judged(answer(status=status, first_byte_s=None, source=Source.PROBE), 10.0))
    assert len(misfits.notices()) == 1


@pytest.mark.scenario("judge-5")
def test_being_throttled_once_is_no_outage_but_being_throttled_on_and_on_is() -> None:
    """A probe gets 429 once, three times in a row, or with a time to come back; another gets 503 and 529."""
    story = Story()
    story.probe(throttled, 60.0)
    story.probe(throttled, 120.0)
    assert story.moves == []
    story.probe(throttled, 180.0)
    assert (story.causes(), story.ends) == ([Cause.RATE_LIMITED], 780.0)

    told = Story()
    told.probe(throttled, 60.0, retry_after_s=90.0)
    assert (told.causes(), told.ends) == ([Cause.RATE_LIMITED], 150.0)

    overloaded = Story()
    overloaded.probe(failed, 60.0, status=503)
    overloaded.probe(failed, 65.0, status=529)
    assert overloaded.causes() == [Cause.ERRORS]


@pytest.mark.scenario("judge-6")
@pytest.mark.parametrize("kind", [good, slow, silent, failed, refused, cancelled, unreachable])
def test_an_answer_means_the_same_in_half_open_as_in_closed(kind: Kind) -> None:
    """Each kind of answer, to a closed circuit and to a half-open one."""
    closed = Story(Policy(errors_row=1, slow_row=1))
    closed.probe(kind, 50.0)
    half_open = Story()
    half_open.half_open_at_690()
    half_open.probe(kind, 740.0)

    assert (closed.state is State.OPEN) is (half_open.state is State.OPEN)


@pytest.mark.scenario("judge-7")
def test_a_stream_that_breaks_off_is_a_failure_however_well_it_began() -> None:
    """Three pieces of an answer, then the connection breaks; five times."""
    cut = read(CHAT, sse(*text("one", "two", "three")), ended=Ended.RESET)
    assert (judge(cut).blame, cut.first_byte_s) == (Blame.PROVIDER_FAILURE, 0.2)

    story = Story()
    story.report(silent, 40.0, began=0.0, name="a")
    story.report(failed, 60.0, began=0.0, name="a", status=200, ended=Ended.RESET, first_byte_s=45.0, seconds=60.0)
    assert story.moves == []
    for number in range(5):
        story.report(good, 200.0 + number, ended=Ended.RESET, name=f"cut-{number}")
    assert story.openings() == [201.0]


@pytest.mark.scenario("judge-8")
@pytest.mark.parametrize(
    "heard",
    [
        pytest.param(
            read(
                MESSAGES,
                named(MESSAGE_START, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            ),
            id="an error event in a 200",
        ),
        pytest.param(read(CHAT, b""), id="a 200 with nothing in it"),
        pytest.param(read(CHAT, sse("[DONE]")), id="a 200 with an end and no answer"),
    ],
)
def test_a_200_that_holds_an_error_or_nothing_is_a_failure(heard: Answer) -> None:
    """The status says 200 and the body says otherwise."""
    assert judge(heard).blame is Blame.PROVIDER_FAILURE


@pytest.mark.scenario("judge-9")
def test_a_frame_that_is_cut_in_the_middle_is_a_failure() -> None:
    """The body ends within an event."""
    body = named(MESSAGE_START, block("text"), delta("text_delta", text="half an answer"))

    for cut in range(len(body) - 60, len(body) - 3):
        assert judge(read(MESSAGES, body[:cut])).blame is Blame.PROVIDER_FAILURE


@pytest.mark.scenario("judge-10")
def test_while_our_own_network_is_down_nothing_counts() -> None:
    """Nothing can be reached from where we stand, for minutes."""
    story = Story()

    def cut_off(at: float, **facts: object) -> Entry:
        made = unreachable(at, **facts)
        return replace(made, answer=replace(made.answer, self_suspect=True))

    story.probes(cut_off, range(0, 300, 60))
    story.reports(cut_off, range(300, 320))

    assert story.moves == []


@pytest.mark.scenario("judge-11")
async def test_each_attempt_is_charged_to_the_target_that_was_asked(store: RedisStore) -> None:
    """An agent fails at one target and is served by the other, again and again."""
    board = board_over(store)
    for number in range(4):
        await board.report(failed_report(f"a-{number}", target=FIRST.name))
        await board.report(good_report(f"b-{number}", target=SECOND.name))

    assert board.standing(FIRST.name).state is State.OPEN
    assert board.standing(SECOND.name).state is State.CLOSED
    assert (board.route().target, board.route().role) == (SECOND, Role.BACKUP)


@pytest.mark.scenario("judge-12")
async def test_one_models_outage_is_not_its_providers(store: RedisStore) -> None:
    """Two models of one provider; one is dead."""
    sister = Target(provider=FIRST.provider, model="other")
    targets = (FIRST, sister)
    board = Switchboard(store, [Route(name="r", targets=targets)], {t.name: Policy() for t in targets})
    for number in range(3):
        await board.report(failed_report(f"{number}", target=FIRST.name))
        await board.report(good_report(f"{number}", target=sister.name))

    assert (board.route().target, board.standing(sister.name).state) == (sister, State.CLOSED)


@pytest.mark.scenario("judge-13")
def test_one_error_while_a_model_is_swapped_is_no_outage() -> None:
    """One 500, and the probe that looks again is good."""
    story = Story()
    story.probe(failed, 60.0)
    story.probe(good, 65.0)
    story.probe(failed, 120.0)

    assert story.moves == []
