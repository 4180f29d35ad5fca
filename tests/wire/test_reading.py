import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from breaker.answer import Answer, Body, Ended, Fault, Part, Source
from breaker.verdict import Blame, Verdict, judge
from breaker.wire import READERS
from breaker.wire.calls import MOST_ALIKE
from breaker.wire.reading import Reading
from breaker.wire.signs import Phrase
from tests.wire.streams import (
    CHAT,
    DONE,
    MESSAGE_START,
    MESSAGE_STOP,
    MESSAGES,
    STOP,
    block,
    chunk,
    delta,
    named,
    read,
    sse,
    stop,
    text,
    usage,
)

CALL = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "go", "arguments": '{"where": "東京"}'}}]}
BODIES = {
    "a chat": (
        CHAT,
        sse(chunk({"role": "assistant"}), *text("Dōmo ", "arigatō 🙏 A-17"), chunk(CALL), STOP, usage(9, 9), DONE),
    ),
    "a chat in other lines": (CHAT, b"\xef\xbb\xbf: hi\r\n\r\n" + sse(*text("Ye", "s"), STOP).replace(b"\n", b"\r\n")),
    "a plain chat": (
        CHAT,
        b"\n\n" + json.dumps({"choices": [{"message": {"content": "Yes 🙏"}}]}, ensure_ascii=False).encode(),
    ),
    "a message": (
        MESSAGES,
        named(
            MESSAGE_START, block("text", text=""), delta("text_delta", text="東 A-17"), stop("end_turn"), MESSAGE_STOP
        ),
    ),
    "an error behind the end": (CHAT, sse(*text("Yes"), STOP, DONE) + b'{"error":\n {"code": 429}}\n'),
    "an error in a field of its own": (CHAT, b'error: {"error": {"message": "crashed"}}\n\ndata: [DONE]\n\n'),
    "an event that breaks off": (CHAT, sse(*text("Yes")) + b'data: {"choices": [{"delta": {"con'),
    "a web page": (CHAT, b"\n<!doctype html><title>New API</title>"),
    "words": (CHAT, b"upstream connect error or disconnect"),
    "a short word": (CHAT, b"no"),
    "blanks": (CHAT, b"\n \r\n"),
}


@pytest.mark.parametrize("name", BODIES)
@given(data=st.data())
def test_facts_are_the_same_however_the_bytes_are_cut(name: str, data: st.DataObject) -> None:
    wire, body = BODIES[name]
    cuts = data.draw(st.lists(st.integers(0, len(body))))

    assert read(wire, body, cuts=cuts, marks=("A-17",)) == read(wire, body, marks=("A-17",))


@pytest.mark.parametrize("name", BODIES)
def test_facts_are_the_same_byte_by_byte(name: str) -> None:
    wire, body = BODIES[name]

    assert read(wire, body, cuts=range(len(body)), marks=("A-17",)) == read(wire, body, marks=("A-17",))


@pytest.mark.parametrize("wire", READERS)
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
@given(body=st.binary(), status=st.sampled_from([200, 400, 500]))
@example(body=b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\n', status=200)
@example(body=b"data: " + b'{"a":' * 5000 + b"\n\n", status=200)
@example(body=b'{"error":' * 900 + b"1" + b"}" * 900, status=500)
@example(body=b'{"n": ' + b"9" * 5000 + b"}", status=200)
def test_no_bytes_raise(wire: str, streamed: bool, body: bytes, status: int) -> None:
    judge(read(wire, body, streamed=streamed, status=status, marks=("a",)))


_WORDS = [
    "choices",
    "delta",
    "message",
    "content",
    "type",
    "text",
    "tool_calls",
    "function",
    "index",
    "usage",
    "stop_reason",
    "finish_reason",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "content_block",
    "tool_use",
    "input",
    "name",
    "arguments",
    "partial_json",
    "prompt_tokens",
    "input_tokens",
    "reasoning",
]
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=5),
)


