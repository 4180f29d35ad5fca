"""What counts, when it counts, and for how long."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.answer import Answer, Ended, Part, Source
from breaker.circuit import Cause, State
from breaker.log import Entry, Weight, weigh
from breaker.policy import Policy, flaws
from breaker.verdict import judge
from breaker.wire.reading import Reading
from monitor.metrics import Skip
from tests.entries import failed, good, refused, silent, slow
from tests.scenarios.monitoring import judged, now, seat
from tests.scenarios.story import START, Kind, Story, answer, cancelled
from tests.wire.streams import CHAT, chunk, sse


@pytest.mark.scenario("count-1")
def test_a_call_that_still_hangs_counts_at_the_slow_limit() -> None:
    """Two probes hang for ever; nothing ever ends."""
    story = Story()
    assert story.probe(silent, 40.0, began=0.0) is None

    place = seat()
    first = place.take(0.0)
    late = answer(id="p1", part=Part.LATE, ended=Ended.PENDING, seconds=40.0, status=None, first_byte_s=None)
    place.hear(judged(late, 40.0), 40.0)
    place.free(first)  # as its silence does
    assert place.besides(now(40.0)) == (45.0, "p1")

    story.probe(silent, 85.0, began=45.0)
    assert (story.last.cause, story.openings()) == (Cause.SLOW, [85.0])


@pytest.mark.scenario("count-2")
def test_slow_and_failed_answers_add_up() -> None:
    """One probe is slow, the next one fails."""
    story = Story()
    story.probe(silent, 40.0, began=0.0)
    story.probe(failed, 46.0)

    assert (story.state, story.last.cause) == (State.OPEN, Cause.ERRORS)


@pytest.mark.scenario("count-3")
def test_a_threshold_at_its_end_of_the_scale_still_trips() -> None:
    """A single slow answer is to be enough; all of them bad is to be needed."""
    once = Story(Policy(slow_row=1))
    once.probe(slow, 45.0)
    assert once.openings() == [45.0]

    every = Policy(rate_share=1.0, errors_row=16, slow_row=16)
    assert flaws(every) == []
    all_bad = Story(every)
    all_bad.reports(failed, range(0, 100, 10))
    assert all_bad.causes() == [Cause.ERROR_RATE]


@pytest.mark.scenario("count-4")
def test_two_failures_across_the_edge_of_a_minute_stand_in_one_row() -> None:
    """One failure just before a full minute, one just after."""
    story = Story()
    story.probe(failed, 59.9)
    story.probe(failed, 60.1)

    assert story.openings() == [60.1]


@pytest.mark.scenario("count-5")
def test_failures_a_minute_apart_are_counted_in_full() -> None:
    """Nothing but one probe a minute, and each is bad."""
    story = Story()
    story.probes(failed, [60.0, 120.0])

    assert story.openings() == [120.0]


@pytest.mark.scenario("count-6")
def test_failures_an_hour_apart_are_no_row() -> None:
    """One failure, an hour of nothing, one failure."""
    story = Story()
    story.probes(failed, [60.0, 3660.0])
    assert story.moves == []

    story.probe(failed, 3720.0)
    assert story.openings() == [3720.0]


@pytest.mark.scenario("count-7")
def test_a_good_answer_ends_a_row_and_only_a_rate_can_open_after_it() -> None:
    """Bad and good in turn, twenty times; and a target that fails one time in five."""
    story = Story()
    for number in range(40):
        story.probe(failed if number % 2 == 0 else good, 60.0 * number + 2)
    assert story.causes()[0] is Cause.ERROR_RATE
    assert story.openings()[0] == 602.0  # half of the last ten are bad, and the newest is

    mostly_well = Story()
    for number in range(100):
        mostly_well.probe(failed if number % 5 == 0 else good, 60.0 * number + 2)
    assert mostly_well.moves == []


@pytest.mark.scenario("count-8")
def test_many_failures_with_good_answers_between_them_open_by_their_rate() -> None:
    """Agents report: nine of ten fail, or every second one."""
    mostly_bad = Story()
    for number in range(20):
        mostly_bad.report(good if number % 10 == 9 else failed, 5.0 * number)
    assert mostly_bad.state is State.OPEN

    every_second = Story()
    for number in range(20):
        every_second.report(good if number % 2 else failed, 5.0 * number)
    assert every_second.causes() == [Cause.ERROR_RATE]
    assert every_second.openings()[0] <= 50.0

    rarely = Story()
    for number in range(200):
        rarely.report(good if number % 4 else failed, 5.0 * number)
    assert rarely.moves == []


@pytest.mark.scenario("count-9")
def test_headers_and_comments_are_no_first_byte() -> None:
    """Headers and a comment after a second, the first word after 45 s."""
    reading = Reading(CHAT, streamed=True)
    reading.headers(200, {"content-type": "text/event-stream"}, 1.0)
    reading.feed(b": still here\n\n", 1.0)
    reading.feed(sse(chunk({"role": "assistant", "content": ""})), 2.0)
    reading.feed(sse(chunk({"content": "at last"})), 45.0)
    reading.feed(sse(chunk({}, finish_reason="stop"), "[DONE]"), 46.0)
    read = reading.end(Ended.COMPLETE, 46.0, target="p/m", id="a", source=Source.PROBE)

    assert (read.headers_s, read.first_byte_s) == (1.0, 45.0)
    assert weight_of(read) is Weight.SLOW
    late = answer(part=Part.LATE, ended=Ended.PENDING, seconds=40.0, headers_s=1.0, first_byte_s=None, end_mark=None)
    assert weight_of(late) is Weight.SLOW


def weight_of(read: Answer) -> Weight:
    """What an answer that counts now means to its circuit."""
    judgement = judge(read)
    return weigh(
        Entry(answer=read, verdict=judgement.verdict, blame=judgement.blame, at=START, began=START - 46), Policy()
    )


@pytest.mark.scenario("count-10")
def test_a_limit_longer_than_the_interval_makes_no_probes_overlap() -> None:
    """Probes are due every 30 s and may hang for 40 s."""
    policy = Policy(interval_s=30.0)
    assert flaws(policy) == []
    place = seat(policy)
    place.take(0.0)

    assert place.skip(1, now(30.0)) is Skip.OVERLAP
    assert place.besides(now(30.0)) is None


@pytest.mark.scenario("count-11")
def test_an_old_good_report_wipes_out_no_bad_probe() -> None:
    """A report that began before the outage comes in between two bad probes."""
    story = Story()
    story.probe(failed, 50.0)
    story.report(good, 55.0, began=0.0)
    story.probe(failed, 60.0)

    assert story.openings() == [60.0]


@pytest.mark.scenario("count-12")
@pytest.mark.parametrize(
    ("first_byte_s", "suspect", "weight"),
    [
        (39.999, False, Weight.GOOD),
        (40.0, False, Weight.GOOD),
        (40.001, False, Weight.SLOW),
        (40.001, True, Weight.NOTHING),
    ],
    ids=["just below", "on it", "just above", "our own loop stood still"],
)
def test_slow_begins_just_above_the_limit(first_byte_s: float, suspect: bool, weight: Weight) -> None:
    """First bytes around 40 s."""
    made = good(START, first_byte_s=first_byte_s, seconds=41.0, suspect=suspect)

    assert weigh(made, Policy()) is weight


@pytest.mark.scenario("count-13")
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from([good, good, failed, slow, silent, refused, cancelled]),
            st.booleans(),
            st.sampled_from([1.0, 5.0, 15.0, 60.0, 200.0]),
            st.booleans(),
        ),
        max_size=60,
    ),
    rows=st.sampled_from([2, 3, 16]),
)
def test_a_good_answer_never_opens(steps: list[tuple[Kind, bool, float, bool]], rows: int) -> None:
    """Any answers in any order, good ones among them."""
    story = Story(replace(Policy(), errors_row=rows, slow_row=rows))
    at = 0.0
    for kind, by_a_probe, after_s, old in steps:
        at += after_s
        heard = story.probe if by_a_probe else story.report
        move = heard(kind, at, began=at - 300.0 if old else None)
        if kind is good and move is not None:
            assert move.after is not State.OPEN
