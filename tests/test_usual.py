import math
from functools import reduce
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker import usual as usuals
from breaker.policy import Policy
from breaker.usual import (
    ENOUGH,
    UNKNOWN,
    Usual,
    evidence,
    learn,
    limit_s,
    over,
    read,
    sluggish,
    suspect,
    typical_s,
    write,
)

POLICY = Policy()
START = 1_700_000_000.0
MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0


def taught(first_bytes: list[float], *, out: bool = False, known: Usual = UNKNOWN, begin: float = START) -> Usual:
    """What is known after one answer a minute."""
    return reduce(lambda u, n: learn(u, n[1], begin + n[0] * MINUTE_S, out=out), enumerate(first_bytes), known)


def around(median_s: float, count: int, *, spread: float = 0.5, seed: int = 0) -> list[float]:
    chance = Random(seed)
    return [chance.lognormvariate(math.log(median_s), spread) for _ in range(count)]


CALM = taught(around(4.0, 600))


def opens_after(known: Usual, first_bytes: list[float]) -> int | None:
    """How many answers it takes until there is enough evidence."""
    found = (evidence(known, first_bytes[:count], POLICY) for count in range(1, len(first_bytes) + 1))
    return next((count for count, what in enumerate(found, 1) if what >= ENOUGH), None)


def test_nothing_is_usual_before_anything_came() -> None:
    assert typical_s(UNKNOWN) is None
    assert limit_s(UNKNOWN, POLICY) is None
    assert not sluggish(UNKNOWN, 1e6, POLICY)
    assert evidence(UNKNOWN, [1e6] * 32, POLICY) == 0.0


def test_what_spoke_for_a_slump_stands_where_nothing_is_usual_any_more() -> None:
    assert evidence(UNKNOWN, [0.1] * 32, POLICY, start=ENOUGH) == ENOUGH


def test_twenty_answers_make_a_usual_speed() -> None:
    few, enough = taught([4.0] * 19), taught([4.0] * 20)

    assert typical_s(few) is None
    assert typical_s(enough) == pytest.approx(4.0, rel=0.13)


@pytest.mark.parametrize("median_s", [0.3, 4.0, 60.0])
def test_the_usual_speed_is_the_median(median_s: float) -> None:
    assert typical_s(taught(around(median_s, 600))) == pytest.approx(median_s, rel=0.1)


def test_spikes_leave_the_usual_speed_alone() -> None:
    spiked = [130.0 if i % 5 == 0 else first_byte_s for i, first_byte_s in enumerate(around(4.0, 600))]

    assert typical_s(taught(spiked)) == pytest.approx(4.0, rel=0.3)


def test_an_answer_is_sluggish_above_the_limit_only() -> None:
    limit = limit_s(CALM, POLICY)

    assert limit is not None
    assert 4.0 * 1.5 < limit < 4.0 * POLICY.slump_factor
    assert not sluggish(CALM, limit, POLICY)
    assert sluggish(CALM, limit + 0.01, POLICY)


@pytest.mark.parametrize("spread", [0.15, 0.3, 0.5])
def test_a_target_four_times_slower_is_in_a_slump_within_half_an_hour(spread: float) -> None:
    known = taught(around(4.0, 600, spread=spread))

    found = [opens_after(known, around(16.0, 32, spread=spread, seed=seed)) for seed in range(20)]

    assert all(count is not None and 8 <= count <= 30 for count in found)


@pytest.mark.parametrize("times", [0.5, 1.0, 2.0])
def test_a_target_twice_as_slow_is_in_no_slump(times: float) -> None:
    assert all(evidence(CALM, around(4.0 * times, 32, seed=seed), POLICY) < ENOUGH for seed in range(100))


def test_seven_sluggish_answers_are_never_enough() -> None:
    assert evidence(CALM, [1e6] * 7, POLICY) < ENOUGH
    assert evidence(taught([1.0] * 600), [1e6] * 7, POLICY) < ENOUGH


def test_every_second_sluggish_answer_is_no_slump() -> None:
    assert evidence(CALM, [60.0, 4.0] * 16, POLICY) < ENOUGH / 2


def test_long_prompts_among_short_ones_are_no_slump() -> None:
    mixed = [first_byte_s * (4 if i % 5 < 2 else 1) for i, first_byte_s in enumerate(around(4.0, 600, spread=0.3))]
    known = taught(mixed)

    assert evidence(known, mixed[-32:], POLICY) < ENOUGH / 2
    assert evidence(known, [4 * first_byte_s for first_byte_s in mixed[-32:]], POLICY) == ENOUGH


