"""What history.py makes of slots and samples."""

from dataclasses import replace
from itertools import pairwise

import pytest

from breaker.answer import Source
from breaker.history import (
    NOTHING,
    RANKS,
    SAMPLES,
    SLOTS,
    SPEED_S,
    History,
    Keep,
    Sample,
    Slot,
    last_slots,
    recent,
    speed,
    together,
)
from breaker.log import Weight
from breaker.policy import Policy

NOW = 1_796_040_000.0
LENGTH_S = 960


def slot(ago: int, *, length_s: int = LENGTH_S, **facts: object) -> Slot:
    """The slot that began so many slots before the one that is under way."""
    start = NOW // length_s * length_s - ago * length_s
    return Slot(start=start, length_s=length_s, **facts)  # type: ignore[arg-type] # facts of Slot


def counts(**numbers: int) -> tuple[int, ...]:
    """Counts by the names of weights."""
    return tuple(numbers.get(weight.value, 0) for weight in RANKS)


@pytest.mark.parametrize(
    ("policy", "source", "keep"),
    [
        pytest.param(Policy(), Source.PROBE, Keep(960, 0.0), id="a probe a minute: ninety slots are a day"),
        pytest.param(Policy(interval_s=3), Source.PROBE, Keep(48, 0.0), id="a probe each three seconds"),
        pytest.param(Policy(interval_s=0.05), Source.PROBE, Keep(1, 0.0), id="a slot is a second at least"),
        pytest.param(Policy(), Source.REPORT, Keep(960, None), id="probes tell the speed where there are any"),
        pytest.param(Policy(probing=False), Source.REPORT, Keep(960, 14.0625), id="else reports, an hour of them"),
    ],
)
def test_what_is_kept_goes_by_the_interval_and_by_who_asked(policy: Policy, source: Source, keep: Keep) -> None:
    assert Keep.of(policy, source) == keep


def test_ranks_are_all_weights_the_worst_last() -> None:
    assert set(RANKS) == set(Weight)
    assert [rank.bad for rank in RANKS] == [False, False, False, True, True, True]


def test_a_slot_says_how_many_were_so() -> None:
    found = slot(0, probes=counts(good=14, slow=2), reports=counts(good=100, failed=5, nothing=3))

    assert (found.answers, found.good, found.bad) == (124, 114, 7)
    assert found.count(Weight.NOTHING) == 3


def test_there_are_always_as_many_slots_and_they_follow_one_another() -> None:
    kept = History(slots=(slot(0, verdict="ok"), slot(89, verdict="cut"), slot(90, verdict="loop")))

    shown = last_slots(kept, NOW, LENGTH_S)

    assert len(shown) == SLOTS
    assert [b.start - a.start for a, b in pairwise(shown)] == [LENGTH_S] * (SLOTS - 1)
    assert [one.verdict for one in shown if one.verdict] == ["cut", "ok"]
    assert shown[-1].start <= NOW < shown[-1].start + LENGTH_S


def test_what_the_store_wrote_ahead_of_our_time_is_not_shown() -> None:
    assert not any(one.verdict for one in last_slots(History(slots=(slot(-1, verdict="ok"),)), NOW, LENGTH_S))


def test_slots_of_another_length_count_where_they_began() -> None:
    short = tuple(slot(ago, length_s=480, probes=counts(good=number)) for ago, number in ((0, 3), (1, 8), (2, 7)))

    shown = last_slots(History(slots=short), NOW, LENGTH_S)

    assert [one.answers for one in shown[-2:]] == [15, 3]
    assert {one.length_s for one in shown} == {LENGTH_S}


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        pytest.param(Weight.FAILED, Weight.SLOW, "first", id="the worse one"),
        pytest.param(Weight.SLOW, Weight.FAILED, "second", id="the worse one, whichever it is"),
        pytest.param(Weight.SLOW, Weight.SLOW, "second", id="of two as bad the other"),
    ],
)
def test_two_in_one_have_the_worse_ones_verdict(first: Weight, second: Weight, verdict: str) -> None:
    one = slot(0, probes=counts(good=1), out=1, worst=first, verdict="first")

    both = together(one, replace(one, worst=second, verdict="second"))

    assert (both.probes, both.out, both.verdict) == (counts(good=2), 2, verdict)


def test_an_empty_one_takes_over_the_others() -> None:
    other = slot(0, worst=Weight.GOOD, verdict="ok")

    assert together(slot(0), other).verdict == "ok"


def test_only_the_last_hour_is_recent() -> None:
    found = tuple(Sample(NOW - ago_s, 1.0, Weight.GOOD) for ago_s in (SPEED_S, SPEED_S - 1, 0, -1))

    assert recent(History(samples=found), NOW) == found[1:3]


def test_quantiles_are_first_bytes_that_were_measured() -> None:
    came = [Sample(NOW - i, float(i), Weight.GOOD) for i in range(1, 21)]
    missed = Sample(NOW, None, Weight.FAILED)

    found = speed([*came, missed], NOW)

    assert (found.p50_s, found.p95_s, found.count, found.missing, found.over_s) == (10.0, 19.0, 20, 1, SPEED_S)


def test_one_first_byte_is_all_quantiles() -> None:
    found = speed([Sample(NOW, 3.0, Weight.GOOD)], NOW)

    assert (found.p50_s, found.p95_s) == (3.0, 3.0)


def test_of_nothing_there_is_no_quantile() -> None:
    found = speed(recent(NOTHING, NOW), NOW)

    assert (found.p50_s, found.p95_s, found.count) == (None, None, 0)


def test_where_more_came_than_is_kept_it_says_how_far_back_they_reach() -> None:
    many = [Sample(NOW - 3 * (SAMPLES - i), 1.0, Weight.GOOD) for i in range(SAMPLES)]

    assert speed(many, NOW).over_s == 3 * SAMPLES
