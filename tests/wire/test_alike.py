"""Events that differ from an earlier one in nothing but the model's words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.answer import Answer, Ended, Source
from breaker.wire import READERS
from breaker.wire.alike import Alike
from breaker.wire.reading import Reading
from tests.wire.streams import CHAT, MESSAGES, STOP, chunk, sse, text

DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "so"}}
THOUGHT = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "so"}}


def learnt(event: bytes, wire: str = CHAT) -> Alike:
    alike = Alike(READERS[wire])
    alike.learn(event)
    return alike


def event(words: str) -> bytes:
    return sse(chunk({"content": words}, finish_reason=None))


@pytest.mark.parametrize(
    ("wire", "event", "thought"),
    [
        pytest.param(CHAT, event("so"), False, id="a chat's text"),
        pytest.param(CHAT, sse(chunk({"content": None, "reasoning_content": "so"})), True, id="a chat's thought"),
        pytest.param(CHAT, event("so").replace(b"\n", b"\r\n"), False, id="ends of Windows"),
        pytest.param(MESSAGES, sse(DELTA, name="content_block_delta"), False, id="a message's text"),
        pytest.param(MESSAGES, sse(THOUGHT, name="content_block_delta"), True, id="a message's thought"),
    ],
)
def test_an_event_is_known_again_by_all_but_its_words(wire: str, event: bytes, thought: bool) -> None:
    alike = learnt(event, wire)

    assert alike.said(event.replace(b'"so"', b'" and {on}: \xf0\x9f\x9b\xb6"')) == [" and {on}: 🛶"]
    assert alike.said(event + event.replace(b'"so"', b'"far"')) == ["so", "far"]
    assert alike.thought is thought


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(event(""), id="no words"),
        pytest.param(event('say "so"'), id="quotes"),
        pytest.param(event("a\\b"), id="a backslash"),
        pytest.param(event("é"), id="an escape"),
        pytest.param(event("so").replace(b'"so"', b'"s\no"'), id="a line's end"),
        pytest.param(event("so").replace(b'"so"', b'"s\x00o"'), id="a sign that may not stand in JSON"),
        pytest.param(event("so").replace(b'"so"', b'"s\xffo"'), id="broken letters"),
        pytest.param(event("so")[:-1], id="half an event"),
        pytest.param(event("so")[5:], id="the rest of one"),
        pytest.param(b"\n" + event("so"), id="a line's end before"),
        pytest.param(event("so") + b": ping\n\n", id="a comment behind"),
        pytest.param(event("so").replace(b"c1", b"c2"), id="another id"),
        pytest.param(sse(STOP), id="the end"),
        pytest.param(sse(chunk({"content": "so"}, finish_reason="stop")), id="the end with words"),
        pytest.param(event("so" * 2 * 1024 * 1024), id="a very long one"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_all_else_is_none_of_them(data: bytes) -> None:
    assert learnt(event("so")).said(data) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(sse(chunk({"content": "so"}, finish_reason="stop")), id="an end"),
        pytest.param(sse({**chunk({"content": "so"}), "usage": {"prompt_tokens": 3}}), id="counts"),
        pytest.param(sse(chunk({"content": "so", "refusal": "on"})), id="two texts"),
        pytest.param(sse({**chunk({"content": "so"}), "error": {"message": "no"}}), id="an error"),
        pytest.param(sse(chunk({"content": "so"}), name="error"), id="an error by its name"),
        pytest.param(sse(chunk({"tool_calls": [{"index": 0, "function": {"arguments": "so"}}]})), id="a call"),
        pytest.param(sse(chunk({"content": "so", "tool_calls": [{"id": "x"}]})), id="a call beside it"),
        pytest.param(sse(chunk({"content": '"so"'})), id="words with quotes"),
        pytest.param(sse({"note": "so"}), id="a note"),
        pytest.param(b"data: {so}\n\n", id="no JSON"),
        pytest.param(b'data: "a": "so"\n\n', id="no object"),
        pytest.param(sse(chunk({"content": "so"}))[:-1], id="half an event"),
        pytest.param(sse(chunk({"content": "so"}), chunk({"content": "so"})), id="two"),
        pytest.param(sse(chunk({"content": "so" * 4_000})), id="a long one"),
    ],
)
def test_nothing_is_learnt_from_more_than_words(data: bytes) -> None:
    assert learnt(data).said(data) is None


def test_where_each_event_has_something_of_its_own_nothing_is_learnt_any_more() -> None:
    alike = Alike(READERS[CHAT])
    for number in range(8):
        alike.learn(event("so").replace(b"c1", b"c%d" % number))
    assert alike.said(event("on").replace(b"c1", b"c7")) == ["on"]  # which shows that it isn't in vain
    for number in range(9):
        alike.learn(event("so").replace(b"c1", b"d%d" % number))

    assert alike.said(event("so").replace(b"c1", b"d8")) is None


WORDS = st.text(max_size=12) | st.sampled_from(
    ["<think>", "</think>", "Error: upstream failed. ", "\u2028", " ", "A-17"]
)


@given(st.lists(WORDS, max_size=12), st.booleans(), st.sampled_from(["content", "reasoning_content"]))
def test_the_facts_are_those_of_a_stream_that_is_parsed(words: list[str], plain: bool, where: str) -> None:
    events = [sse(json.dumps(chunk({where: each}), ensure_ascii=plain)) for each in words]
    body = [*events, *(sse(*text("so")) for _ in range(2)), sse(STOP), sse("[DONE]")]

    assert facts(body) == facts([bytes([sign]) for event in body for sign in event])


def facts(pieces: list[bytes]) -> Answer:
    reading = Reading(CHAT, streamed=True, marks=("A-17",), prompt_bytes=100)
    reading.headers(200, {}, 0.1)
    for piece in pieces:
        reading.feed(piece, 0.2)
    return reading.end(Ended.COMPLETE, 0.3, target="a/b", id="x", source=Source.REPORT)