@pytest.mark.parametrize("wire", READERS)
@given(st.lists(_json, max_size=4))
def test_no_shape_raises(wire: str, events: list[object]) -> None:
    judge(read(wire, sse(*map(json.dumps, events))))
    judge(read(wire, json.dumps(events).encode(), streamed=False))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"data: 1\n\n", Body.SSE, id="data"),
        pytest.param(b"event: x\ndata: 1\n\n", Body.SSE, id="an event's name"),
        pytest.param(b": ping\n\n", Body.SSE, id="a comment"),
        pytest.param(b":\n\n", Body.SSE, id="an empty comment"),
        pytest.param(b"id: 1\n", Body.SSE, id="an id"),
        pytest.param(b"retry: 1\n", Body.SSE, id="retry"),
        pytest.param(b"\xef\xbb\xbfdata: 1\n\n", Body.SSE, id="a byte order mark"),
        pytest.param(b'error: {"message": "x"}\n\n', Body.SSE, id="an error's field"),
        pytest.param(b"error: it went wrong", Body.OTHER, id="an error's words"),
        pytest.param(b" {}", Body.JSON, id="an object"),
        pytest.param(b"[]", Body.JSON, id="a list"),
        pytest.param(b"\n<html>", Body.HTML, id="a web page"),
        pytest.param(b"no healthy upstream", Body.OTHER, id="words"),
        pytest.param(b"", Body.EMPTY, id="nothing"),
        pytest.param(b"\r\n \t", Body.EMPTY, id="blanks"),
    ],
)
def test_bodies_are_told_by_their_bytes(body: bytes, kind: Body) -> None:
    answer = read(CHAT, body, headers={"content-type": "application/pdf"})

    assert answer.body is kind


def test_times_are_those_of_the_models_own_words() -> None:
    reading = Reading(CHAT, streamed=True)
    moments = [
        (sse(chunk({"role": "assistant"})), 1.0),
        (b": ping\n\n", 2.0),
        (sse(*text("a"))[:-1], 3.0),
        (b"\n", 4.0),
        (sse(*text("b")), 5.0),
        (b"", 6.0),
        (sse(STOP, usage(9, 9), DONE), 7.0),
    ]
    seen = []
    for data, at_s in moments:
        reading.feed(data, at_s)
        seen.append((reading.first_byte_s, reading.last_token_s, reading.finished))

    assert seen == [
        (None, None, False),
        (None, None, False),
        (None, None, False),
        (4.0, 4.0, False),
        (4.0, 5.0, False),
        (4.0, 5.0, False),
        (4.0, 5.0, True),
    ]


def test_an_end_mark_that_came_too_early_is_taken_back() -> None:
    reading = Reading(CHAT, streamed=True)
    seen = []
    for event in [chunk({"reasoning": "Hm"}, finish_reason="stop"), *text("Yes"), STOP]:
        reading.feed(sse(event), 1.0)
        seen.append(reading.finished)

    assert seen == [True, False, True]


def test_an_error_ends_an_answer_until_more_of_it_comes() -> None:
    reading = Reading(CHAT, streamed=True)
    reading.headers(200, {}, 0.1)
    finished = []
    for body in (sse(*text("Hel")), b'data: {"error": {"message": "no"}}\n\n', b": ping\n\n", sse(*text("lo"))):
        reading.feed(body, 0.2)
        finished.append(reading.finished)

    assert finished == [False, True, True, False]


def test_headers_are_no_first_byte() -> None:
    reading = Reading(CHAT, streamed=True)
    reading.headers(200, [("Retry-After", "3")], 0.5)

    assert reading.first_byte_s is None


