"""Steps played to the rules: when which part counts, and what the circuit makes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.circuit import Cause, State
from breaker.log import Weight
from breaker.policy import Policy
from breaker.verdict import Verdict
from monitor.backtest import Run, Step, run
from monitor.backtest.score import score

PLAIN = Policy(slump=False)


def good(at_s: float, seconds: float = 2.0) -> Step:
    """A good answer."""
    return Step(began_at_s=at_s, seconds=seconds)


def failed(at_s: float, verdict: Verdict = Verdict.HTTP_ERROR) -> Step:
    """A failure after a second."""
    return Step(began_at_s=at_s, seconds=1, verdict=verdict)


def every_minute(*, until_s: float, since_s: float = 0.0) -> list[Step]:
    """Good answers."""
    return [good(since_s + 60.0 * i) for i in range(int((until_s - since_s) / 60) + 1)]


def told(made: Run) -> list[tuple[float, State, Cause]]:
    """Each move: when, to what, why."""
    return [(move.at_s, move.move.after, move.move.cause) for move in made.moves]


def test_a_slow_step_counts_when_the_limit_passes_in_silence() -> None:
    made = run([good(0), good(60, 90), good(120, 45)], PLAIN)

    assert told(made) == [(160.0, State.OPEN, Cause.SLOW)]
    assert made.open_spans == ((160.0, 165.0),)


def test_a_final_part_takes_its_late_parts_place() -> None:
    """Were it one more answer, it would stand in a row with the last."""
    assert run([good(0, 100), good(60), good(70, 95)], PLAIN).moves == ()


def test_a_failure_counts_at_its_end() -> None:
    assert told(run([failed(0), failed(60)], PLAIN)) == [(61.0, State.OPEN, Cause.ERRORS)]


def test_the_clock_moves_the_circuit_between_two_steps() -> None:
    """Nothing ends at 661 s."""
    steps = [failed(0), failed(60), *every_minute(since_s=120, until_s=900)]

    assert told(run(steps, PLAIN)) == [
        (61.0, State.OPEN, Cause.ERRORS),
        (661.0, State.CLOSED, Cause.RECOVERED),
    ]


def test_where_nothing_was_recorded_it_closes_unverified() -> None:
    made = run([failed(0), failed(60), good(7200)], PLAIN)

    assert [cause for _, _, cause in told(made)] == [Cause.ERRORS, Cause.UNVERIFIED]
    assert made.open_spans == ((61.0, 661.0),)


def test_half_open_belongs_to_the_span() -> None:
    steps = [failed(60.0 * i) for i in range(20)] + every_minute(since_s=1200, until_s=2400)
    made = run(steps, PLAIN)

    (span,) = made.open_spans
    assert [cause for _, _, cause in told(made)][:2] == [Cause.ERRORS, Cause.ERRORS]
    assert span[0] == 61.0
    assert span[1] > 1200
    assert all(step.out is (span[0] <= step.step.began_at_s < span[1]) for step in made.steps)


def test_a_span_that_is_open_at_the_end_ends_with_the_last_step() -> None:
    assert run([failed(0), failed(60), good(100, 30)], PLAIN).open_spans == ((61.0, 130.0),)


def test_steps_need_no_order() -> None:
    steps = [failed(0), failed(60), *every_minute(since_s=120, until_s=900)]

    assert run(reversed(steps), PLAIN) == run(steps, PLAIN)


@pytest.mark.parametrize("days", [-3, 1, 20_000], ids=["before its begin", "the next day", "since 1970"])
def test_a_trace_may_begin_at_any_moment(days: int) -> None:
    steps = [failed(0), failed(60), *every_minute(since_s=120, until_s=900)]
    shift_s = 86_400.0 * days

    moved = run([replace(step, began_at_s=step.began_at_s + shift_s) for step in steps], PLAIN)

    assert [at - shift_s for at, _, _ in told(moved)] == pytest.approx([61.0, 661.0], abs=1e-4)


def test_what_a_step_is_is_what_its_last_part_is() -> None:
    steps = [good(0), good(60, 50), failed(200), failed(300, Verdict.BAD_REQUEST)]

    weights = [step.weight for step in run(steps, PLAIN).steps]
    assert weights == [Weight.GOOD, Weight.SLOW, Weight.FAILED, Weight.NOTHING]


def test_the_usual_speed_is_learnt_on_the_way_and_a_slump_found() -> None:
    steps = [good(60.0 * i, 3 + i % 3) for i in range(200)] + [good(60.0 * i, 25 + i % 5) for i in range(200, 260)]
    made = run(steps, Policy())

    assert told(made)[0][1:] == (State.OPEN, Cause.SLUMP)
    assert 12_000 < told(made)[0][0] < 14_000
    assert {step.sluggish for step in made.steps[:200]} == {False}
    assert {step.sluggish for step in made.steps[200:]} == {True}
    assert run(steps, PLAIN).moves == ()


def test_nothing_recorded_is_nothing_to_play() -> None:
    with pytest.raises(ValueError, match="needs at least one step"):
        run([], PLAIN)


def test_it_says_how_far_it_is() -> None:
    shares: list[float] = []
    run([good(60.0 * i) for i in range(10)], PLAIN, passing=shares.append)

    assert shares == [i / 10 for i in range(10)]


STEPS = st.builds(
    Step,
    began_at_s=st.floats(-1000, 20_000).map(lambda s: round(s, 3)),
    seconds=st.floats(0, 200).map(lambda s: round(s, 3)),
    verdict=st.sampled_from([v for v in Verdict if v is not Verdict.PENDING] + [Verdict.OK] * 20),
)


@given(steps=st.lists(STEPS, min_size=1, max_size=60), slump=st.booleans())
def test_whatever_was_recorded(steps: list[Step], slump: bool) -> None:
    """Moves and spans are in order, generations without gaps, and each step is there once."""
    made = run(steps, Policy(slump=slump))
    moments = [made.began_s, *(move.at_s for move in made.moves), made.end_s + 1e-5]
    edges = [moment for span in made.open_spans for moment in span]

    assert moments == sorted(moments)
    assert edges == sorted(edges)
    assert [move.move.circuit.generation for move in made.moves] == list(range(1, len(made.moves) + 1))
    assert sorted(map(repr, steps)) == sorted(repr(step.step) for step in made.steps)
    assert all((move.at_s in edges) or not move.move.after.passes for move in made.moves)
    found = score(made)
    assert [(span.from_s, span.until_s) for span in found.spans] == list(made.open_spans)
    assert found.bad + found.good + found.sluggish <= found.steps == len(steps)
    assert all(span.to_open_s >= 0 and (span.to_close_s or 0) >= 0 for span in found.spans)
