import json

import pytest

from breaker.answer import Finish
from breaker.verdict import Blame, Verdict, judge
from tests.wire.streams import MESSAGE_START, MESSAGE_STOP, MESSAGES, block, delta, named, read, sse, stop

PING = {"type": "ping"}
TEXT = [block("text", text=""), delta("text_delta", text="The lake"), delta("text_delta", text=" lies north.")]


def plain(*content: object, reason: str = "end_turn") -> bytes:
    usage = {"input_tokens": 20, "output_tokens": 5, "cache_creation_input_tokens": 4000}
    message = {"type": "message", "role": "assistant", "content": content, "stop_reason": reason, "usage": usage}
    return json.dumps(message).encode()


def test_a_healthy_stream_gives_all_its_facts() -> None:
    body = named(MESSAGE_START, PING, *TEXT, {"type": "content_block_stop", "index": 0}, stop("end_turn"), MESSAGE_STOP)

    answer = read(MESSAGES, body, prompt_bytes=20_000)

    assert answer.facts() == {
        "target": "here/model",
        "id": "a1",
        "source": "probe",
        "ended": "complete",
        "seconds": 0.3,
        "status": 200,
        "headers_s": 0.1,
        "first_byte_s": 0.2,
        "body": "sse",
        "end_mark": True,
        "early_end": False,
        "finish": "stop",
        "text_chars": 20,
        "reasoning_chars": 0,
        "tool_calls": 0,
        "bad_tool_calls": 0,
        "media": 0,
        "deltas": 2,
        "restarts": 0,
        "broken": 0,
        "prompt_bytes": 20_000,
        "prompt_tokens": 4320,
        "completion_tokens": 9,
    }
    assert judge(answer).verdict is Verdict.OK


def test_a_plain_answer_gives_the_same_without_first_byte_and_deltas() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "go", "input": {"path": "a"}}

    answer = read(
        MESSAGES,
        plain({"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes"}, call, reason="tool_use"),
        streamed=False,
    )

    assert (answer.first_byte_s, answer.deltas, answer.end_mark) == (None, None, True)
    assert (answer.text_chars, answer.reasoning_chars, answer.tool_calls, answer.bad_tool_calls) == (3, 2, 1, 0)
    assert (answer.prompt_tokens, answer.completion_tokens) == (4020, 5)
    assert judge(answer).verdict is Verdict.TOOL_CALL


@pytest.mark.parametrize(
    ("event", "first_byte"),
    [
        pytest.param(MESSAGE_START, False, id="the start is no part"),
        pytest.param(PING, False, id="nor is a ping"),
        pytest.param(block("text", text=""), False, id="nor an empty block"),
        pytest.param(block("redacted_thinking", data="ZmFrZQ=="), False, id="nor what can't be read"),
        pytest.param(delta("text_delta", text=""), False, id="nor an empty delta"),
        pytest.param(delta("signature_delta", signature="x"), False, id="nor a signature"),
        pytest.param(stop("end_turn"), False, id="nor the end"),
        pytest.param(delta("text_delta", text="a"), True, id="text is"),
        pytest.param(block("text", text="a"), True, id="text in the block's start is"),
        pytest.param(delta("thinking_delta", thinking="a"), True, id="thinking is"),
        pytest.param(block("tool_use", id="t1", name="go", input={}), True, id="a tool's name is"),
        pytest.param(delta("input_json_delta", partial_json="{"), True, id="arguments are"),
        pytest.param({"type": "content_block_delta"}, False, id="a delta without a delta"),
        pytest.param({"type": 7}, False, id="something else"),
    ],
)
def test_first_bytes_are_parts_of_the_models_answer(event: dict[str, object], first_byte: bool) -> None:
    assert read(MESSAGES, sse(event)).first_byte_s == (0.2 if first_byte else None)


@pytest.mark.parametrize(
    ("pieces", "bad"),
    [
        pytest.param(["", '{"pa', 'th": "a"}'], 0, id="joined"),
        pytest.param([""], 0, id="no arguments"),
        pytest.param(['{"path": "a'], 1, id="half of an object"),
    ],
)
def test_tool_calls_are_joined_and_checked(pieces: list[str], bad: int) -> None:
    start = block("tool_use", 1, id="t1", name="go", input={})
    body = named(
        *TEXT, start, *[delta("input_json_delta", 1, partial_json=p) for p in pieces], stop("tool_use"), MESSAGE_STOP
    )

    answer = read(MESSAGES, body)

    assert (answer.tool_calls, answer.bad_tool_calls, answer.finish) == (1, bad, Finish.TOOL_CALLS)