def test_a_late_part_knows_what_was_sent_and_the_headers() -> None:
    reading = Reading(MESSAGES, streamed=True, prompt_bytes=9, marks=("a", "b"), max_tokens=5)
    reading.headers(200, {}, 0.5)

    late = reading.late(40.0, target="here/model", id="a1", source=Source.PROBE, confirms="a0")

    assert late == Answer(
        target="here/model",
        id="a1",
        source=Source.PROBE,
        confirms="a0",
        part=Part.LATE,
        ended=Ended.PENDING,
        seconds=40.0,
        status=200,
        headers_s=0.5,
        prompt_bytes=9,
        marks_sent=2,
        max_tokens=5,
    )


def test_the_asker_says_why_it_asked_and_whether_it_stalled() -> None:
    answer = Reading(CHAT, streamed=True).end(
        Ended.UNREACHABLE, 1.0, target="here/model", id="a1", source=Source.PROBE, suspect_timing=True, confirms="a0"
    )

    assert (answer.suspect_timing, answer.confirms, answer.body, answer.text_chars) == (True, "a0", None, None)
    assert judge(answer).verdict is Verdict.CONNECT_ERROR


def test_a_body_without_headers_is_no_answer() -> None:
    answer = read(CHAT, b"no", status=None)

    assert (answer.body, answer.text_chars) == (None, None)


@pytest.mark.parametrize(
    ("pieces", "returned"),
    [
        pytest.param(["A-17 and B-18"], 2, id="in one piece"),
        pytest.param(["A-", "1", "7 B", "-18"], 2, id="cut across pieces"),
        pytest.param(["A-17 A-17"], 1, id="the same twice"),
        pytest.param(["a-17 b-18"], 2, id="in small letters"),
        pytest.param(["**A\u201117**, `B\u201318`."], 2, id="with other hyphens and among signs"),
        pytest.param(['{"codes": ["A-17", "B-18"]}'], 2, id="in JSON"),
        pytest.param(["A\u2011", "17"], 1, id="another hyphen before the cut"),
        pytest.param(["A-1 7"], 0, id="none"),
    ],
)
def test_marks_are_found(pieces: list[str], returned: int) -> None:
    answer = read(CHAT, sse(*text(*pieces), STOP), marks=("A-17", "B-18"))

    assert (answer.marks_sent, answer.marks_returned) == (2, returned)


def test_marks_in_thoughts_dont_count() -> None:
    answer = read(CHAT, sse(chunk({"reasoning": "A-17"}), *text("Yes"), STOP), marks=("A-17",))

    assert (answer.marks_returned, judge(answer).verdict) == (0, Verdict.UNPROCESSED)


def test_blanks_around_the_text_dont_count_and_blanks_within_do() -> None:
    assert read(CHAT, sse(*text("\n", " a ", " ", "b ", "\n"))).text_chars == 4


NOTICE = "[OmniRoute] Upstream returned an empty response. Please retry."


@pytest.mark.parametrize(
    ("chunks", "verdict", "blame"),
    [
        pytest.param([*text(NOTICE), STOP], Verdict.GATEWAY_TEXT, Blame.PROVIDER_FAILURE, id="uncounted"),
        pytest.param(
            [*text(NOTICE), STOP, usage(900, 12)], Verdict.GATEWAY_TEXT, Blame.PROVIDER_FAILURE, id="in one piece"
        ),
        pytest.param(
            [*text(*NOTICE), STOP, usage(900, 12)], Verdict.GATEWAY_TEXT, Blame.INCONCLUSIVE, id="or a quotation"
        ),
        pytest.param(
            [*text("I will", " look.", "\n\nError: internal error"), STOP],
            Verdict.GATEWAY_TEXT,
            Blame.PROVIDER_FAILURE,
            id="as the last paragraph",
        ),
        pytest.param([*text(NOTICE, " is what it says when " + "x" * 300), STOP], Verdict.OK, Blame.OK, id="explained"),
        pytest.param([*text("It says: ", NOTICE), STOP], Verdict.OK, Blame.OK, id="not at the start"),
        pytest.param(
            [*text("It says:\n\n", NOTICE, "\n\nThat is all."), STOP], Verdict.OK, Blame.OK, id="in the middle"
        ),
    ],
)
def test_a_gateways_words_are_told_from_quotations(chunks: list[object], verdict: Verdict, blame: Blame) -> None:
    judgement = judge(read(CHAT, sse(*chunks)))

    assert (judgement.verdict, judgement.blame) == (verdict, blame)


