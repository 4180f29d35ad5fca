import json
from typing import Any

import pytest

from breaker.answer import Answer, Body, Fault, Finish
from breaker.verdict import Blame, Verdict, judge
from breaker.wire import READERS
from breaker.wire.question import Question, Tool
from breaker.wire.reading import Reading
from tests.wire.streams import read, sse

WIRE = "gemini"
TOOL = Tool(name="go", description="Goes.", schema={"type": "object"})


def part(*parts: dict[str, object], **candidate: object) -> dict[str, object]:
    """One chunk."""
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, "index": 0, **candidate}]}


def text(*pieces: str) -> list[dict[str, object]]:
    """Chunks of text."""
    return [part({"text": piece}) for piece in pieces]


def end(reason: str = "STOP", **usage: int) -> dict[str, object]:
    """The last chunk, as it comes without any content."""
    counts = {"promptTokenCount": 700, "candidatesTokenCount": 5, "totalTokenCount": 705, **usage}
    return {"candidates": [{"finishReason": reason, "index": 0}], "usageMetadata": counts}


def stream(*chunks: dict[str, Any]) -> Answer:
    """What a stream of these is, in Google's own line ends."""
    return read(WIRE, sse(*chunks).replace(b"\n", b"\r\n"))


def listed(*chunks: dict[str, Any], streamed: bool = True) -> Answer:
    """What a list of these is, as it comes without `alt=sse`."""
    return read(WIRE, json.dumps(chunks, indent=1).encode(), streamed=streamed)


def test_a_healthy_stream_gives_its_facts() -> None:
    answer = stream(*text("At", " nine."), end(cachedContentTokenCount=600, thoughtsTokenCount=40))

    assert (answer.text_chars, answer.deltas, answer.end_mark, answer.finish) == (8, 2, True, Finish.STOP)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.first_byte_s) == (700, 45, 0.2)
    assert (judge(answer).verdict, answer.broken) == (Verdict.OK, 0)


def test_a_list_is_a_stream_too() -> None:
    reading = Reading(WIRE, streamed=True)
    reading.headers(200, {}, 0.1)
    body = json.dumps([*text("At", " nine."), end()], indent=1).encode()
    reading.feed(body[:-300], 0.2)

    assert reading.first_byte_s == 0.2
    assert (listed(*text("At", " nine."), end()).deltas, listed(*text("a")).end_mark) == (2, False)
    assert judge(listed(*text("At", " nine."), end())).verdict is Verdict.OK
    assert judge(listed(*text("At"))).verdict is Verdict.CUT


def test_a_list_that_nobody_asked_to_stream_is_a_plain_answer() -> None:
    answer = listed(*text("At nine."), end(), streamed=False)

    assert (answer.streamed, answer.first_byte_s, answer.deltas) == (False, None, None)
    assert judge(answer).verdict is Verdict.OK


def test_a_plain_answer_gives_the_same() -> None:
    whole = part({"text": "Hm.", "thought": True}, {"text": "At nine."}, finishReason="STOP")

    answer = read(WIRE, json.dumps(whole).encode(), streamed=False)

    assert (answer.body, answer.text_chars, answer.reasoning_chars) == (Body.JSON, 8, 3)
    assert (answer.first_byte_s, answer.end_mark, judge(answer).verdict) == (None, True, Verdict.OK)


@pytest.mark.parametrize(
    ("chunk", "first_byte"),
    [
        pytest.param(part(), False, id="no parts are none"),
        pytest.param(part({"text": ""}), False, id="nor is an empty text"),
        pytest.param({"candidates": [{}]}, False, id="nor an empty candidate"),
        pytest.param({"usageMetadata": {"promptTokenCount": 9}}, False, id="nor a count"),
        pytest.param({"candidates": [{"content": "a"}]}, False, id="nor content of another shape"),
        pytest.param({"anything": 1}, False, id="nor something else"),
        pytest.param(end(), False, id="nor the end"),
        pytest.param(part({"text": "a"}), True, id="text is"),
        pytest.param({"response": part({"text": "a"})}, True, id="text in a wrapped chunk is"),
        pytest.param(part({"text": "a", "thought": True}), True, id="a thought is"),
        pytest.param(part({"functionCall": {"name": "go"}}), True, id="a call is"),
        pytest.param(part({"inlineData": {"mimeType": "image/png", "data": "x"}}), True, id="an image is"),
    ],
)
def test_first_bytes_are_parts_of_the_models_answer(chunk: dict[str, object], first_byte: bool) -> None:
    assert stream(chunk).first_byte_s == (0.2 if first_byte else None)


