import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.answer import Ended
from breaker.attempt import Attempt, Showing
from breaker.attempt.showing import WholeEvents
from tests.attempt.made import DONE, ERROR, attempt, said, stop

LONG = "ravens " * 30


def shown(*pieces: bytes, restarts: bool = False) -> tuple[Attempt, Showing]:
    """An attempt of which these have come, as it is shown."""
    made = attempt()
    made.headers(200, {}, 101.0)
    for data in pieces:
        made.feed(data, 102.0)
    return made, Showing(made, restarts=restarts)


def test_a_good_answer_is_handed_on_as_it_comes() -> None:
    made, showing = shown(said(LONG))
    assert showing.pieces() == [said(LONG)]
    made.feed(said("One"), 103.0)
    assert showing.pieces() == [said("One")]
    assert showing.pieces() == []
    made.feed(stop() + DONE, 104.0)
    made.end(Ended.COMPLETE, 104.0)

    assert showing.pieces() == [stop() + DONE]
    assert not showing.failed


def test_words_of_an_answer_that_is_shown_pass_without_being_held() -> None:
    made, showing = shown(said(LONG), said("and"))
    assert not showing.passes(said("so"), 103.0)  # what came before goes first
    showing.pieces()

    assert showing.passes(said("so"), 104.0)
    assert showing.pieces() == []
    assert made.shown_chars == len(LONG + "andso")
    assert made.until == 104.0 + 120.0
    assert not showing.passes(stop(), 105.0)


@pytest.mark.parametrize("restarts", [True, False])
def test_nothing_passes_where_more_is_to_be_looked_at(restarts: bool) -> None:
    made, showing = shown(said(LONG), said("and"), restarts=restarts)
    showing.pieces()
    if not restarts:
        while showing.passes(said("ravens " * 500), 103.0):
            assert made.stand == "good"
        made.feed(said("so"), 104.0)  # the time for a look has come
        assert showing.pieces() == [said("so")]
        assert showing.passes(said("so"), 105.0)
        made.end(Ended.COMPLETE, 106.0)

    assert not showing.passes(said("so"), 107.0)


def test_the_providers_own_error_is_shown_as_it_came() -> None:
    made = attempt()
    made.headers(503, {}, 101.0)
    made.feed(b"{}", 101.0)
    made.end(Ended.COMPLETE, 101.0)
    showing = Showing(made, restarts=True)

    assert (showing.pieces(), showing.pieces(), showing.failed) == ([b"{}"], [], False)


@pytest.mark.parametrize(("restarts", "told"), [(False, [ERROR]), (True, [])])
def test_an_error_event_is_told_unless_another_attempt_follows(restarts: bool, told: list[bytes]) -> None:
    made, showing = shown(said(LONG), restarts=restarts)
    assert showing.pieces() == [said(LONG)]
    made.feed(ERROR, 103.0)
    assert showing.pieces() == []
    made.end(Ended.COMPLETE, 103.0)

    assert showing.pieces() == told
    assert showing.failed


def test_of_what_breaks_off_nothing_more_is_shown() -> None:
    made, showing = shown(said(LONG))
    showing.pieces()
    made.end(Ended.RESET, 103.0)

    assert showing.failed
    assert showing.pieces() == []


def test_where_another_may_follow_events_are_handed_on_whole() -> None:
    made, showing = shown(said(LONG), said("One")[:9], restarts=True)
    assert showing.pieces() == [said(LONG)]
    made.feed(said("One")[9:], 103.0)
    assert showing.pieces() == [said("One")]
    made.feed(stop() + DONE[:-1], 104.0)
    made.end(Ended.COMPLETE, 104.0)

    assert showing.pieces() == [stop() + DONE[:-1]]


def test_only_whole_events_are_passed_on() -> None:
    events = WholeEvents()

    assert events.pass_on(b"data: 1\n\ndata: 2") == b"data: 1\n\n"
    assert events.pass_on(b"\n") == b""
    assert events.pass_on(b"\ndata: 3\r\n\r\ndata") == b"data: 2\n\ndata: 3\r\n\r\n"
    assert events.rest() == b"data"
    assert events.rest() == b""


@given(st.lists(st.sampled_from([b"data: 1", b"\n", b"\r\n", b"\r", b": x", b"\n\n"])))
def test_nothing_is_lost_however_it_is_cut(pieces: list[bytes]) -> None:
    events = WholeEvents()
    passed = [events.pass_on(piece) for piece in pieces]

    assert b"".join([*passed, events.rest()]) == b"".join(pieces)
