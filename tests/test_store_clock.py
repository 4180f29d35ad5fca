"""The store's time, as far as one process can know it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.switchboard.clock import DRIFT, StoreClock

STORE = 1_000_000.0  # how far the store's clock is ahead of ours


def read(began: float, ended: float, share: float = 0.5, before: StoreClock | None = None) -> StoreClock:
    """A reading that the store answered at this share of its way."""
    return StoreClock.read(began, ended, STORE + began + (ended - began) * share, before)


def error_s(clock: StoreClock) -> float:
    """How wrong it is at most at its moment, once nothing extra is shown any more."""
    return (clock.most_s - clock.least_s) / 2


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_a_first_reading_is_wrong_by_half_its_way_at_most(share: float) -> None:
    clock = read(10.0, 10.5, share)

    assert error_s(clock) == pytest.approx(0.25 + 0.5 * DRIFT)
    assert abs(clock.now(20.0) - STORE - 20.0) <= error_s(clock) + 1e-6


def test_a_reading_that_was_long_on_its_way_teaches_nothing() -> None:
    """An overloaded process kept it waiting before it was sent."""
    quick = read(10.0, 10.001)

    slow = read(11.0, 14.0, 0.999, quick)

    assert abs(slow.now(14.0) - STORE - 14.0) < 0.005


def test_a_quick_reading_mends_what_a_slow_one_taught() -> None:
    slow = read(10.0, 12.0, 1.0)
    assert abs(slow.now(12.0) - STORE - 12.0) > 0.9

    quick = read(13.0, 13.001, 0.5, slow)

    assert abs(quick.now(20.0) - STORE - 20.0) <= 0.001


def test_what_was_shown_too_much_is_taken_back_without_going_back() -> None:
    ahead = read(10.0, 12.0, 1.0)
    told = ahead.now(13.001)

    mended = read(13.0, 13.001, 0.5, ahead)

    assert mended.now(13.001) == pytest.approx(told)
    assert mended.now(14.001) == pytest.approx(told + 0.5)
    assert mended.now(20.0) == pytest.approx(STORE + 20.0, abs=0.001)


@pytest.mark.parametrize("by_s", [-3600.0, -0.5, 0.5, 3600.0])
def test_a_clock_that_is_set_is_followed(by_s: float) -> None:
    before = read(10.0, 10.001)

    clock = StoreClock.read(11.0, 11.001, STORE + by_s + 11.0, before)

    assert clock.now(20.0) == pytest.approx(STORE + by_s + 20.0, abs=0.001)


ways = st.tuples(
    st.floats(0, 5),  # since the last reading
    st.floats(0, 3),  # how long it is on its way
    st.floats(0, 1),  # where on its way it is answered
)


@given(readings=st.lists(ways, min_size=1, max_size=30), parting=st.floats(-0.9, 0.9))
def test_it_never_goes_back_and_is_wrong_by_no_more_than_its_best_reading(
    readings: list[tuple[float, float, float]], parting: float
) -> None:
    """The store's clock runs quicker or slower than ours, by less than two clocks ever part."""

    def truth(at: float) -> float:
        return STORE + at * (1 + parting * DRIFT)

    clock, at, shown, best = None, 0.0, -math.inf, math.inf
    for since, way, share in readings:
        began = at + since
        at = began + way
        if clock is not None:
            shown = max(shown, clock.now(at))
        clock = StoreClock.read(began, at, truth(began + way * share), clock)

        assert clock.now(at) >= shown - 1e-6
        shown = clock.now(at)
        best = min(best + DRIFT * (since + way), way / 2 + DRIFT * way)
        assert abs(truth(at) - shown) <= error_s(clock) + clock.extra_s + 1e-6
        assert error_s(clock) <= best + 1e-6
