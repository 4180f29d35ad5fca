import json

import pytest

from breaker.answer import Ended
from breaker.attempt import Act, Attempt, Begin, Drop, Limits, Refuse, Show, Stand, Step, Wait
from breaker.verdict import Verdict
from tests.attempt.made import PROSE, said, step, stop

NEVER = float("inf")
TOO_LONG = json.dumps({"error": {"code": "context_length_exceeded", "message": "too long"}}).encode()


def begin(made: Step, now: float) -> Attempt:
    """The attempt that a step begins now."""
    act = made.next(now)
    assert isinstance(act, Begin), act
    return act.attempt


def fails(attempt: Attempt, now: float, *, status: int | None = None) -> None:
    if status is not None:
        attempt.headers(status, {}, now)
    attempt.end(Ended.COMPLETE if status else Ended.UNREACHABLE, now)


def answers(attempt: Attempt, now: float, text: str = "Yes.") -> None:
    attempt.headers(200, {}, now)
    attempt.feed(said(text) + stop(), now)
    attempt.end(Ended.COMPLETE, now)


def target(act: Act) -> str:
    assert isinstance(act, Begin | Show | Drop), act
    return act.attempt.place.target


def test_a_good_answer_is_shown() -> None:
    made = step("b/m")
    first = begin(made, 100.0)
    assert made.next(100.1) == Wait(NEVER)
    answers(first, 101.0)

    assert made.next(101.0) == Show(first)
    assert (made.made, made.tried) == (1, [])


@pytest.mark.parametrize(("body", "verdict"), [(b"no such block", "bad_request"), (TOO_LONG, "context_too_long")])
def test_what_a_backup_alone_refuses_is_no_fault_of_the_callers(body: bytes, verdict: str) -> None:
    """Thoughts that the first has signed, or a length that only the backup can't read: the first is asked again."""
    made = step("b/m")
    first = begin(made, 100.0)
    fails(first, 101.0, status=503)
    backup = begin(made, 101.0)
    backup.headers(400, {}, 101.5)
    backup.feed(body, 101.5)
    backup.end(Ended.COMPLETE, 101.5)
    wait = made.next(101.5)
    assert isinstance(wait, Wait)
    again = made.next(wait.until)

    assert isinstance(again, Begin)
    assert again.attempt.place.target == "p/m"
    assert [one.verdict.value for one in made.tried] == ["overloaded", verdict]
    fails(again.attempt, 103.0, status=503)
    assert made.next(103.0) == Show(again.attempt)


def test_where_the_first_gave_no_error_of_its_own_and_the_backup_refuses_the_caller_is_told_of_both() -> None:
    made = step("b/m", limits=Limits(attempts=2))
    fails(begin(made, 100.0), 101.0)
    fails(begin(made, 101.0), 101.5, status=400)
    act = made.next(101.5)

    assert isinstance(act, Refuse)
    assert [one.verdict for one in act.tried] == [Verdict.CONNECT_ERROR, Verdict.BAD_REQUEST]


def test_an_answer_is_shown_before_its_end() -> None:
    made = step()
    first = begin(made, 100.0)
    first.headers(200, {}, 100.5)
    first.feed(said(PROSE[:300]), 101.0)

    assert made.next(101.0) == Show(first)
    assert not first.is_over


def test_after_a_failure_the_backup_is_asked_at_once() -> None:
    made = step("b/m")
    fails(begin(made, 100.0), 101.0)

    assert target(made.next(101.0)) == "b/m"
    assert [one.verdict for one in made.tried] == [Verdict.CONNECT_ERROR]
    assert made.made == 2


def test_without_a_backup_the_same_is_asked_after_a_pause() -> None:
    made = step()
    fails(begin(made, 100.0), 101.0)

    assert made.next(101.0) == Wait(102.0)
    assert target(made.next(102.0)) == "p/m"


def test_the_providers_own_last_error_is_shown_when_nothing_is_left() -> None:
    made = step(limits=Limits(attempts=2))
    fails(begin(made, 100.0), 101.0, status=500)
    last = begin(made, 103.0)
    fails(last, 104.0, status=503)

    assert made.next(104.0) == Show(last)
    assert last.stand is Stand.BAD


def test_where_no_error_was_sent_the_step_refuses() -> None:
    made = step(limits=Limits(attempts=1))
    fails(begin(made, 100.0), 101.0)

    assert made.next(101.0) == Refuse(tuple(made.tried))


