from collections.abc import Sequence

import pytest

from breaker.attempt import Limits, Next, Tried, next_try
from breaker.verdict import Verdict
from tests.attempt.made import place

A, B = place("a/m"), place("b/m")
LIMITS = Limits(attempts=3, pause_s=1.0, budget_s=60.0)


def asked_next(tried: Sequence[Tried], *, fresh: bool = False, chance: float = 0.0, now: float = 10.0) -> Next | None:
    return next_try(B if fresh else None, tried, LIMITS, began=0.0, now=now, chance=chance)


def failed(verdict: Verdict = Verdict.EMPTY, *, retry_after_s: float | None = None) -> Tried:
    return Tried(A, verdict, 10.0, retry_after_s)


def test_another_target_is_asked_at_once() -> None:
    assert asked_next([failed(retry_after_s=30.0)], fresh=True) == Next(B, 10.0)


def test_the_same_target_is_asked_after_a_pause_that_doubles() -> None:
    assert asked_next([failed()]) == Next(A, 11.0)
    assert asked_next([failed(), failed()]) == Next(A, 12.0)


def test_pauses_are_spread() -> None:
    assert asked_next([failed()], chance=1.0) == Next(A, 10.75)


def test_a_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    assert asked_next([failed(Verdict.RATE_LIMITED, retry_after_s=7.0)]) == Next(A, 17.0)


def test_no_attempt_begins_beyond_the_budget_of_time() -> None:
    assert asked_next([failed(retry_after_s=51.0)]) is None
    assert asked_next([failed()], fresh=True, now=61.0) is None


def test_there_are_only_so_many_attempts() -> None:
    assert asked_next([failed()] * 3, fresh=True) is None


@pytest.mark.parametrize("verdict", [Verdict.AUTH, Verdict.QUOTA, Verdict.NOT_FOUND])
def test_what_repeating_cannot_help_is_not_repeated(verdict: Verdict) -> None:
    assert asked_next([failed(verdict)]) is None
    assert asked_next([failed(verdict)], fresh=True) == Next(B, 10.0)


def test_of_two_that_failed_the_one_is_asked_that_may_be_asked_first() -> None:
    tried = [failed(retry_after_s=30.0), Tried(B, Verdict.CUT, 12.0)]

    assert asked_next(tried, now=12.0) == Next(B, 13.0)


def test_a_pause_that_is_over_already_is_none() -> None:
    assert asked_next([failed()], now=20.0) == Next(A, 20.0)


def test_what_has_no_end_although_little_reasoning_was_asked_for_is_not_asked_again() -> None:
    tried = [failed(Verdict.LOOP)]

    assert next_try(B, tried, LIMITS, began=0.0, now=10.0, chance=0.0, calm=True) is None


def test_what_has_no_end_twice_is_not_asked_a_third_time() -> None:
    assert asked_next([failed(Verdict.LOOP)]) == Next(A, 11.0)
    assert asked_next([failed(Verdict.LOOP)] * 2, fresh=True) is None
