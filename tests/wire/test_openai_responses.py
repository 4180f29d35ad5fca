import json
from typing import Any

import pytest

from breaker.answer import Answer, Fault, Finish
from breaker.verdict import Blame, Verdict, judge
from breaker.wire import READERS
from breaker.wire.question import Question, Tool
from breaker.wire.reading import Reading
from tests.wire.streams import DONE, named, read, sse

WIRE = "openai-responses"
QUESTION = Question(
    system="Be brief.",
    prompt="Where?",
    max_tokens=64,
    tools=(Tool(name="go", description="Goes.", schema={"type": "object"}),),
)
CREATED = {"type": "response.created", "response": {"object": "response", "status": "in_progress", "error": None}}
IN_PROGRESS = {"type": "response.in_progress", "response": {"object": "response", "status": "in_progress"}}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "At nine."}]}
THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "go", "arguments": '{"a": 1}'}


def event(kind: str, at: int = 0, **more: object) -> dict[str, object]:
    """One event about the thing at a place of the output."""
    return {"type": f"response.{kind}", "output_index": at, **more}


def text(*pieces: str) -> list[dict[str, object]]:
    """Pieces of text."""
    return [event("output_text.delta", delta=piece) for piece in pieces]


def response(status: str = "completed", **more: object) -> dict[str, object]:
    """The answer as a whole."""
    usage = {"input_tokens": 700, "input_tokens_details": {"cached_tokens": 600}, "output_tokens": 5}
    whole: dict[str, object] = {
        "object": "response",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": [],
    }
    return {**whole, "usage": usage, **more}


def done(status: str = "completed", **more: object) -> dict[str, object]:
    """The last event."""
    return {"type": f"response.{status}", "response": response(status, **more)}


def stream(*events: dict[str, Any]) -> Answer:
    """What a stream of these is."""
    return read(WIRE, named(CREATED, IN_PROGRESS, *events))


def test_a_healthy_stream_gives_its_facts() -> None:
    item = event("output_item.added", item={"type": "message", "content": []})

    answer = stream(item, *text("At", " nine."), event("output_item.done", item=MESSAGE), done(output=[MESSAGE]))

    assert (answer.text_chars, answer.deltas, answer.end_mark, answer.finish) == (8, 2, True, Finish.STOP)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.first_byte_s) == (700, 5, 0.2)
    assert (judge(answer).verdict, answer.broken, answer.restarts) == (Verdict.OK, 0, 0)


def test_a_plain_answer_gives_the_same() -> None:
    body = json.dumps(response(output=[THOUGHT, MESSAGE, CALL])).encode()

    answer = read(WIRE, body, streamed=False)

    assert (answer.text_chars, answer.reasoning_chars, answer.tool_calls, answer.bad_tool_calls) == (8, 3, 1, 0)
    assert (answer.first_byte_s, answer.end_mark, judge(answer).verdict) == (None, True, Verdict.TOOL_CALL)


