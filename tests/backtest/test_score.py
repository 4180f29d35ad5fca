"""What is counted of a run."""

import pytest

from breaker.circuit import Cause
from breaker.policy import Policy
from breaker.verdict import Verdict
from monitor.backtest import Step, run
from monitor.backtest.result import length, moment
from monitor.backtest.score import Score, score
from tests.backtest.test_tape import PLAIN, every_minute, failed, good


def scored(*steps: Step, policy: Policy = PLAIN) -> Score:
    """The score of some steps."""
    return score(run(steps, policy))


def test_bad_steps_are_spared_and_good_ones_diverted_while_the_circuit_is_open() -> None:
    made = scored(*(failed(60.0 * i) for i in range(5)), *every_minute(since_s=300, until_s=1800))

    assert (made.steps, made.bad, made.spared, made.good, made.diverted) == (31, 5, 3, 26, 7)
    assert (made.spared_share, made.diverted_share) == (3 / 5, 7 / 26)
    assert made.open_s == 600


def test_times_run_from_the_first_answer_behind_an_opening_and_from_the_last_bad_one() -> None:
    (span,) = scored(*(failed(60.0 * i) for i in range(5)), *every_minute(since_s=300, until_s=1800)).spans

    assert (span.from_s, span.until_s, span.cause) == (61, 661, Cause.ERRORS)
    assert span.to_open_s == 61
    assert span.to_close_s == 661 - 241


def test_where_nothing_bad_came_in_a_span_the_time_to_close_runs_from_its_opening() -> None:
    (span,) = scored(failed(0), failed(60), *every_minute(since_s=120, until_s=1800)).spans

    assert span.to_close_s == 600


def test_where_the_bad_ones_end_after_the_span_it_does_too() -> None:
    steps = [good(0, 2000), good(30, 2000), *every_minute(since_s=120, until_s=1800)]
    spans = scored(*steps).spans

    assert (spans[0].from_s, spans[0].until_s, spans[0].to_close_s) == (70, 670, 600)


def test_what_never_closed_has_no_time_to_close() -> None:
    made = scored(failed(0), failed(60), good(120))

    assert [span.to_close_s for span in made.spans] == [None]
    assert (made.to_open_s, made.to_close_s) == (61, None)


def test_where_nothing_happened_nothing_has_a_share() -> None:
    made = scored(failed(0, Verdict.CANCELLED))

    assert (made.steps, made.bad, made.good, made.sluggish) == (1, 0, 0, 0)
    assert (made.spared_share, made.diverted_share, made.sluggish_spared_share) == (None, None, None)
    assert (made.to_open_s, made.to_close_s, made.open_s) == (None, None, 0)


def test_sluggish_steps_are_counted_apart() -> None:
    """Agents wouldn't call them good, and the limit doesn't call them slow."""
    steps = [good(60.0 * i, 3 + i % 3) for i in range(200)] + [good(60.0 * i, 25 + i % 5) for i in range(200, 260)]
    made = scored(*steps, policy=Policy())

    assert (made.good, made.diverted, made.bad, made.sluggish) == (200, 0, 0, 60)
    assert made.sluggish_spared >= 40


def _opened(at_s: float, apart_s: float) -> list[Step]:
    return [failed(at_s), failed(at_s + apart_s), *every_minute(since_s=at_s + 150, until_s=at_s + 1800)]


@pytest.mark.parametrize(("apart_s", "middle"), [((60,), 61), ((60, 100), 81), ((60, 100, 110), 101)])
def test_of_several_times_the_median_counts(apart_s: tuple[float, ...], middle: float) -> None:
    made = scored(*(step for i, apart in enumerate(apart_s) for step in _opened(7200 * i, apart)))

    assert (len(made.spans), made.to_open_s) == (len(apart_s), middle)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (43.14, "43.1 s"), (119, "119 s"), (600, "10 min"), (21_600, "6 h"), (2_592_000, "30 days")],
)
def test_a_length_of_time_is_written(seconds: float, text: str) -> None:
    assert length(seconds) == text


@pytest.mark.parametrize(
    ("at_s", "text"),
    [
        (-5.85, "-5.8 s"),
        (1368.74, "1,368.7 s"),
        (1_764_475_200.5, "2025-11-30 04:00:00"),
        (9e10, "4821-12-26 16:00:00"),
    ],
)
def test_a_moment_is_written(at_s: float, text: str) -> None:
    assert moment(at_s) == text
