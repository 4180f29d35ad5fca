"""How a recorded exchange is read and played, and what is said about one that isn't written as it should be."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from breaker.answer import Ended
from breaker.errors import BadExchangeError
from breaker.exchange import Exchange, play
from breaker.verdict import Blame, Verdict
from breaker.wire.signs import Phrase
from monitor.cli.judging import as_json

PAGE = (Path(__file__).parent.parent / "docs" / "exchanges.md").read_text(encoding="utf-8")


def event(**delta: object) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n"


def finish(word: str, **usage: int) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {}, 'finish_reason': word}], 'usage': usage})}\n\n"


def exchange(**changed: Any) -> dict[str, Any]:
    """A good streamed answer, with these fields changed; `...` leaves one out."""
    chunks = [
        {"at_ms": 300, "data": ": waiting\n\n"},
        {"at_ms": 700, "data": event(content="The heron")},
        {"at_ms": 800, "data": event(content=" stands in the reeds.")},
        {"at_ms": 900, "data": finish("stop", prompt_tokens=210, completion_tokens=8) + "data: [DONE]\n\n"},
    ]
    whole = {
        "id": "good",
        "wire": "openai-chat",
        "stream": True,
        "request": {"chars": 800, "tools": False, "max_tokens": 512},
        "status": 200,
        "headers": {"content-type": "text/event-stream"},
        "chunks": chunks,
        "end": "close",
        "end_at_ms": 901,
    }
    return {name: value for name, value in {**whole, **changed}.items() if value is not ...}


def test_a_good_answer_is_read_and_judged() -> None:
    played = play(Exchange.read(exchange()))

    assert (played.judgement.verdict, played.judgement.blame) == (Verdict.OK, Blame.OK)
    assert (played.first_byte_s, played.finish_word) == (0.7, "stop")
    assert (played.answer.headers_s, played.answer.seconds) == (0.3, 0.901)
    assert played.answer.prompt_bytes == 800


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param({"chars": 900}, 900, id="characters"),
        pytest.param({"chars": 900, "bytes": 2700}, 2700, id="bytes where they differ"),
        pytest.param({"chars": 90, "bytes": 520_000, "images": 1}, 90, id="an image is no text"),
        pytest.param({}, None, id="not known"),
        pytest.param(None, None, id="nothing known"),
        pytest.param(..., None, id="left out"),
    ],
)
def test_a_prompt_is_as_large_as_its_text(request_: object, expected: int | None) -> None:
    assert Exchange.read(exchange(request=request_)).prompt_bytes == expected


@pytest.mark.parametrize(
    ("end", "status", "expected"),
    [
        pytest.param("close", 200, Ended.COMPLETE, id="closed"),
        pytest.param("reset", 200, Ended.RESET, id="broken"),
        pytest.param("timeout", 200, Ended.SILENCE, id="silent"),
        pytest.param("cancel", 200, Ended.CANCELLED, id="cancelled"),
        pytest.param("close", None, Ended.UNREACHABLE, id="closed before its status"),
        pytest.param("reset", None, Ended.UNREACHABLE, id="broken before its status"),
        pytest.param("timeout", None, Ended.SILENCE, id="silent without a status"),
    ],
)
def test_an_end_means(end: str, status: int | None, expected: Ended) -> None:
    assert Exchange.read(exchange(end=end, status=status, chunks=[])).ended is expected


def test_a_character_may_be_cut_into_two_pieces() -> None:
    whole = event(content="鷺").replace("\\u9dfa", "鷺").encode()
    at = whole.index("鷺".encode()) + 1
    pieces = [
        {"at_ms": at_ms, "b64": base64.b64encode(piece).decode()}
        for at_ms, piece in ((700, whole[:at]), (710, whole[at:]))
    ]
    last = exchange()["chunks"][-1]

    played = play(Exchange.read(exchange(chunks=[*pieces, last])))

    assert (played.judgement.verdict, played.answer.text_chars, played.first_byte_s) == (Verdict.OK, 1, 0.71)


def test_a_limit_without_any_answer_is_a_timeout() -> None:
    played = play(Exchange.read(exchange(status=None, headers=..., chunks=[], end="timeout", end_at_ms=240_000)))

    assert played.judgement.verdict is Verdict.TIMEOUT_FIRST_BYTE
    assert (played.answer.seconds, played.first_byte_s) == (240.0, None)


def test_without_its_end_an_exchange_ends_with_its_last_chunk() -> None:
    assert Exchange.read(exchange(end_at_ms=...)).end_at_s == 0.9


# Phrases

OWN = Phrase(id="own-1", text="The pump house is closed", tail=40)


def said_by(text: str, **usage: int) -> dict[str, Any]:
    return exchange(
        request={"chars": 40_000},
        chunks=[
            {"at_ms": 700, "data": event(content=text)},
            {"at_ms": 701, "data": finish("stop", **usage) + "data: [DONE]\n\n"},
        ],
    )


def test_a_gateways_words_are_no_first_byte() -> None:
    played = play(Exchange.read(said_by("The pump house is closed until noon.")), phrases=(OWN,))

    assert (played.judgement.verdict, played.judgement.blame) == (Verdict.GATEWAY_TEXT, Blame.PROVIDER_FAILURE)
    assert (played.first_byte_s, played.answer.first_byte_s) == (None, 0.7)


def test_a_gateways_words_after_a_models_leave_the_first_byte_alone() -> None:
    text = f"{'The dike holds. ' * 20}\n\nThe pump house is closed."
    played = play(Exchange.read(said_by(text)), phrases=(OWN,))

    assert played.judgement.verdict is Verdict.GATEWAY_TEXT
    assert played.first_byte_s == 0.7


def test_a_phrase_that_isnt_known_is_text_like_any_other() -> None:
    played = play(Exchange.read(said_by("The pump house is closed.", prompt_tokens=9_000, completion_tokens=7)))

    assert played.judgement.verdict is Verdict.OK


# What can't be read

CHUNK = {"at_ms": 700, "data": "psst"}
BAD = [
    pytest.param([], "the exchange is a list (not shown); it must be an object", id="a list"),
    pytest.param("psst", "the exchange is a text (not shown); it must be an object", id="a text"),
    pytest.param(exchange(wire=...), "wire is missing; it is a text", id="no wire"),
    pytest.param(exchange(wire="psst"), "wire is a text (not shown); it is one of: openai-chat, ", id="another wire"),
    pytest.param(exchange(stream=None), "stream is null; it must be true or false", id="stream null"),
    pytest.param(exchange(stream=1), "stream is 1; it must be true or false", id="stream a number"),
    pytest.param(exchange(status=99), "status is 99; an HTTP status is 100 to 599", id="status small"),
    pytest.param(exchange(status="200"), "status is a text (not shown); it must be a whole number", id="status text"),
    pytest.param(exchange(status=True), "status is True; it must be a whole number", id="status true"),
    pytest.param(exchange(status=10**400), "status is out of range", id="status huge"),
    pytest.param(exchange(status=None), "status is null, yet there are chunks", id="a body without a status"),
    pytest.param(exchange(headers=["psst"]), "headers is a list (not shown); it must be an object", id="headers list"),
    pytest.param(exchange(headers={"a": 1}), "a value in headers is 1; it must be a text", id="a header's number"),
    pytest.param(exchange(request="psst"), "request is a text (not shown); it must be an object", id="request text"),
    pytest.param(exchange(request={"chars": "psst"}), "request.chars is a text (not shown)", id="chars text"),
    pytest.param(exchange(request={"chars": -1}), "request.chars is out of range; it is 0 to", id="chars negative"),
    pytest.param(exchange(request={"max_tokens": 0}), "request.max_tokens is out of range; it is 1 to", id="no tokens"),
    pytest.param(exchange(request={"tools": []}), "request.tools is a list (not shown)", id="tools list"),
    pytest.param(exchange(chunks=...), "chunks is missing; it is a list", id="no chunks"),
    pytest.param(exchange(chunks="psst"), "chunks is a text (not shown); it must be a list", id="chunks text"),
    pytest.param(exchange(chunks=["psst"]), "chunks[0] is a text (not shown); it must be an object", id="chunk text"),
    pytest.param(exchange(chunks=[{"at_ms": 1}]), "chunks[0] has both data and b64, or neither", id="neither"),
    pytest.param(exchange(chunks=[{**CHUNK, "b64": ""}]), "chunks[0] has both data and b64, or neither", id="both"),
    pytest.param(exchange(chunks=[{"at_ms": 1, "b64": "ps$t"}]), "chunks[0].b64 can't be decoded", id="base64"),
    pytest.param(
        exchange(chunks=[{"at_ms": 1, "b64": "鷺"}]), "chunks[0].b64 can't be decoded", id="base64, not ASCII"
    ),
    pytest.param(exchange(chunks=[{"at_ms": 1, "data": 7}]), "chunks[0].data is 7; it must be a text", id="data"),
    pytest.param(exchange(chunks=[{"data": ""}]), "chunks[0].at_ms is null; it is a number of", id="no moment"),
    pytest.param(exchange(chunks=[{**CHUNK, "at_ms": -1}]), "chunks[0].at_ms is out of range", id="before the begin"),
    pytest.param(exchange(chunks=[{**CHUNK, "at_ms": 1e400}]), "chunks[0].at_ms is out of range", id="infinite"),
    pytest.param(exchange(chunks=[{**CHUNK, "at_ms": 10**400}]), "chunks[0].at_ms is out of range", id="huge"),
    pytest.param(
        exchange(chunks=[{**CHUNK, "at_ms": "psst"}]), "chunks[0].at_ms is a text (not shown)", id="no number"
    ),
    pytest.param(exchange(chunks=[CHUNK, {**CHUNK, "at_ms": 1}]), "chunks[1].at_ms lies before", id="backwards"),
    pytest.param(exchange(end=...), "end is missing; it is a text", id="no end"),
    pytest.param(exchange(end="psst"), "end is a text (not shown); it is one of: close, reset, ", id="another end"),
    pytest.param(exchange(end_at_ms=5), "end_at_ms lies before the last chunk's at_ms", id="an early end"),
    pytest.param(exchange(end_at_ms="psst"), "end_at_ms is a text (not shown); it is a number", id="an end in words"),
    pytest.param(exchange(id="psst" * 65), "id has 260 characters; it may have 256", id="a long id"),
    pytest.param(exchange(id=7), "id is 7; it must be a text", id="an id that is a number"),
]


@pytest.mark.parametrize(("bad", "wrong"), BAD)
def test_what_isnt_an_exchange_is_named_without_its_text(bad: object, wrong: str) -> None:
    with pytest.raises(BadExchangeError) as caught:
        Exchange.read(bad)

    assert str(caught.value).startswith(wrong)
    assert "psst" not in str(caught.value)
    assert len(str(caught.value)) < 200


# The page


def test_the_example_of_the_page_is_judged_as_it_says() -> None:
    written, said = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    read = Exchange.read(written)

    assert as_json(read, play(read)) == said


def test_the_page_tells_of_every_field() -> None:
    (written, *_) = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    told = set(re.findall(r"`(\w+)`", "".join(line for line in PAGE.splitlines() if line.startswith("|"))))

    assert {*written, *written["request"], *written["expect"], "b64", "images", "bytes"} - {"request", "expect"} <= told