def test_thoughts_in_the_text_are_not_to_be_seen() -> None:
    answer = read(CHAT, sse(*text("<thi", "nk>Hm.</think>", "At nine."), STOP))

    assert (answer.text_chars, answer.reasoning_chars, answer.deltas) == (8, 3, 1)
    assert judge(read(CHAT, sse(*text("<think>", "Hm."), STOP))).verdict is Verdict.EMPTY


def test_blanks_without_an_end_in_a_call_are_a_loop() -> None:
    call = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "go", "arguments": '{"a": 1'}}]}
    blanks = {"tool_calls": [{"index": 0, "function": {"arguments": "\n" * 1_000}}]}

    assert judge(read(CHAT, sse(chunk(call), chunk(blanks), chunk({}, finish_reason="length")))).verdict is Verdict.LOOP


def test_escaped_blanks_without_an_end_in_a_call_are_a_loop() -> None:
    call = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "go", "arguments": '{"a": "1'}}]}
    blanks = {"tool_calls": [{"index": 0, "function": {"arguments": r"\n" * 500}}]}

    assert judge(read(CHAT, sse(chunk(call), chunk(blanks), chunk({}, finish_reason="length")))).verdict is Verdict.LOOP


def test_the_same_call_over_and_over_is_a_loop() -> None:
    def verdict(*arguments: str) -> Verdict:
        calls = [
            {"tool_calls": [{"index": n, "id": f"c{n}", "function": {"name": "go", "arguments": sent}}]}
            for n, sent in enumerate(arguments)
        ]
        return judge(read(CHAT, sse(*map(chunk, calls), chunk({}, finish_reason="length")), max_tokens=1)).verdict

    assert verdict(*['{"a": 1}'] * MOST_ALIKE) is Verdict.LOOP
    assert verdict(*['{"a": 1}'] * (MOST_ALIKE - 1)) is Verdict.LENGTH
    assert verdict(*[f'{{"a": {n}}}' for n in range(MOST_ALIKE)]) is Verdict.LENGTH
    assert verdict(*[""] * MOST_ALIKE) is Verdict.LENGTH


def test_a_long_text_is_measured_by_its_end() -> None:
    prose = [f"{n * 7919 % 99_991} " for n in range(9_000)]

    assert (read(CHAT, sse(*text(*prose, *["no way "] * 9_000))).squeeze or 1) < 0.05
    assert (read(CHAT, sse(*text(*["no way "] * 9_000, *prose))).squeeze or 0) > 0.3


def test_a_finish_may_say_what_is_wrong() -> None:
    assert judge(read(CHAT, sse(chunk({}, finish_reason="insufficient_system_resource")))).cause is Verdict.OVERLOADED


def test_counts_may_come_as_decimals() -> None:
    body = sse(*text("Yes"), {"choices": [], "usage": {"prompt_tokens": 700.0, "completion_tokens": 2.5}}, STOP)

    assert (read(CHAT, body).prompt_tokens, read(CHAT, body).completion_tokens) == (700, None)
    not_counted = body.replace(b"700.0", b"NaN")
    assert (read(CHAT, not_counted).prompt_tokens, judge(read(CHAT, not_counted)).verdict) == (None, Verdict.OK)


def test_a_users_own_phrase_is_found() -> None:
    reading = Reading(CHAT, streamed=True, phrases=[Phrase(id="ours", text="Busy now", tail=2)], tools=True)
    reading.headers(200, {}, 0.1)
    reading.feed(sse(*text("Busy now."), STOP), 0.2)

    answer = reading.end(Ended.COMPLETE, 0.3, target="a", id="b", source=Source.PROBE)

    assert (answer.phrase, answer.phrase_before, answer.tools) == ("ours", 0, True)


