from hypothesis import given
from hypothesis import strategies as st

from breaker.attempt.whole import WholeEvents


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
