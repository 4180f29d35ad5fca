import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.wire.json_body import JsonEvents
from breaker.wire.sse import MAX_EVENT, MAX_STRAY, Event, Lines, SseEvents


def events_of(parser: SseEvents | JsonEvents, *pieces: bytes) -> list[Event]:
    found = [event for piece in pieces for event in parser.feed(piece)]
    return found + list(parser.close())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"data: a\n\n", [("", "a")], id="line feeds"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")], id="carriage returns and line feeds"),
        pytest.param(b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")], id="carriage returns alone"),
        pytest.param(b"data:a\n\n", [("", "a")], id="no blank after the colon"),
        pytest.param(b"data:  a\n\n", [("", " a")], id="only one blank belongs to the field"),
        pytest.param(b"data: a\ndata: b\n\n", [("", "a\nb")], id="several data lines"),
        pytest.param(b"event: ping\ndata: a\n\n", [("ping", "a")], id="a name"),
        pytest.param(b"event: ping\n\ndata: a\n\n", [("", "a")], id="a name without data is forgotten"),
        pytest.param(b": hello\n\n: again\ndata: a\n\n", [("", "a")], id="comments"),
        pytest.param(b"retry: 3\nid: 7\ndata: a\n\n", [("", "a")], id="retry and id"),
        pytest.param(b"data: a", [("", "a")], id="an end without a blank line"),
        pytest.param(b"data\n\n", [], id="data without a colon is empty"),
        pytest.param(b"data: a\n\n{\n 1}\n", [("", "a"), ("", "{\n 1}")], id="stray text comes last"),
        pytest.param(b"error: {}\n\ndata: a\n\n", [("", "a"), ("", "{}")], id="a field that the standard doesn't know"),
        pytest.param("data: é\n\n".encode("latin-1"), [("", "\ufffd")], id="bytes that are no UTF-8"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_bytes_become_events(body: bytes, expected: list[tuple[str, str]]) -> None:
    assert events_of(SseEvents(), body) == expected


@given(
    st.lists(st.sampled_from([b"data: \xe6\x9d\xb1", b"\r", b"\n", b"\r\n", b": x", b"event: e", b"{}", b"a"])),
    st.data(),
)
def test_events_are_the_same_however_the_bytes_are_cut(parts: list[bytes], data: st.DataObject) -> None:
    body = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)))))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]

    assert events_of(SseEvents(), *pieces) == events_of(SseEvents(), body)
    assert events_of(JsonEvents(), *pieces) == events_of(JsonEvents(), body)


def test_a_line_that_is_too_long_is_dropped_and_the_next_event_read() -> None:
    parser = SseEvents()

    found = events_of(parser, b"data: ", *[b"x" * 100_000] * 50, b"\n\ndata: a\n\n")

    assert found == [("", "a")]
    assert parser.dropped == 1


def test_an_event_of_too_many_lines_is_dropped() -> None:
    parser = SseEvents()
    line = b"data: " + b"x" * 100_000 + b"\n"

    found = events_of(parser, *[line] * 50, b"data: short\n\ndata: a\n\n")

    assert found == [("", "a")]
    assert parser.dropped == 1


def test_an_unended_line_that_is_too_long_is_dropped() -> None:
    parser = SseEvents()

    assert events_of(parser, b"data: a\n\n", b"x" * (MAX_EVENT + 1)) == [("", "a")]


def test_too_much_stray_text_is_dropped() -> None:
    assert events_of(SseEvents(), *[b"stray stray\n"] * MAX_STRAY, b"data: a\n\n") == [("", "a")]


def test_lines_hold_no_more_than_one_event_may_have() -> None:
    lines = Lines()
    for _ in range(100):
        assert list(lines.feed(b"x" * 100_000)) == []

    assert len(lines._held) <= MAX_EVENT
    assert list(lines.feed(b"\nshort\n")) == [None, b"short"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b'{"a": 1}', ['{"a": 1}'], id="one object"),
        pytest.param(b'{"a": 1}\n{"b": 2}\n', ['{"a": 1}', '{"b": 2}'], id="an object a line"),
        pytest.param(b'{\n "a": {}\n}\n', ['{\n "a": {}\n}'], id="an object over several lines"),
        pytest.param(b'\n\n{"a": 1}', ['{"a": 1}'], id="blank lines first"),
        pytest.param(b'{"a": 1}\ndata: [DONE]\n', ['{"a": 1}', "data: [DONE]"], id="something else behind it"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_json_bodies_become_events(body: bytes, expected: list[str]) -> None:
    assert [event.data for event in events_of(JsonEvents(), body)] == expected


@pytest.mark.parametrize("ends", [b"", b"\n"], ids=["in one line", "in many lines"])
def test_a_json_body_that_is_too_long_is_dropped(ends: bytes) -> None:
    parser = JsonEvents()

    assert events_of(parser, b'{"a": "', *[b"x" * 100_000 + ends] * 50) == []
    assert parser.dropped == 1