def test_a_gateways_plain_words_count_too() -> None:
    body = json.dumps({"choices": [{"message": {"content": NOTICE}, "finish_reason": "stop"}]}).encode()

    assert read(CHAT, body, streamed=False).phrase == "omniroute-empty"


def test_repetition_squeezes_and_prose_does_not() -> None:
    words = [f"{random.Random(7 + n).choice('abcdefgh')}{n * 7919 % 997} " for n in range(600)]

    assert (read(CHAT, sse(*text(*["no way "] * 600))).squeeze or 1) < 0.05
    assert (read(CHAT, sse(chunk({"reasoning": "no way " * 600}))).squeeze or 1) < 0.05
    assert (read(CHAT, sse(*text(*words))).squeeze or 0) > 0.3
    assert read(CHAT, sse(*text("x" * 999))).squeeze is None
    assert read(CHAT, sse(*text("x" * 1000))).squeeze is not None


@pytest.mark.parametrize(
    ("body", "ended", "verdict"),
    [
        pytest.param(b"", Ended.COMPLETE, Verdict.EMPTY, id="nothing"),
        pytest.param(b": ping\n\n", Ended.COMPLETE, Verdict.EMPTY, id="comments alone"),
        pytest.param(sse(STOP, DONE), Ended.COMPLETE, Verdict.EMPTY, id="the end alone"),
        pytest.param(sse(chunk({"reasoning": "Hm"}), STOP), Ended.COMPLETE, Verdict.EMPTY, id="thoughts alone"),
        pytest.param(sse(*text(" ", "\n"), STOP), Ended.COMPLETE, Verdict.EMPTY, id="blanks alone"),
        pytest.param(sse(*text("\u200b", "\ufeff"), STOP), Ended.COMPLETE, Verdict.EMPTY, id="what takes no room"),
        pytest.param(b"", Ended.RESET, Verdict.CUT, id="nothing but a broken connection"),
        pytest.param(sse(*text("Yes")), Ended.COMPLETE, Verdict.CUT, id="no end mark"),
        pytest.param(
            sse({"choices": [{"message": {"content": "Yes"}}]}), Ended.COMPLETE, Verdict.CUT, id="no end of wholes"
        ),
        pytest.param(sse(*text("Yes")), Ended.RESET, Verdict.CUT, id="a broken connection"),
        pytest.param(sse(*text("Yes"), STOP), Ended.RESET, Verdict.OK, id="broken after the end"),
        pytest.param(sse(*text("Yes"), STOP), Ended.SILENCE, Verdict.OK, id="silent after the end"),
        pytest.param(sse(*text("Yes")), Ended.SILENCE, Verdict.TIMEOUT_SILENCE, id="silent halfway"),
        pytest.param(b": ping\n\n", Ended.SILENCE, Verdict.TIMEOUT_FIRST_BYTE, id="silent but for comments"),
        pytest.param(b"", Ended.SILENCE, Verdict.TIMEOUT_FIRST_BYTE, id="silent from the start"),
        pytest.param(b"<html>", Ended.COMPLETE, Verdict.MALFORMED, id="a web page"),
        pytest.param(b"hello there", Ended.COMPLETE, Verdict.MALFORMED, id="words"),
        pytest.param(sse("{", "}"), Ended.COMPLETE, Verdict.MALFORMED, id="rubble"),
        pytest.param(sse("rubble", *text("Yes"), STOP), Ended.COMPLETE, Verdict.OK, id="rubble before an answer"),
        pytest.param(sse(chunk(CALL), STOP), Ended.COMPLETE, Verdict.TOOL_CALL, id="a call with a plain stop"),
        pytest.param(
            sse(*text("Yes"), STOP, DONE) + b'{"error": {}, "x": 1}', Ended.COMPLETE, Verdict.OK, id="an empty error"
        ),
        pytest.param(
            sse(*text("Yes"), STOP, DONE, {"error": {"code": 500}}),
            Ended.COMPLETE,
            Verdict.ERROR_EVENT,
            id="an error behind the end",
        ),
        pytest.param(
            sse(*text("Yes"), STOP) + b'{"error":\n{"code": 500}\n}',
            Ended.COMPLETE,
            Verdict.ERROR_EVENT,
            id="an error without a frame",
        ),
        pytest.param(
            b'error: {"error": {"code": 500}}\n\ndata: [DONE]\n\n',
            Ended.COMPLETE,
            Verdict.ERROR_EVENT,
            id="an error in a field of its own",
        ),
        pytest.param(sse("out of memory", name="error"), Ended.COMPLETE, Verdict.ERROR_EVENT, id="an error in words"),
        pytest.param(b'[{"error": {"code": 500}}]', Ended.COMPLETE, Verdict.ERROR_EVENT, id="an error in a list"),
        pytest.param(sse(*text("no way " * 300)), Ended.SILENCE, Verdict.LOOP, id="a loop until the end"),
    ],
)
def test_exchanges_are_judged(body: bytes, ended: Ended, verdict: Verdict) -> None:
    assert judge(read(CHAT, body, ended=ended)).verdict is verdict


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        pytest.param(429, b'{"error": {"code": "insufficient_quota"}}', Verdict.QUOTA, id="the body's word"),
        pytest.param(429, b'{"error": {"message": "x"}}', Verdict.RATE_LIMITED, id="the status's word"),
        pytest.param(
            400, b"the prompt is longer than the model's context length", Verdict.CONTEXT_TOO_LONG, id="plain words"
        ),
        pytest.param(503, b"upstream connect error", Verdict.OVERLOADED, id="Envoy's"),
        pytest.param(502, b"<html>Bad gateway</html>", Verdict.HTTP_ERROR, id="a web page"),
        pytest.param(403, b"<html>Just a moment...</html>", Verdict.HTTP_ERROR, id="a challenge"),
        pytest.param(500, sse({"error": {"code": "invalid_api_key"}}), Verdict.AUTH, id="as a stream"),
        pytest.param(404, b"", Verdict.NOT_FOUND, id="nothing"),
    ],
)
def test_error_statuses_are_judged(status: int, body: bytes, verdict: Verdict) -> None:
    answer = read(CHAT, body, status=status)

    assert judge(answer).verdict is verdict
    assert (answer.text_chars, answer.end_mark) == (None, None)


def test_the_first_error_that_says_something_counts() -> None:
    events = [{"error": {"message": m}} for m in ("oops", "rate limit", "insufficient balance")]

    assert read(CHAT, sse(*events)).fault is Fault.RATE_LIMITED


def test_the_wait_asked_for_is_a_fact() -> None:
    assert read(CHAT, b"", status=429, headers=[("Retry-After", "17")]).retry_after_s == 17.0


def test_words_in_no_format_are_kept_to_a_bound() -> None:
    reading = Reading(CHAT, streamed=True)
    reading.headers(500, {}, 0.1)
    for _ in range(100):
        reading.feed(b"no healthy upstream ", 0.2)
        reading.feed(b"x" * 1000, 0.2)

    assert len(reading._words) == 4_000
    assert reading.end(Ended.COMPLETE, 0.3, target="here/model", id="a1", source=Source.PROBE).fault is Fault.OVERLOADED


def test_an_oversized_event_is_counted_as_broken() -> None:
    body = sse(*text("x" * 5_000_000), *text("Yes"), STOP)

    answer = read(CHAT, body, cuts=range(0, len(body), 65_536))

    assert (answer.text_chars, answer.broken) == (3, 1)
