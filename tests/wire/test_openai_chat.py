import json

import pytest

from breaker.answer import Body, Ended, Finish
from breaker.verdict import Verdict, judge
from breaker.wire import READERS
from breaker.wire.question import Question
from tests.wire.streams import CHAT, DONE, STOP, chunk, read, sse, text, usage


def call(index: int | None = 0, **function: object) -> dict[str, object]:
    place = {} if index is None else {"index": index}
    identity = {"id": function.pop("id")} if "id" in function else {}
    return chunk({"tool_calls": [{**place, **identity, "type": "function", "function": function}]})


def plain(message: object, finish: str | None = "stop", **more: object) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"id": "c1", "object": "chat.completion", "choices": [choice], **more}).encode()


def test_a_healthy_stream_gives_all_its_facts() -> None:
    body = sse(
        chunk({"role": "assistant", "content": ""}), *text("The lake", " lies north."), STOP, usage(700, 5), DONE
    )

    answer = read(CHAT, body, prompt_bytes=3000, max_tokens=64)

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
        "prompt_bytes": 3000,
        "prompt_tokens": 700,
        "completion_tokens": 5,
        "max_tokens": 64,
    }
    assert judge(answer).verdict is Verdict.OK


def test_a_plain_answer_gives_the_same_without_first_byte_and_deltas() -> None:
    counts = {"prompt_tokens": 700, "completion_tokens": 5}

    answer = read(CHAT, plain({"role": "assistant", "content": "The lake."}, usage=counts), streamed=False)

    assert (answer.body, answer.streamed, answer.first_byte_s, answer.deltas) == (Body.JSON, False, None, None)
    assert (answer.text_chars, answer.finish, answer.end_mark) == (9, Finish.STOP, True)
    assert (answer.prompt_tokens, answer.completion_tokens) == (700, 5)
    assert judge(answer).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("delta", "first_byte", "text_chars", "reasoning_chars"),
    [
        pytest.param({"role": "assistant"}, False, 0, 0, id="a role is no part"),
        pytest.param({"content": ""}, False, 0, 0, id="nor is empty text"),
        pytest.param({"content": None, "reasoning_content": ""}, False, 0, 0, id="nor null"),
        pytest.param({"content": 7}, False, 0, 0, id="nor a number"),
        pytest.param(None, False, 0, 0, id="nor is no delta at all"),
        pytest.param({"content": " "}, True, 0, 0, id="a blank is, though nothing to see"),
        pytest.param({"content": "0"}, True, 1, 0, id="a nought is an answer"),
        pytest.param({"refusal": "No."}, True, 3, 0, id="a refusal is the model's own"),
        pytest.param({"reasoning_content": "Hm"}, True, 0, 2, id="DeepSeek's reasoning"),
        pytest.param({"reasoning": "Hm"}, True, 0, 2, id="OpenRouter's reasoning"),
        pytest.param({"reasoning": "", "thinking": "Hm"}, True, 0, 2, id="reasoning by another name"),
        pytest.param(
            {"content": [{"type": "thinking", "thinking": [{"text": "Hm"}]}, {"type": "text", "text": "Yes"}, "?"]},
            True,
            3,
            2,
            id="Mistral's list of parts",
        ),
        pytest.param({"content": [{"type": "thinking", "thinking": "Hm"}]}, True, 0, 2, id="a thought as a text"),
        pytest.param({"content": [{"type": "image_url", "image_url": {}}]}, True, 0, 0, id="a picture among parts"),
        pytest.param({"images": [{"image_url": {}}]}, True, 0, 0, id="a picture beside the text"),
        pytest.param({"audio": {"data": "x"}}, True, 0, 0, id="a sound"),
        pytest.param({"tool_calls": [{"index": 0}]}, False, 0, 0, id="a call of nothing"),
        pytest.param({"tool_calls": [{"index": 0, "id": "x"}]}, False, 0, 0, id="an id alone"),
        pytest.param({"tool_calls": [{"index": 0, "function": {"name": "go"}}]}, True, 0, 0, id="a tool's name"),
        pytest.param({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}, True, 0, 0, id="arguments"),
    ],
)
def test_first_bytes_are_parts_of_the_models_answer(
    delta: object, first_byte: bool, text_chars: int, reasoning_chars: int
) -> None:
    answer = read(CHAT, sse(chunk(delta)))

    assert answer.first_byte_s == (0.2 if first_byte else None)
    assert (answer.text_chars, answer.reasoning_chars) == (text_chars, reasoning_chars)