def test_each_call_is_one_by_itself() -> None:
    calls = [part({"functionCall": {"name": "go", "args": {"a": n}}}) for n in range(3)]

    answer = stream(*calls, part({"functionCall": {}}), part({"functionCall": {"args": {"a": 1}}}), end())

    assert (answer.tool_calls, answer.bad_tool_calls) == (4, 1)


@pytest.mark.parametrize(
    ("chunks", "verdict", "blame"),
    [
        pytest.param([end()], Verdict.EMPTY, Blame.PROVIDER_FAILURE, id="the end alone"),
        pytest.param([*text("Yes")], Verdict.CUT, Blame.PROVIDER_FAILURE, id="no end"),
        pytest.param([end("NO_IMAGE")], Verdict.EMPTY, Blame.PROVIDER_FAILURE, id="no image"),
        pytest.param([end("SAFETY")], Verdict.FILTERED, Blame.INCONCLUSIVE, id="filtered"),
        pytest.param([*text("Yes"), end("SPII")], Verdict.FILTERED, Blame.INCONCLUSIVE, id="filtered halfway"),
        pytest.param([end("MALFORMED_FUNCTION_CALL")], Verdict.ERROR_EVENT, Blame.PROVIDER_FAILURE, id="a bad call"),
        pytest.param([part({"inlineData": {"data": "x"}}), end()], Verdict.OK, Blame.OK, id="an image"),
        pytest.param(
            [part({"functionCall": {"name": "go", "args": {}}}), end()], Verdict.TOOL_CALL, Blame.OK, id="call"
        ),
        pytest.param(
            [part({"text": ""}, finishReason="STOP"), *text("Yes"), end()], Verdict.OK, Blame.OK, id="an early end"
        ),
        pytest.param(
            [part({"text": ""}, finishReason="STOP"), *text("Yes")], Verdict.CUT, Blame.INCONCLUSIVE, id="that alone"
        ),
        pytest.param(
            [{"promptFeedback": {"blockReason": "SAFETY"}}], Verdict.FILTERED, Blame.CALLER_FAULT, id="a blocked prompt"
        ),
        pytest.param(
            [{**part({"text": "Yes"}, finishReason="STOP"), "promptFeedback": {"safetyRatings": []}}],
            Verdict.OK,
            Blame.OK,
            id="feedback that blocks nothing",
        ),
    ],
)
def test_exchanges_are_judged(chunks: list[dict[str, object]], verdict: Verdict, blame: Blame) -> None:
    for answer in (stream(*chunks), listed(*chunks)):
        judgement = judge(answer)

        assert (judgement.verdict, judgement.blame) == (verdict, blame)


def test_an_error_behind_the_end_without_a_frame_is_seen() -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}

    answer = read(WIRE, sse(*text("Yes"), end()) + json.dumps(error, indent=2).encode())

    assert (answer.fault, judge(answer).cause) == (Fault.OVERLOADED, Verdict.OVERLOADED)


def test_questions_are_asked() -> None:
    wire = READERS[WIRE]

    asked = wire.request(
        "gemini-x", Question(system="Be brief.", prompt="Where?", max_tokens=64, tools=(TOOL,)), streamed=True
    )
    plain = wire.request("models/tuned x", Question(system="", prompt="Where?", max_tokens=64), streamed=False)

    assert asked.path == "/models/gemini-x:streamGenerateContent?alt=sse"
    assert asked.headers["accept"] == "text/event-stream"
    assert asked.body == {
        "contents": [{"role": "user", "parts": [{"text": "Where?"}]}],
        "generationConfig": {"maxOutputTokens": 64},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "go", "description": "Goes.", "parametersJsonSchema": {"type": "object"}}
                ]
            }
        ],
    }
    assert (plain.path, plain.headers["accept"]) == ("/models/tuned%20x:generateContent", "application/json")
    assert not {"tools", "systemInstruction"} & plain.body.keys()
    assert wire.key_headers("k") == {"x-goog-api-key": "k"}