@pytest.mark.parametrize(
    ("part", "first_byte"),
    [
        pytest.param(IN_PROGRESS, False, id="a beginning is no part"),
        pytest.param(event("output_item.added", item={"type": "message"}), False, id="nor is an empty message"),
        pytest.param(event("output_item.added", item={"type": "reasoning"}), False, id="nor an empty thought"),
        pytest.param(event("content_part.added", part={"text": ""}), False, id="nor an empty part"),
        pytest.param(event("output_text.delta", delta=""), False, id="nor an empty delta"),
        pytest.param(event("output_text.delta"), False, id="nor a delta without one"),
        pytest.param({"type": "codex.rate_limits", "rate_limits": {"limit_reached": True}}, False, id="nor a notice"),
        pytest.param({"type": 7}, False, id="nor something else"),
        pytest.param(done(), False, id="nor the end"),
        pytest.param(event("output_text.delta", delta="a"), True, id="text is"),
        pytest.param(event("refusal.delta", delta="a"), True, id="a refusal is"),
        pytest.param(event("reasoning_summary_text.delta", delta="a"), True, id="a summary of thoughts is"),
        pytest.param(event("reasoning_text.delta", delta="a"), True, id="a thought is"),
        pytest.param(event("function_call_arguments.delta", delta="{"), True, id="arguments are"),
        pytest.param(event("custom_tool_call_input.delta", delta="a"), True, id="free input is"),
        pytest.param(event("output_item.added", item={"type": "function_call", "name": "go"}), True, id="a name is"),
        pytest.param(event("output_item.done", item=MESSAGE), True, id="a message that comes whole is"),
        pytest.param(event("output_item.done", item=THOUGHT), True, id="a thought that comes whole is"),
        pytest.param(event("output_item.done", item={"type": "image_generation_call", "result": "x"}), True, id="so"),
    ],
)
def test_first_bytes_are_parts_of_the_models_answer(part: dict[str, object], first_byte: bool) -> None:
    assert read(WIRE, sse(part)).first_byte_s == (0.2 if first_byte else None)


@pytest.mark.parametrize(
    ("events", "calls", "bad"),
    [
        pytest.param([event("output_item.done", 1, item=CALL)], 1, 0, id="whole"),
        pytest.param(
            [
                event("output_item.added", 1, item={**CALL, "arguments": ""}),
                event("function_call_arguments.delta", 1, delta='{"a"'),
                event("function_call_arguments.delta", 1, delta=": 1}"),
                event("output_item.done", 1, item=CALL),
            ],
            1,
            0,
            id="in pieces",
        ),
        pytest.param(
            [event("output_item.added", 1, item=CALL), event("function_call_arguments.delta", 1, delta='{"a')],
            1,
            1,
            id="in half",
        ),
        pytest.param([event("output_item.done", 1, item={**CALL, "arguments": "{"})], 1, 1, id="broken"),
        pytest.param([event("output_item.done", item={"type": "custom_tool_call", "name": "x"})], 1, 0, id="custom"),
        pytest.param([event("output_item.done", item={"type": "web_search_call"})], 0, 0, id="the provider's own"),
    ],
)
def test_calls_are_joined_and_checked(events: list[dict[str, object]], calls: int, bad: int) -> None:
    answer = stream(*events, done(output=[THOUGHT, CALL] if calls else []))

    assert (answer.tool_calls, answer.bad_tool_calls) == (calls, bad)


def test_the_last_event_may_hold_all_there_is() -> None:
    answer = stream(done(output=[THOUGHT, MESSAGE, CALL]))

    assert (answer.text_chars, answer.reasoning_chars, answer.tool_calls) == (8, 3, 1)