@pytest.mark.parametrize(
    ("chunks", "calls", "bad"),
    [
        pytest.param(
            [call(id="a", name="go", arguments=""), call(arguments='{"x"'), call(arguments=": 1}")], 1, 0, id="joined"
        ),
        pytest.param([call(id="a", name="go", arguments="")], 1, 0, id="no arguments"),
        pytest.param([call(id="a", name="go", arguments=" ")], 1, 0, id="blank arguments"),
        pytest.param([call(id="a", name="go", arguments={"x": 1})], 1, 0, id="arguments already parsed"),
        pytest.param([call(id="a", name="go"), call(name="", arguments="{}")], 1, 0, id="the first name stays"),
        pytest.param(
            [call(id="a", name="go", arguments="{}"), call(id="b", name="go", arguments="{}")], 2, 0, id="all at 0"
        ),
        pytest.param(
            [call(id="a", name="go", arguments="{"), call(id="b", arguments="}")], 1, 0, id="an id for each piece"
        ),
        pytest.param(
            [call(0, id="a", name="go"), call(1, id="b", name="go"), call(0, arguments="{}")], 2, 0, id="two by index"
        ),
        pytest.param([call(None, id="a", name="go", arguments="{}")], 1, 0, id="no index"),
        pytest.param([call(id="a", name="go", arguments="{")], 1, 1, id="half of an object"),
        pytest.param([call(id="a", name="go", arguments="[]")], 1, 1, id="a list"),
        pytest.param([call(id="a", arguments="{}")], 1, 1, id="no name"),
        pytest.param([call(id="a", name="go", arguments="[" * 100_000)], 1, 1, id="too deep to parse"),
        pytest.param(
            [call(id="a", name="go", arguments="x" * 600_000), call(arguments="x" * 600_000)],
            1,
            0,
            id="too long to keep",
        ),
        pytest.param([call(i, id="a", name="go", arguments="{") for i in range(300)], 256, 256, id="too many to keep"),
        pytest.param(
            [chunk({"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "run", "input": "ls {"}}]})],
            1,
            0,
            id="a custom tool's free text",
        ),
        pytest.param([chunk({"function_call": {"name": "go", "arguments": "{}"}})], 1, 0, id="the old form"),
    ],
)
def test_tool_calls_are_joined_and_checked(chunks: list[object], calls: int, bad: int) -> None:
    answer = read(CHAT, sse(*chunks, chunk({}, finish_reason="tool_calls"), DONE))

    assert (answer.tool_calls, answer.bad_tool_calls) == (calls, bad)


def test_a_call_after_a_long_one_is_still_counted() -> None:
    long = call(0, id="a", name="go", arguments="x" * 1_100_000)

    answer = read(CHAT, sse(long, call(0, arguments="y"), call(1, id="b", name="go", arguments="{"), DONE))

    assert (answer.tool_calls, answer.bad_tool_calls) == (2, 0)


@pytest.mark.parametrize(
    ("choice", "finish"),
    [
        pytest.param({"finish_reason": "stop"}, Finish.STOP, id="stop"),
        pytest.param({"finish_reason": "eos"}, Finish.STOP, id="Together's stop"),
        pytest.param({"finish_reason": "length"}, Finish.LENGTH, id="length"),
        pytest.param({"finish_reason": "model_length"}, Finish.WINDOW, id="Mistral's window"),
        pytest.param({"finish_reason": "tool_calls"}, Finish.TOOL_CALLS, id="tool calls"),
        pytest.param({"finish_reason": "content_filter"}, Finish.FILTERED, id="filtered"),
        pytest.param({"finish_reason": "MALFORMED_FUNCTION_CALL"}, Finish.ERROR, id="an error in capitals"),
        pytest.param({"finish_reason": "something_new"}, Finish.OTHER, id="a word nobody knows"),
        pytest.param({"finish_reason": ""}, None, id="an empty one"),
        pytest.param({"finish_reason": 7}, None, id="a number"),
        pytest.param({"finish_reason": "stop", "native_finish_reason": "STOP"}, Finish.STOP, id="the upstream agrees"),
        pytest.param(
            {"finish_reason": "stop", "native_finish_reason": "length"}, Finish.STOP, id="the wire's word wins"
        ),
        pytest.param(
            {"finish_reason": "stop", "native_finish_reason": "network_error"}, Finish.ERROR, id="but for errors"
        ),
    ],
)
def test_finish_reasons_have_one_form(choice: dict[str, object], finish: Finish | None) -> None:
    assert read(CHAT, sse(chunk({}, **choice))).finish is finish


def test_the_last_finish_reason_counts() -> None:
    early = chunk({"reasoning": "Hm"}, finish_reason="stop")

    assert read(CHAT, sse(early, *text("Yes"), chunk({}, finish_reason="length"))).finish is Finish.LENGTH


def test_an_error_stays_an_error() -> None:
    assert read(CHAT, sse(chunk({}, finish_reason="error"), STOP)).finish is Finish.ERROR


@pytest.mark.parametrize(
    ("last", "end_mark"),
    [
        pytest.param([STOP], True, id="a finish reason"),
        pytest.param([DONE], True, id="the last word"),
        pytest.param([STOP, DONE], True, id="both"),
        pytest.param([usage(7, 7)], False, id="counts alone"),
        pytest.param(text(DONE), False, id="the last word as text"),
    ],
)
def test_either_end_mark_ends_a_chat(last: list[object], end_mark: bool) -> None:
    assert read(CHAT, sse(*text("Yes"), *last)).end_mark is end_mark


@pytest.mark.parametrize(
    ("chunks", "prompt", "completion"),
    [
        pytest.param([usage(700, 5)], 700, 5, id="a chunk of its own"),
        pytest.param(
            [{"choices": None, "usage": {"prompt_tokens": 700, "completion_tokens": 5}}], 700, 5, id="choices null"
        ),
        pytest.param([usage(700, 1), usage(700, 5), usage(0, 0)], 700, 5, id="the last that isn't zero"),
        pytest.param([usage(0, 0)], 0, 0, id="nothing but zeros"),
        pytest.param([], None, None, id="none"),
        pytest.param([{"choices": [], "usage": None}], None, None, id="null"),
        pytest.param(
            [{"choices": [], "usage": {"prompt_tokens": True, "completion_tokens": "5"}}], None, None, id="no numbers"
        ),
        pytest.param(
            [{"choices": [], "usage": {"prompt_tokens": 10**15, "completion_tokens": -1}}], None, None, id="no counts"
        ),
        pytest.param([{"choices": [], "usage": {"input_tokens": 700, "output_tokens": 5}}], 700, 5, id="other names"),
        pytest.param(
            [{"choices": [], "usage": {"prompt_tokens": 0, "input_tokens": 700, "completion_tokens": 5}}],
            700,
            5,
            id="both names",
        ),
        pytest.param(
            [{"choices": [{"usage": {"prompt_tokens": 700, "completion_tokens": 5}}]}], 700, 5, id="Moonshot's place"
        ),
        pytest.param(
            [{"choices": [], "x_groq": {"usage": {"prompt_tokens": 700, "completion_tokens": 5}}}],
            700,
            5,
            id="Groq's place",
        ),
    ],
)
def test_counts_are_found(chunks: list[object], prompt: int | None, completion: int | None) -> None:
    answer = read(CHAT, sse(*text("Yes"), *chunks))

    assert (answer.prompt_tokens, answer.completion_tokens) == (prompt, completion)


def test_a_message_beside_the_delta_is_not_read_twice() -> None:
    pieces = [chunk({"content": p}, message={"content": "so far"}) for p in ("a", "b")]

    assert read(CHAT, sse(*pieces, chunk({}, message={"content": "ab"}, finish_reason="stop"))).text_chars == 2


def test_hosts_that_only_complete_put_the_text_into_the_choice_itself() -> None:
    choices = [{"index": 0, "text": "At "}, {"index": 0, "text": "nine.", "finish_reason": "stop"}]
    answer = read(CHAT, sse(*({"choices": [choice]} for choice in choices)))

    assert (answer.text_chars, answer.deltas, judge(answer).verdict) == (8, 2, Verdict.OK)


def test_text_and_call_may_stand_in_two_choices() -> None:
    first = {"index": 0, "message": {"content": "Let me look."}, "finish_reason": "stop"}
    second = {"index": 1, "message": {"tool_calls": [{"function": {"name": "go", "arguments": "{}"}}]}}
    body = json.dumps({"choices": [first, second]}).encode()

    answer = read(CHAT, body, streamed=False)

    assert (answer.text_chars, answer.tool_calls) == (12, 1)


def test_a_stream_asked_for_plainly_is_read_all_the_same() -> None:
    answer = read(CHAT, sse(*text("Yes"), STOP, DONE), streamed=False)

    assert (answer.streamed, answer.first_byte_s, judge(answer).verdict) == (True, 0.2, Verdict.OK)


def test_a_plain_answer_to_a_stream_is_read_all_the_same() -> None:
    answer = read(CHAT, plain({"content": "Yes"}), streamed=True)

    assert (answer.streamed, answer.first_byte_s, judge(answer).verdict) == (False, None, Verdict.OK)


def test_chunks_without_frames_are_a_stream() -> None:
    body = b"".join(json.dumps(c).encode() + b"\n" for c in [*text("Ye", "s"), STOP])

    answer = read(CHAT, body)

    assert (answer.body, answer.streamed, answer.first_byte_s, answer.deltas) == (Body.JSON, True, 0.2, 2)


def test_a_whole_plain_answer_needs_no_finish_reason() -> None:
    answer = read(CHAT, plain({"content": "Yes"}, None), streamed=False, ended=Ended.RESET)

    assert (answer.end_mark, judge(answer).verdict) == (True, Verdict.OK)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        pytest.param(plain({"content": "The lake lies north"})[:90], Verdict.MALFORMED, id="cut in the middle"),
        pytest.param(
            b'{"type": "message", "content": [{"type": "text", "text": "Yes"}]}', Verdict.MALFORMED, id="another wire's"
        ),
        pytest.param(plain({"content": ""}), Verdict.EMPTY, id="empty text"),
        pytest.param(plain(None), Verdict.EMPTY, id="no message"),
        pytest.param(b'{"choices": null}', Verdict.MALFORMED, id="no choices"),
        pytest.param(b'{"choices": []}', Verdict.EMPTY, id="an empty list of choices"),
        pytest.param(b'{"choices": [{"finish_reason": "stop"}]}', Verdict.MALFORMED, id="a choice of nothing"),
        pytest.param(plain({"content": "Yes"}) + b"\ndata: [DONE]\n\n", Verdict.MALFORMED, id="more behind it"),
        pytest.param(b"[]", Verdict.EMPTY, id="an empty list"),
        pytest.param(b"[1]", Verdict.EMPTY, id="a list of numbers"),
        pytest.param(
            b"\xef\xbb\xbf\n\n" + plain({"content": "Yes"}), Verdict.OK, id="a byte order mark and blank lines first"
        ),
    ],
)
def test_plain_bodies_are_judged(body: bytes, verdict: Verdict) -> None:
    assert judge(read(CHAT, body, streamed=False)).verdict is verdict


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://openrouter.ai/api/v1", "max_tokens"),
        ("https://api.openai.com.example/v1", "max_tokens"),
        ("", "max_tokens"),
    ],
)
def test_the_limit_of_tokens_has_the_name_that_the_host_knows(base_url: str, name: str) -> None:
    question = Question(system="", prompt="What is it?", max_tokens=64)

    body = READERS["openai-chat"].request("m", question, streamed=True, base_url=base_url).body

    assert {key for key in body if key.startswith("max_")} == {name}