def test_eight_quick_answers_end_a_slump_and_seven_do_not() -> None:
    assert not over(evidence(CALM, [4.0] * 7, POLICY, start=ENOUGH))
    assert over(evidence(CALM, [4.0] * 8, POLICY, start=ENOUGH))


def test_a_target_is_suspect_from_half_of_the_evidence_on() -> None:
    assert not suspect(ENOUGH / 2)
    assert suspect(ENOUGH / 2 + 0.01)
    assert not over(0.01)


@pytest.mark.parametrize("start", [-1.0, 0.0, 3.0, 2 * ENOUGH])
def test_evidence_starts_within_its_bounds(start: float) -> None:
    assert evidence(CALM, [], POLICY, start=start) == min(max(start, 0.0), ENOUGH)


def test_less_than_two_seconds_more_are_nothing_to_leave_a_target_for() -> None:
    known = taught(around(0.2, 600))

    assert evidence(known, [2.0] * 32, POLICY) == 0.0
    assert evidence(known, [2.8] * 32, POLICY) == ENOUGH


def test_a_larger_factor_asks_for_a_larger_slump() -> None:
    thrice = around(12.0, 32, spread=0.3)

    assert evidence(CALM, thrice, Policy(slump_factor=2.0)) == ENOUGH
    assert evidence(CALM, thrice, Policy(slump_factor=6.0)) == 0.0


class Sag(NamedTuple):
    known_answers: int
    slump_answers: int


@pytest.mark.parametrize(
    "sag",
    [
        pytest.param(Sag(50, 20), id="twenty answers after the first fifty"),
        pytest.param(Sag(600, 60), id="an hour after ten"),
    ],
)
def test_what_a_slump_began_with_isnt_learnt_before_it_is_found(sag: Sag) -> None:
    known = taught(around(4.0, sag.known_answers))
    slumped = taught(around(16.0, sag.slump_answers), known=known, begin=START + DAY_S / 2)

    outside = learn(slumped, 16.0, START + DAY_S, out=True)

    assert typical_s(slumped) == pytest.approx(4.0, rel=0.25)
    assert outside.held == ()


def test_a_slump_of_hours_outside_isnt_learnt() -> None:
    six_hours = taught(around(16.0, 360), out=True, known=CALM, begin=START + 601 * MINUTE_S)

    assert typical_s(six_hours) == pytest.approx(4.0, rel=0.2)
    assert evidence(six_hours, around(16.0, 32), POLICY) == ENOUGH


def test_a_slump_of_a_week_is_the_new_normal() -> None:
    week = taught([16.0] * 7 * 1440, out=True, known=CALM, begin=START + 601 * MINUTE_S)

    assert typical_s(week) == pytest.approx(16.0, rel=0.2)
    assert over(evidence(week, [16.0] * 32, POLICY, start=ENOUGH))


def test_many_answers_at_once_outside_teach_no_more_than_one_in_ten_minutes() -> None:
    at = START + DAY_S
    once = learn(CALM, 16.0, at, out=True)

    often = reduce(lambda u, n: learn(u, 16.0, at + n, out=True), range(600), once)

    assert often == once


def test_nothing_is_learnt_outside_before_anything_is_known() -> None:
    assert taught([4.0] * 100, out=True) == UNKNOWN
    assert taught([4.0] * 100, out=True, known=Usual(held=(3,))).weights == ()


def test_a_lasting_change_within_bounds_is_learnt() -> None:
    slower = taught(around(7.0, 6 * 1440), known=CALM, begin=START + 601 * MINUTE_S)

    assert typical_s(slower) == pytest.approx(7.0, rel=0.15)


def test_of_what_is_months_old_hardly_an_hour_counts() -> None:
    late = learn(CALM, 4.0, START + 200 * DAY_S, out=False)

    assert sum(late.weights) < 70 < sum(CALM.weights)
    assert learn(late, 4.0, START + 400 * DAY_S, out=True).weights == ()


def test_a_clock_that_is_set_back_ages_nothing_and_stops_no_learning() -> None:
    back = START - DAY_S
    inside = taught([4.0] * 100, known=CALM, begin=back)
    outside = learn(CALM, 4.0, back, out=True)

    assert sum(inside.weights) > sum(CALM.weights)
    assert outside.aged_at == back
    assert sum(outside.weights) > sum(CALM.weights)