def test_a_servers_own_tool_is_no_call_for_the_caller() -> None:
    search = block("server_tool_use", 0, id="s1", name="web_search", input={})

    answer = read(MESSAGES, named(search, delta("input_json_delta", partial_json='{"q": '), stop("pause_turn")))

    assert (answer.tool_calls, answer.bad_tool_calls, answer.first_byte_s) == (0, 0, 0.2)
    assert judge(answer).verdict is Verdict.OK


def test_a_message_that_begins_anew_is_counted() -> None:
    whole = named(MESSAGE_START, *TEXT, stop("end_turn"), MESSAGE_STOP)

    twice = read(MESSAGES, whole + whole)

    assert (twice.restarts, judge(twice).verdict, judge(twice).blame) == (1, Verdict.MALFORMED, Blame.INCONCLUSIVE)
    assert read(MESSAGES, named(MESSAGE_START, PING) + whole).restarts == 0


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("pause_turn", Finish.PAUSED),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.WINDOW),
        ("tool_use", Finish.TOOL_CALLS),
        ("refusal", Finish.FILTERED),
        ("guardrail_intervened", Finish.FILTERED),
        ("something_new", Finish.OTHER),
    ],
)
def test_stop_reasons_have_one_form(reason: str, finish: Finish) -> None:
    answer = read(MESSAGES, named(*TEXT, stop(reason)))

    assert (answer.finish, answer.end_mark) == (finish, True)


@pytest.mark.parametrize(
    ("events", "end_mark"),
    [
        pytest.param([stop("end_turn")], True, id="a stop reason"),
        pytest.param([MESSAGE_STOP], True, id="the last event"),
        pytest.param([{"type": "message_delta", "delta": {}}], False, id="a stop without a reason"),
        pytest.param([PING], False, id="neither"),
    ],
)
def test_either_end_mark_ends_a_message(events: list[dict[str, object]], end_mark: bool) -> None:
    assert read(MESSAGES, named(MESSAGE_START, *TEXT, *events)).end_mark is end_mark


def test_empty_data_is_no_end_mark() -> None:
    assert read(MESSAGES, named(*TEXT) + b"data:\n\ndata: [DONE]\n\n").end_mark is False


@pytest.mark.parametrize(
    ("late", "prompt"),
    [
        pytest.param({}, 4320, id="none"),
        pytest.param({"input_tokens": 25}, 4325, id="what the cache held stays counted"),
        pytest.param({"input_tokens": 0, "cache_read_input_tokens": 0}, 4320, id="zeros say nothing"),
        pytest.param({"cache_read_input_tokens": 500}, 4520, id="the later count wins"),
    ],
)
def test_the_whole_prompt_is_counted(late: dict[str, int], prompt: int) -> None:
    assert read(MESSAGES, named(MESSAGE_START, *TEXT, stop("end_turn", 9, **late))).prompt_tokens == prompt


def test_the_true_count_may_come_last() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}}

    assert read(MESSAGES, named(start, *TEXT, stop("end_turn", 9, input_tokens=5200))).prompt_tokens == 5200


@pytest.mark.parametrize(
    ("body", "verdict", "blame"),
    [
        pytest.param(named(MESSAGE_STOP), Verdict.EMPTY, Blame.PROVIDER_FAILURE, id="the last event alone"),
        pytest.param(
            plain({"type": "tool_use", "id": "t1", "name": "go", "input": "ls -la"}, reason="tool_use"),
            Verdict.MALFORMED,
            Blame.PROVIDER_FAILURE,
            id="a call with words for an object",
        ),
        pytest.param(named(PING, PING), Verdict.EMPTY, Blame.PROVIDER_FAILURE, id="pings alone"),
        pytest.param(
            named(MESSAGE_START, stop("refusal")), Verdict.FILTERED, Blame.INCONCLUSIVE, id="a refusal without text"
        ),
        pytest.param(named(MESSAGE_START, *TEXT), Verdict.CUT, Blame.PROVIDER_FAILURE, id="no end"),
        pytest.param(
            sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, name="error"),
            Verdict.ERROR_EVENT,
            Blame.PROVIDER_FAILURE,
            id="an error alone",
        ),
        pytest.param(
            named(MESSAGE_START, *TEXT, stop("end_turn"), MESSAGE_STOP)
            + sse({"type": "error", "error": {"type": "api_error", "message": "Internal"}}, name="error"),
            Verdict.ERROR_EVENT,
            Blame.PROVIDER_FAILURE,
            id="an error after the end",
        ),
        pytest.param(
            b'{"choices": [{"message": {"content": "Yes"}}]}',
            Verdict.MALFORMED,
            Blame.INCONCLUSIVE,
            id="another wire's",
        ),
    ],
)
def test_exchanges_are_judged(body: bytes, verdict: Verdict, blame: Blame) -> None:
    judgement = judge(read(MESSAGES, body))

    assert (judgement.verdict, judgement.blame) == (verdict, blame)