@pytest.mark.parametrize(
    ("end", "finish", "word"),
    [
        pytest.param(done(), Finish.STOP, "completed", id="completed"),
        pytest.param(
            done("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            Finish.LENGTH,
            "max_output_tokens",
            id="its limit",
        ),
        pytest.param(
            done("incomplete", incomplete_details={"reason": "content_filter"}),
            Finish.FILTERED,
            "content_filter",
            id="filtered",
        ),
        pytest.param(done("incomplete"), Finish.LENGTH, "incomplete", id="incomplete for no reason"),
        pytest.param(done("failed"), Finish.ERROR, "failed", id="failed"),
    ],
)
def test_ends_have_one_form(end: dict[str, object], finish: Finish, word: str) -> None:
    reading = Reading(WIRE, streamed=True)
    reading.headers(200, {}, 0.1)
    reading.feed(named(*text("Yes"), end), 0.2)

    assert reading.finish_word == word
    assert stream(*text("Yes"), end).finish is finish


LIMIT = {"code": "rate_limit_exceeded", "message": "Rate limit is exceeded. Try again in 17 seconds."}


@pytest.mark.parametrize(
    ("events", "verdict", "blame", "cause"),
    [
        pytest.param([done()], Verdict.EMPTY, Blame.PROVIDER_FAILURE, None, id="the end alone"),
        pytest.param([], Verdict.EMPTY, Blame.PROVIDER_FAILURE, None, id="the beginning alone"),
        pytest.param([*text("Yes")], Verdict.CUT, Blame.PROVIDER_FAILURE, None, id="no end"),
        pytest.param(
            [*text("Yes"), {"type": "error", **LIMIT}],
            Verdict.ERROR_EVENT,
            Blame.PROVIDER_FAILURE,
            Verdict.RATE_LIMITED,
            id="a flat error",
        ),
        pytest.param(
            [{"type": "error", "error": LIMIT}],
            Verdict.ERROR_EVENT,
            Blame.PROVIDER_FAILURE,
            Verdict.RATE_LIMITED,
            id="a nested error",
        ),
        pytest.param(
            [{"type": "response.error", "error": LIMIT}],
            Verdict.ERROR_EVENT,
            Blame.PROVIDER_FAILURE,
            Verdict.RATE_LIMITED,
            id="a relay's error",
        ),
        pytest.param(
            [done("failed", error={"code": "context_length_exceeded", "message": ""})],
            Verdict.ERROR_EVENT,
            Blame.CALLER_FAULT,
            Verdict.CONTEXT_TOO_LONG,
            id="failed with a code",
        ),
        pytest.param([done("failed")], Verdict.ERROR_EVENT, Blame.PROVIDER_FAILURE, None, id="failed without one"),
        pytest.param(
            [*text("Yes"), done(), CREATED, *text("Yes"), done()],
            Verdict.MALFORMED,
            Blame.INCONCLUSIVE,
            None,
            id="twice in one stream",
        ),
        pytest.param(
            [{"type": "codex.rate_limits", "rate_limits": {"limit_reached": True}}, *text("Yes"), done()],
            Verdict.OK,
            Blame.OK,
            None,
            id="a notice of limits before a good answer",
        ),
    ],
)
def test_exchanges_are_judged(
    events: list[dict[str, object]], verdict: Verdict, blame: Blame, cause: Verdict | None
) -> None:
    judgement = judge(stream(*events))

    assert (judgement.verdict, judgement.blame, judgement.cause) == (verdict, blame, cause)


def test_another_wires_end_is_none_and_does_no_harm() -> None:
    assert judge(read(WIRE, named(*text("Yes"), done()) + sse(DONE))).verdict is Verdict.OK
    assert judge(read(WIRE, named(*text("Yes")) + sse(DONE))).verdict is Verdict.CUT


def test_glued_events_cant_be_read_by_any_caller() -> None:
    glued = "".join(json.dumps(piece) for piece in text("The lake", " lies"))

    answer = read(WIRE, named(CREATED) + sse(glued))

    assert (answer.first_byte_s, answer.broken, judge(answer).verdict) == (None, 1, Verdict.MALFORMED)


def test_an_error_is_found_even_there() -> None:
    glued = json.dumps({"type": "error", "error": LIMIT}) + "{}"

    assert read(WIRE, sse(glued)).fault is Fault.RATE_LIMITED


def test_questions_are_asked() -> None:
    wire = READERS[WIRE]

    asked = wire.request("gpt-x", QUESTION, streamed=True)
    plain = wire.request("gpt-x", Question(system="", prompt="Where?", max_tokens=64), streamed=False)

    assert (asked.path, asked.headers["accept"]) == ("/responses", "text/event-stream")
    assert asked.body == {
        "model": "gpt-x",
        "input": [{"role": "user", "content": "Where?"}],
        "instructions": "Be brief.",
        "max_output_tokens": 64,
        "store": False,
        "stream": True,
        "tools": [
            {
                "type": "function",
                "name": "go",
                "description": "Goes.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
    }
    assert (plain.headers["accept"], plain.body["stream"]) == ("application/json", False)
    assert not {"tools", "instructions"} & plain.body.keys()
    assert wire.key_headers("k") == {"authorization": "Bearer k"}