NOT_OURS = [
    "",
    "1",
    "2 0.0 0.0  ",
    "1 0.0 0.0  99:1.0",
    "1 0.0 0.0 -1 ",
    "1 0.0 0.0 99 ",
    "1 0.0 0.0 x ",
    "1 0.0 0.0  1:2:3",
    "1 0.0 0.0  1:-2.0",
    "1 0.0 0.0  1:nan",
    "1 inf 0.0  1:1.0",
    "1 x 0.0  1:1.0",
    "1 0.0 0.0  1:1.0 2",
    f"1 0.0 0.0 {','.join('1' * 65)} ",
    '{"weights": []}',
]


@pytest.mark.parametrize("text", NOT_OURS)
def test_a_text_that_isnt_ours_says_nothing(text: str) -> None:
    assert read(text) == UNKNOWN


first_bytes = st.floats(allow_nan=True, allow_infinity=True) | st.floats(0.01, 700)
moments = st.floats(0, 1e11)
lessons = st.lists(st.tuples(first_bytes, moments, st.booleans()), max_size=200)
# Made of many answers, since single ones would hardly ever make anything known.
knowns = st.builds(
    lambda bins, out: taught([b for b, count in bins for _ in range(count)] + out),
    st.lists(st.tuples(st.floats(0.01, 700), st.integers(1, 60)), min_size=1, max_size=8),
    st.lists(st.floats(0.01, 700), max_size=40),
)
policies = st.builds(Policy, slump_factor=st.floats(1.2, 100))


@given(lessons)
def test_whatever_is_learnt_stays_bounded_and_survives_being_written(found: list[tuple[float, float, bool]]) -> None:
    known = UNKNOWN
    for first_byte_s, at, out in found:
        known = learn(known, first_byte_s, at, out=out)
        assert len(known.held) <= 64

    text = write(known)

    assert read(text) == known
    assert len(text) < 2048


def test_the_text_of_years_of_answers_stays_short() -> None:
    spread = [0.05 * 1.07**n for n in range(160)]
    known = taught(spread * 2000)

    assert len(known.weights) < 100
    assert len(write(known)) < 2048


@given(st.text() | st.from_regex(r"1 [0-9.]{1,3} [0-9.]{1,3} [0-9,]{0,9} [0-9:.,-]{0,20}", fullmatch=True))
def test_any_text_can_be_read(text: str) -> None:
    known = read(text)

    assert read(write(known)) == known
    assert 0.0 <= evidence(known, [1.0, 60.0], POLICY) <= ENOUGH


@given(knowns, st.lists(first_bytes, max_size=40), policies, st.floats(-1, 20))
def test_evidence_stays_within_its_bounds(known: Usual, waits: list[float], policy: Policy, start: float) -> None:
    assert 0.0 <= evidence(known, waits, policy, start=start) <= ENOUGH


@given(knowns, st.lists(st.floats(0.01, 700), min_size=1, max_size=40), policies, st.data())
def test_a_larger_first_byte_never_lowers_the_evidence(
    known: Usual, waits: list[float], policy: Policy, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(waits) - 1))
    larger = [*waits[:place], waits[place] * data.draw(st.floats(1, 50)), *waits[place + 1 :]]

    assert evidence(known, larger, policy) >= evidence(known, waits, policy)
    assert sluggish(known, larger[place], policy) >= sluggish(known, waits[place], policy)


@given(knowns, st.floats(0.01, 700), policies)
def test_what_is_sluggish_is_what_comes_after_the_limit(known: Usual, wait: float, policy: Policy) -> None:
    limit = limit_s(known, policy)

    assert sluggish(known, wait, policy) is (limit is not None and wait > limit)


@given(st.lists(st.floats(4, 12), min_size=20, max_size=200), st.integers(0, 12))
def test_usual_and_limit_scale_with_the_target(waits: list[float], bins: int) -> None:
    scale = usuals._RATIO**bins
    known, scaled = taught(waits), taught([wait * scale for wait in waits])

    once, times = limit_s(known, POLICY), limit_s(scaled, POLICY)

    assert typical_s(scaled) == pytest.approx((typical_s(known) or 0) * scale, rel=0.14)
    assert once is not None
    assert times == pytest.approx(once * scale, rel=0.3)