def test_what_failed_after_it_was_shown_can_be_begun_anew() -> None:
    made = step("b/m")
    first = begin(made, 100.0)
    first.headers(200, {}, 100.5)
    first.feed(said(PROSE[:300]), 101.0)
    assert made.next(101.0) == Show(first)
    first.end(Ended.RESET, 102.0)

    assert target(made.next(102.0)) == "b/m"


def test_only_attempts_that_leave_another_give_up_a_late_first_byte() -> None:
    made = step(limits=Limits(attempts=2, pause_s=0.0))
    first = begin(made, 100.0)
    fails(first, 101.0)
    last = begin(made, 101.0)

    assert first.until == 100.0 + Limits().first_byte_s
    assert last.until == 101.0 + Limits().silence_s


def test_what_had_no_end_is_asked_once_more_with_the_least_reasoning() -> None:
    made = step(reasoning_effort="high")
    first = begin(made, 100.0)
    first.headers(200, {}, 100.0)
    for _ in range(100):
        first.feed(said("Wait, I look again. " * 50), 101.0)
    assert first.stand is Stand.BAD
    again = begin(made, 103.0)

    assert (first.more, again.more) == ({}, {"reasoning_effort": "low"})
    again.headers(200, {}, 104.0)
    for _ in range(100):
        again.feed(said("Wait, I look again. " * 50), 104.0)
    assert isinstance(made.next(110.0), Refuse)


def test_the_least_reasoning_can_be_asked_for_from_the_first() -> None:
    assert begin(step(reasoning_effort="high", calm=True), 100.0).more == {"reasoning_effort": "low"}


# A second one beside the first


def test_a_second_target_is_asked_beside_a_slow_first() -> None:
    made = step("b/m", hedge_s=5.0)
    first = begin(made, 100.0)
    assert made.next(101.0) == Wait(105.0)
    second = begin(made, 105.0)
    assert made.next(105.0) == Wait(NEVER)
    answers(second, 106.0)

    assert made.next(106.0) == Drop(first)
    assert made.dropped == [first]
    assert first.ended.judgement.verdict is Verdict.CANCELLED
    assert made.next(106.0) == Show(second)


def test_the_first_may_win_over_the_second() -> None:
    made = step("b/m", hedge_s=5.0)
    first, second = begin(made, 100.0), begin(made, 105.0)
    answers(first, 106.0)

    assert made.next(106.0) == Drop(second)
    assert made.next(106.0) == Show(first)


def test_of_two_good_ones_the_first_is_shown() -> None:
    made = step("b/m", hedge_s=5.0)
    first, second = begin(made, 100.0), begin(made, 105.0)
    answers(first, 106.0)
    answers(second, 106.0)

    assert made.next(106.0) == Drop(second)
    assert second.ended.judgement.verdict is Verdict.OK
    assert made.next(106.0) == Show(first)


def test_where_one_of_two_fails_the_other_is_awaited() -> None:
    made = step("b/m", hedge_s=5.0)
    first, second = begin(made, 100.0), begin(made, 105.0)
    fails(second, 106.0)
    assert made.next(106.0) == Wait(NEVER)
    answers(first, 107.0)

    assert made.next(107.0) == Show(first)


def test_without_another_target_nothing_is_sent_beside() -> None:
    made = step(hedge_s=5.0)
    begin(made, 100.0)

    assert made.next(105.0) == Wait(NEVER)
    assert made.next(106.0) == Wait(NEVER)


def test_what_is_sent_beside_counts_as_an_attempt() -> None:
    made = step("b/m", hedge_s=5.0, limits=Limits(attempts=1))
    begin(made, 100.0)

    assert made.next(105.0) == Wait(NEVER)


def test_an_attempt_that_lost_counts_where_the_winner_fails_after_all() -> None:
    made = step("b/m", hedge_s=5.0, limits=Limits(attempts=2))
    loser = begin(made, 100.0)
    winner = begin(made, 105.0)
    winner.headers(200, {}, 105.5)
    winner.feed(said(PROSE[:300]), 106.0)
    assert made.next(106.0) == Drop(loser)
    assert made.next(106.0) == Show(winner)
    winner.end(Ended.RESET, 107.0)

    assert made.made == 2
    assert isinstance(made.next(107.0), Refuse)
