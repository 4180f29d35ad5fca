"""What is said of a move in plain words."""

import pytest

from breaker.api import sentences
from breaker.circuit import OPENS, Cause, Move, State, plain
from tests.api.scenes import NOW, circuit

OPEN = circuit(cause=Cause.SLOW, moved_s=212, left_s=388)


@pytest.mark.parametrize(
    ("before", "after", "cause", "text"),
    [
        (State.CLOSED, State.OPEN, Cause.SLOW, "was taken out, slow"),
        (State.CLOSED, State.OPEN, Cause.ERRORS, "was taken out, failing"),
        (State.CLOSED, State.OPEN, Cause.ERROR_RATE, "was taken out, failing too often"),
        (State.CLOSED, State.OPEN, Cause.SLUMP, "was taken out, far slower than usual"),
        (State.CLOSED, State.OPEN, Cause.RATE_LIMITED, "was taken out, rate limited"),
        (State.CLOSED, State.OPEN, Cause.QUOTA, "was taken out, no credit or quota"),
        (State.CLOSED, State.OPEN, Cause.AUTH, "was taken out, key refused"),
        (State.CLOSED, State.OPEN, Cause.NOT_FOUND, "was taken out, model not known"),
        (State.HALF_OPEN, State.OPEN, Cause.SLOW, "stays out, still slow"),
        (State.HALF_OPEN, State.OPEN, Cause.ERRORS, "stays out, still failing"),
        (State.CLOSED, State.HELD_OPEN, Cause.MANUAL, "was taken out by hand"),
        (State.OPEN, State.HELD_CLOSED, Cause.MANUAL, "was kept in use by hand"),
        (State.HELD_OPEN, State.CLOSED, Cause.MANUAL, "was released from a hold by hand"),
        (State.HALF_OPEN, State.CLOSED, Cause.RECOVERED, "is back, recovered"),
        (State.HALF_OPEN, State.CLOSED, Cause.UNVERIFIED, "is back, unverified"),
        (State.OPEN, State.CLOSED, Cause.WAITED, "is back, the wait is over"),
        (State.CLOSED, State.CLOSED, Cause.HOLD_OVER, "is no longer held by hand"),
        (State.OPEN, State.OPEN, Cause.CLOCK, "had its times set anew"),
        (State.CLOSED, State.OPEN, Cause.RESTORED, "was put back into the store"),
    ],
)
def test_a_move_is_told_in_plain_words(before: State, after: State, cause: Cause, text: str) -> None:
    assert sentences.move(Move(at=NOW, before=before, after=after, cause=cause, why="x", circuit=OPEN)) == text


def test_every_cause_that_opens_has_words() -> None:
    assert set(plain.WORDS) == OPENS
    assert len({words.short for words in plain.WORDS.values()}) == len(OPENS)


def test_those_causes_have_a_remedy_that_pass_by_no_waiting() -> None:
    told = {c: plain.remedy(c, provider="zai", model="m", api_key_env="KEY") for c in Cause}

    assert {cause for cause, remedy in told.items() if remedy} == {cause for cause in Cause if cause.refusal}
