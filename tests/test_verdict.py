import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.answer import STATUSES, Answer, Body, Ended, Fault, Finish, Part, Source
from breaker.verdict import Blame, Confidence, Verdict, judge

OK, FAILURE, CALLER, UNKNOWN = Blame.OK, Blame.PROVIDER_FAILURE, Blame.CALLER_FAULT, Blame.INCONCLUSIVE


def good(**more: Any) -> Answer:
    """A healthy streamed answer, but for what is told."""
    facts: dict[str, Any] = {
        "target": "zai/glm",
        "id": "a1",
        "ended": Ended.COMPLETE,
        "seconds": 3.0,
        "status": 200,
        "first_byte_s": 0.5,
        "body": Body.SSE,
        "end_mark": True,
        "finish": Finish.STOP,
        "text_chars": 200,
        "tool_calls": 0,
        "bad_tool_calls": 0,
        "deltas": 40,
        "broken": 0,
        "prompt_tokens": 2_000,
        "completion_tokens": 50,
        "prompt_bytes": 9_000,
    }
    return Answer(**facts | more)


def failed(status: int, **more: Any) -> Answer:
    """An answer with an HTTP error."""
    return Answer(target="zai/glm", id="a1", ended=Ended.COMPLETE, seconds=0.3, status=status, **more)


def unread(**more: Any) -> Answer:
    """A streamed answer whose content encoding its reader couldn't undo, but for what is told."""
    facts: dict[str, Any] = {"ended": Ended.COMPLETE, "seconds": 3.0, "status": 200, "body": Body.PACKED}
    return Answer(target="zai/glm", id="a1", **facts | more)


NOTHING: dict[str, Any] = {"text_chars": 0, "deltas": 0, "first_byte_s": None, "end_mark": False, "finish": None}
CASES = [
    pytest.param(good(), Verdict.OK, OK, id="a healthy answer"),
    pytest.param(good(tool_calls=1, text_chars=0), Verdict.TOOL_CALL, OK, id="a tool call"),
    pytest.param(good(tool_calls=1, finish=Finish.TOOL_CALLS), Verdict.TOOL_CALL, OK, id="text and a tool call"),
    pytest.param(good(text_chars=1), Verdict.OK, OK, id="one character"),
    pytest.param(good(end_mark=None, finish=None), Verdict.OK, OK, id="an end nobody looked for"),
    pytest.param(good(finish=Finish.OTHER), Verdict.OK, OK, id="an unknown finish"),
    pytest.param(good(ended=Ended.RESET), Verdict.OK, OK, id="a reset after the end mark"),
    pytest.param(good(ended=Ended.SILENCE), Verdict.OK, OK, id="silence after the end mark"),
    pytest.param(good(broken=3), Verdict.OK, OK, id="rubble beside an answer"),
    pytest.param(unread(), Verdict.MALFORMED, UNKNOWN, id="a body that nobody could unpack"),
    pytest.param(unread(ended=Ended.RESET), Verdict.CUT, FAILURE, id="such a one, broken off"),
    pytest.param(unread(ended=Ended.SILENCE), Verdict.TIMEOUT_SILENCE, FAILURE, id="such a one, fallen silent"),
    pytest.param(unread(ended=Ended.CANCELLED), Verdict.CANCELLED, UNKNOWN, id="such a one, left by its caller"),
    pytest.param(failed(502, body=Body.PACKED), Verdict.HTTP_ERROR, FAILURE, id="an error that nobody could unpack"),
    # who ended it
    pytest.param(
        Answer(target="a", id="b", ended=Ended.PENDING, part=Part.LATE, seconds=40.0),
        Verdict.PENDING,
        UNKNOWN,
        id="a late part",
    ),
    pytest.param(good(ended=Ended.CANCELLED, end_mark=False), Verdict.CANCELLED, UNKNOWN, id="the caller ended it"),
    pytest.param(good(ended=Ended.CANCELLED, **NOTHING), Verdict.CANCELLED, UNKNOWN, id="the caller ended it at once"),
    pytest.param(
        Answer(target="a", id="b", ended=Ended.CANCELLED, seconds=3.0),
        Verdict.CANCELLED,
        UNKNOWN,
        id="the caller ended it before the headers",
    ),
    pytest.param(good(ended=Ended.CANCELLED), Verdict.OK, OK, id="the caller closed it at the end mark"),
    pytest.param(
        good(ended=Ended.CANCELLED, end_mark=False, fault=Fault.OVERLOADED),
        Verdict.ERROR_EVENT,
        FAILURE,
        id="the caller closed it at an error",
    ),
    pytest.param(
        Answer(target="a", id="b", ended=Ended.CANCELLED, seconds=3.0, status=429),
        Verdict.RATE_LIMITED,
        FAILURE,
        id="the caller closed it at the status",
    ),
    pytest.param(
        Answer(target="a", id="b", ended=Ended.UNREACHABLE, seconds=0.1),
        Verdict.CONNECT_ERROR,
        FAILURE,
        id="no connection",
    ),
    pytest.param(
        Answer(target="a", id="b", ended=Ended.SILENCE, seconds=120.0),
        Verdict.TIMEOUT_FIRST_BYTE,
        FAILURE,
        id="silence from the start",
    ),
    pytest.param(good(ended=Ended.SILENCE, **NOTHING), Verdict.TIMEOUT_FIRST_BYTE, FAILURE, id="silence after headers"),
    pytest.param(good(ended=Ended.SILENCE, end_mark=False), Verdict.TIMEOUT_SILENCE, FAILURE, id="silence halfway"),
    # what the provider says of itself
    pytest.param(failed(400), Verdict.BAD_REQUEST, CALLER, id="400"),
    pytest.param(failed(401), Verdict.AUTH, FAILURE, id="401"),
    pytest.param(failed(402), Verdict.QUOTA, FAILURE, id="402"),
    pytest.param(failed(403), Verdict.AUTH, FAILURE, id="403"),
    pytest.param(failed(403, body=Body.HTML), Verdict.HTTP_ERROR, FAILURE, id="403 with a web page"),
    pytest.param(failed(404), Verdict.NOT_FOUND, FAILURE, id="404"),
    pytest.param(failed(413, body=Body.HTML), Verdict.CONTEXT_TOO_LONG, CALLER, id="413"),
    pytest.param(failed(422), Verdict.BAD_REQUEST, CALLER, id="422"),
    pytest.param(failed(429), Verdict.RATE_LIMITED, FAILURE, id="429"),
    pytest.param(failed(429, fault=Fault.QUOTA), Verdict.QUOTA, FAILURE, id="429 whose body says quota"),
    pytest.param(failed(429, fault=Fault.OTHER), Verdict.RATE_LIMITED, FAILURE, id="429 whose body says nothing"),
    pytest.param(failed(400, fault=Fault.CONTEXT_TOO_LONG), Verdict.CONTEXT_TOO_LONG, CALLER, id="400 too long"),
    pytest.param(failed(400, fault=Fault.BROKEN_CALL), Verdict.MALFORMED, FAILURE, id="400 for the model's own call"),
    pytest.param(good(fault=Fault.BROKEN_CALL), Verdict.ERROR_EVENT, FAILURE, id="the model's own call in a 200"),
    pytest.param(failed(400, fault=Fault.FILTERED), Verdict.FILTERED, CALLER, id="400 filtered"),
    pytest.param(failed(500), Verdict.HTTP_ERROR, FAILURE, id="500"),
    pytest.param(failed(500, fault=Fault.OTHER), Verdict.HTTP_ERROR, FAILURE, id="500 whose body says nothing"),
    pytest.param(failed(502, body=Body.HTML), Verdict.HTTP_ERROR, FAILURE, id="502 with a web page"),
    pytest.param(failed(503), Verdict.OVERLOADED, FAILURE, id="503"),
    pytest.param(failed(529), Verdict.OVERLOADED, FAILURE, id="529"),
    pytest.param(failed(302), Verdict.HTTP_ERROR, FAILURE, id="a redirection"),
    pytest.param(good(fault=Fault.OVERLOADED), Verdict.ERROR_EVENT, FAILURE, id="an error in a 200"),
    pytest.param(good(fault=Fault.OTHER), Verdict.ERROR_EVENT, FAILURE, id="an error that says nothing"),
    pytest.param(good(fault=Fault.CONTEXT_TOO_LONG), Verdict.ERROR_EVENT, CALLER, id="too long in a 200"),
    pytest.param(good(fault=Fault.FILTERED, **NOTHING), Verdict.FILTERED, CALLER, id="the prompt filtered in a 200"),
    pytest.param(good(fault=Fault.FILTERED), Verdict.ERROR_EVENT, UNKNOWN, id="the answer filtered in a 200"),
    pytest.param(good(finish=Finish.ERROR), Verdict.ERROR_EVENT, FAILURE, id="an error as finish"),
    # what is wrong with what came
    pytest.param(good(body=Body.HTML, **NOTHING), Verdict.MALFORMED, FAILURE, id="a web page"),
    pytest.param(good(body=Body.OTHER, **NOTHING), Verdict.MALFORMED, FAILURE, id="a foreign body"),
    pytest.param(good(body=Body.EMPTY, **NOTHING), Verdict.EMPTY, FAILURE, id="no body"),
    pytest.param(good(ended=Ended.RESET, body=Body.EMPTY, **NOTHING), Verdict.CUT, FAILURE, id="no body, then a reset"),
    pytest.param(good(text_chars=0), Verdict.EMPTY, FAILURE, id="no text"),
    pytest.param(good(**NOTHING), Verdict.EMPTY, FAILURE, id="no text and no end mark"),
    pytest.param(good(text_chars=0, reasoning_chars=900), Verdict.EMPTY, FAILURE, id="thoughts alone"),
    pytest.param(good(text_chars=0, finish=Finish.LENGTH), Verdict.LENGTH, UNKNOWN, id="no text before the limit"),
    pytest.param(good(text_chars=0, media=1), Verdict.OK, OK, id="a picture alone"),
    pytest.param(good(text_chars=0, finish=Finish.PAUSED), Verdict.OK, OK, id="a pause"),
    pytest.param(good(early_end=True, end_mark=False), Verdict.CUT, UNKNOWN, id="more after the end mark"),
    pytest.param(
        good(early_end=True, end_mark=False, ended=Ended.RESET), Verdict.CUT, FAILURE, id="cut after an early end mark"
    ),
    pytest.param(good(restarts=1), Verdict.MALFORMED, UNKNOWN, id="an answer that began twice"),
    pytest.param(good(other_wire="gemini"), Verdict.MALFORMED, UNKNOWN, id="an answer in another form"),
    pytest.param(
        good(tool_calls=1, tools=False), Verdict.MALFORMED, FAILURE, id="a call of a tool that nobody offered"
    ),
    pytest.param(good(tool_calls=1, tools=True), Verdict.TOOL_CALL, OK, id="a call of a tool that was offered"),
    pytest.param(
        good(body=Body.JSON, streamed=False, broken=1), Verdict.MALFORMED, FAILURE, id="a plain answer and more"
    ),
    pytest.param(good(end_mark=False), Verdict.CUT, FAILURE, id="no end mark"),
    pytest.param(good(end_mark=False, text_chars=0), Verdict.CUT, FAILURE, id="cut among the thoughts"),
    pytest.param(good(ended=Ended.RESET, end_mark=False), Verdict.CUT, FAILURE, id="a reset"),
    pytest.param(
        good(ended=Ended.RESET, end_mark=None), Verdict.CUT, FAILURE, id="a reset and an end nobody looked for"
    ),
    pytest.param(good(tool_calls=1, bad_tool_calls=1), Verdict.MALFORMED, FAILURE, id="a broken tool call"),
    pytest.param(good(tool_calls=1, bad_tool_calls=1, end_mark=False), Verdict.CUT, FAILURE, id="a tool call cut"),
    pytest.param(
        good(tool_calls=1, bad_tool_calls=1, finish=Finish.LENGTH, max_tokens=50),
        Verdict.LENGTH,
        CALLER,
        id="a call at the limit",
    ),
    pytest.param(
        good(tool_calls=1, bad_tool_calls=1, finish=Finish.TOOL_CALLS, max_tokens=50),
        Verdict.LENGTH,
        CALLER,
        id="a call at the limit that hides it",
    ),
    pytest.param(good(broken=2, text_chars=0), Verdict.MALFORMED, FAILURE, id="rubble alone"),
    # loops
    pytest.param(good(squeeze=0.05, finish=Finish.LENGTH), Verdict.LOOP, FAILURE, id="a loop until the limit"),
    pytest.param(
        good(squeeze=0.05, ended=Ended.SILENCE, end_mark=False, finish=None),
        Verdict.LOOP,
        FAILURE,
        id="a loop given up",
    ),
    pytest.param(good(squeeze=0.05), Verdict.OK, OK, id="a bitmap that was asked for"),
    pytest.param(good(squeeze=0.1, finish=Finish.LENGTH), Verdict.LENGTH, UNKNOWN, id="hardly a loop"),
    pytest.param(good(squeeze=0.5, finish=Finish.LENGTH), Verdict.LENGTH, UNKNOWN, id="prose until the limit"),
    pytest.param(
        good(squeeze=0.05, finish=Finish.LENGTH, tool_calls=1), Verdict.LOOP, UNKNOWN, id="a loop beside a tool call"
    ),
    pytest.param(
        good(squeeze=0.05, finish=Finish.LENGTH, tool_calls=1, bad_tool_calls=1),
        Verdict.LOOP,
        FAILURE,
        id="a loop in a tool call",
    ),
    pytest.param(good(squeeze=0.05, finish=None), Verdict.OK, OK, id="a repetition with an end mark alone"),
    # limits
    pytest.param(good(finish=Finish.LENGTH, max_tokens=50), Verdict.LENGTH, CALLER, id="the caller's limit"),
    pytest.param(good(finish=Finish.LENGTH, max_tokens=52), Verdict.LENGTH, CALLER, id="nearly the caller's limit"),
    pytest.param(
        good(finish=Finish.LENGTH, max_tokens=100, completion_tokens=95),
        Verdict.LENGTH,
        CALLER,
        id="just near the limit",
    ),
    pytest.param(good(max_tokens=50), Verdict.OK, OK, id="done as the limit came"),
    pytest.param(
        good(finish=Finish.LENGTH, prompt_tokens=2_000, completion_tokens=48),
        Verdict.LENGTH,
        FAILURE,
        id="the smallest full window",
    ),
    pytest.param(good(finish=Finish.LENGTH, max_tokens=500), Verdict.LENGTH, FAILURE, id="the provider's limit"),
    pytest.param(good(finish=Finish.LENGTH), Verdict.LENGTH, UNKNOWN, id="a limit nobody knows"),
    pytest.param(
        good(finish=Finish.LENGTH, max_tokens=50, completion_tokens=None),
        Verdict.LENGTH,
        CALLER,
        id="a limit, uncounted",
    ),
    pytest.param(good(finish=Finish.WINDOW, max_tokens=50), Verdict.LENGTH, FAILURE, id="the model's window"),
    pytest.param(good(finish=Finish.BLOCKED, text_chars=0), Verdict.FILTERED, CALLER, id="the prompt blocked"),
    pytest.param(
        good(finish=Finish.LENGTH, prompt_tokens=2_500, completion_tokens=1_596),
        Verdict.LENGTH,
        FAILURE,
        id="a full window",
    ),
    pytest.param(good(finish=Finish.FILTERED), Verdict.FILTERED, UNKNOWN, id="filtered"),
    pytest.param(good(finish=Finish.FILTERED, text_chars=0), Verdict.FILTERED, UNKNOWN, id="filtered before any text"),
    # a gateway's words
    pytest.param(
        good(phrase="x", prompt_tokens=0, completion_tokens=0), Verdict.GATEWAY_TEXT, FAILURE, id="a phrase, uncounted"
    ),
    pytest.param(
        good(phrase="x", prompt_tokens=None, completion_tokens=None),
        Verdict.GATEWAY_TEXT,
        FAILURE,
        id="a phrase, no counts",
    ),
    pytest.param(
        good(phrase="x", prompt_tokens=1, completion_tokens=1),
        Verdict.GATEWAY_TEXT,
        FAILURE,
        id="a phrase, one and one",
    ),
    pytest.param(
        good(phrase="x", prompt_tokens=0, completion_tokens=2),
        Verdict.GATEWAY_TEXT,
        UNKNOWN,
        id="a phrase, two written",
    ),
    pytest.param(good(phrase="x", deltas=1), Verdict.GATEWAY_TEXT, FAILURE, id="a phrase in one piece"),
    pytest.param(
        good(phrase="x", marks_sent=3, marks_returned=0), Verdict.GATEWAY_TEXT, FAILURE, id="a phrase, no marks"
    ),
    pytest.param(
        good(phrase="x", deltas=1, text_chars=21), Verdict.GATEWAY_TEXT, UNKNOWN, id="a short phrase in one piece"
    ),
    pytest.param(
        good(phrase="x", deltas=1, text_chars=40), Verdict.GATEWAY_TEXT, FAILURE, id="a phrase just long enough"
    ),
    pytest.param(good(phrase="x", prompt_tokens=0), Verdict.GATEWAY_TEXT, UNKNOWN, id="a phrase, half counted"),
    pytest.param(good(phrase="x"), Verdict.GATEWAY_TEXT, UNKNOWN, id="a phrase alone"),
    pytest.param(
        good(phrase="x", marks_sent=3, marks_returned=3), Verdict.GATEWAY_TEXT, UNKNOWN, id="a phrase with the marks"
    ),
    pytest.param(
        good(phrase="x", prompt_tokens=1_200), Verdict.GATEWAY_TEXT, FAILURE, id="a phrase and too few tokens counted"
    ),
    pytest.param(
        good(phrase="x", prompt_tokens=0, completion_tokens=0, phrase_says=Fault.CONTEXT_TOO_LONG),
        Verdict.GATEWAY_TEXT,
        CALLER,
        id="a phrase that blames the prompt",
    ),
    pytest.param(
        good(phrase="like-retry", prompt_tokens=0, completion_tokens=0, deltas=1),
        Verdict.GATEWAY_TEXT,
        FAILURE,
        id="what sounds like a phrase, uncounted and in one piece",
    ),
    pytest.param(
        good(phrase="like-retry", prompt_tokens=None, completion_tokens=None, deltas=None, streamed=False),
        Verdict.GATEWAY_TEXT,
        FAILURE,
        id="what sounds like a phrase, uncounted and plain",
    ),
    pytest.param(
        good(phrase="like-retry", marks_sent=3, marks_returned=0),
        Verdict.GATEWAY_TEXT,
        FAILURE,
        id="what sounds like a phrase, no marks",
    ),
    pytest.param(
        good(phrase="like-retry", prompt_tokens=None, completion_tokens=None),
        Verdict.OK,
        OK,
        id="what sounds like a phrase, uncounted",
    ),
    pytest.param(
        good(phrase="like-retry", prompt_tokens=None, completion_tokens=None, tools=True),
        Verdict.GATEWAY_TEXT,
        FAILURE,
        id="what sounds like a phrase, uncounted, in an agent's step",
    ),
    pytest.param(good(phrase="like-retry", deltas=1), Verdict.OK, OK, id="what sounds like a phrase, in one piece"),
    # unread prompts
    pytest.param(good(prompt_tokens=440), Verdict.UNPROCESSED, FAILURE, id="too few tokens for the prompt"),
    pytest.param(good(prompt_tokens=450), Verdict.UNPROCESSED, UNKNOWN, id="few tokens for the prompt"),
    pytest.param(good(prompt_tokens=899), Verdict.UNPROCESSED, UNKNOWN, id="hardly enough tokens for the prompt"),
    pytest.param(
        good(prompt_tokens=800, completion_tokens=1_248), Verdict.UNPROCESSED, FAILURE, id="few tokens in a full window"
    ),
    pytest.param(good(prompt_tokens=2), Verdict.UNPROCESSED, FAILURE, id="two tokens"),
    pytest.param(good(prompt_tokens=1), Verdict.OK, OK, id="one token, which is no count"),
    pytest.param(good(prompt_tokens=0), Verdict.OK, OK, id="no tokens, which is no count"),
    pytest.param(good(prompt_tokens=None), Verdict.OK, OK, id="not counted"),
    pytest.param(good(prompt_bytes=None, prompt_tokens=2), Verdict.OK, OK, id="not measured"),
    pytest.param(good(prompt_bytes=3_999, prompt_tokens=2), Verdict.OK, OK, id="too small a prompt to tell"),
    pytest.param(
        good(prompt_bytes=30_000, prompt_tokens=2_050), Verdict.UNPROCESSED, FAILURE, id="half a window and two"
    ),
    pytest.param(good(prompt_bytes=30_000, prompt_tokens=2_047), Verdict.UNPROCESSED, UNKNOWN, id="less than a window"),
    pytest.param(good(prompt_bytes=20_000, prompt_tokens=2_050), Verdict.OK, OK, id="half a window by chance"),
    pytest.param(good(prompt_tokens=900), Verdict.OK, OK, id="just enough tokens for the prompt"),
    pytest.param(
        good(prompt_bytes=4_000, prompt_tokens=2), Verdict.UNPROCESSED, FAILURE, id="just enough of a prompt to tell"
    ),
    pytest.param(good(prompt_bytes=20_500, prompt_tokens=2_050), Verdict.OK, OK, id="half a window at the edge"),
    pytest.param(good(marks_sent=3, marks_returned=2), Verdict.UNPROCESSED, FAILURE, id="a mark is missing"),
    pytest.param(
        good(prompt_tokens=120, marks_sent=3, marks_returned=3), Verdict.OK, OK, id="few tokens counted and all marks"
    ),
    pytest.param(
        good(prompt_tokens=120, marks_sent=3, marks_returned=2),
        Verdict.UNPROCESSED,
        FAILURE,
        id="few tokens, few marks",
    ),
    pytest.param(good(marks_sent=3, marks_returned=3), Verdict.OK, OK, id="all marks are there"),
    pytest.param(good(marks_sent=3), Verdict.OK, OK, id="marks that nobody looked for"),
    pytest.param(
        good(marks_sent=3, marks_returned=0, tool_calls=1), Verdict.TOOL_CALL, OK, id="a call instead of marks"
    ),
]


@pytest.mark.parametrize(("answer", "verdict", "blame"), CASES)
def test_answers_are_judged(answer: Answer, verdict: Verdict, blame: Blame) -> None:
    judgement = judge(answer)

    assert (judgement.verdict, judgement.blame) == (verdict, blame), judgement.why


def test_every_verdict_can_come_out() -> None:
    assert {case.values[1] for case in CASES} == set(Verdict)


def test_the_reason_names_the_numbers() -> None:
    assert judge(good(prompt_tokens=100)).why == "100 prompt tokens counted for 9000 bytes: most of it went unread"
    assert judge(good(marks_sent=3, marks_returned=1)).why == "1 of 3 marks came back: part of the prompt went unread"
    assert judge(failed(418)).why == "HTTP status 418"


@pytest.mark.parametrize(
    ("answer", "cause", "confidence"),
    [
        pytest.param(good(), None, Confidence.HIGH, id="a healthy answer"),
        pytest.param(good(broken=1), None, Confidence.MEDIUM, id="rubble beside an answer"),
        pytest.param(good(squeeze=0.01), None, Confidence.MEDIUM, id="repetition that was meant"),
        pytest.param(good(finish=Finish.OTHER), None, Confidence.LOW, id="an unknown finish"),
        pytest.param(good(finish=None), None, Confidence.LOW, id="an end mark alone"),
        pytest.param(good(finish=None, streamed=False), None, Confidence.HIGH, id="a plain answer without a finish"),
        pytest.param(good(fault=Fault.QUOTA), Verdict.QUOTA, Confidence.HIGH, id="an error in a 200"),
        pytest.param(good(fault=Fault.EMPTY), Verdict.EMPTY, Confidence.HIGH, id="nothing came from behind"),
        pytest.param(good(fault=Fault.OTHER), None, Confidence.HIGH, id="an error that says nothing"),
        pytest.param(good(fault=Fault.FILTERED), Verdict.FILTERED, Confidence.HIGH, id="filtered halfway"),
        pytest.param(good(fault=Fault.FILTERED, **NOTHING), None, Confidence.HIGH, id="the prompt filtered"),
        pytest.param(failed(429, fault=Fault.QUOTA), None, Confidence.HIGH, id="an HTTP error says it itself"),
        pytest.param(
            good(phrase="x", prompt_tokens=0, completion_tokens=0, phrase_says=Fault.EMPTY),
            Verdict.EMPTY,
            Confidence.HIGH,
            id="a gateway's words",
        ),
        pytest.param(good(phrase="x"), None, Confidence.LOW, id="a phrase alone"),
        pytest.param(
            good(
                **NOTHING
                | {"prompt_tokens": 31_000, "completion_tokens": 0, "max_tokens": 4_096, "finish": Finish.STOP}
            ),
            Verdict.CONTEXT_TOO_LONG,
            Confidence.HIGH,
            id="nothing in a full window",
        ),
        pytest.param(
            good(**NOTHING | {"prompt_tokens": 20_000, "completion_tokens": 0, "max_tokens": 4_096}),
            None,
            Confidence.HIGH,
            id="nothing in a window with room",
        ),
    ],
)
def test_causes_and_doubts_are_told(answer: Answer, cause: Verdict | None, confidence: Confidence) -> None:
    judgement = judge(answer)

    assert (judgement.cause, judgement.confidence) == (cause, confidence)


def test_a_refused_key_says_where_to_look() -> None:
    assert "the variable that `api_key_env` names" in judge(failed(401)).why
    assert "the variable that `api_key_env` names" in judge(good(fault=Fault.AUTH)).why


def test_the_page_of_verdicts_tells_of_each() -> None:
    page = (Path(__file__).parent.parent / "docs" / "verdicts.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `(\w+)` \|", page.partition("## The list")[2], re.MULTILINE) == list(Verdict)


_counts = st.none() | st.integers(0, 10**12)
_times = st.none() | st.floats(0, 1e12)
_KINDS: dict[str, st.SearchStrategy[Any]] = {
    "target": st.just("a"),
    "id": st.just("b"),
    "confirms": st.none(),
    "status": st.none() | st.integers(*STATUSES),
    "phrase": st.none() | st.sampled_from(["x", "like-x"]),
    "phrase_says": st.none() | st.sampled_from(Fault),
    "other_wire": st.none() | st.just("gemini"),
    "early_end": st.none() | st.booleans(),
    "tools": st.none() | st.booleans(),
    "ended": st.sampled_from([ended for ended in Ended if ended is not Ended.PENDING]),
    "part": st.just(Part.FINAL),
    "source": st.sampled_from(Source),
    "body": st.none() | st.sampled_from(Body),
    "finish": st.none() | st.sampled_from(Finish),
    "fault": st.none() | st.sampled_from(Fault),
    "end_mark": st.none() | st.booleans(),
    "streamed": st.booleans(),
    "suspect_timing": st.booleans(),
    "seconds": st.floats(0, 1e12),
    "age_s": _times,
    "headers_s": _times,
    "first_byte_s": _times,
    "retry_after_s": _times,
    "squeeze": _times,
}


@given(st.fixed_dictionaries({field.name: _KINDS.get(field.name, _counts) for field in fields(Answer)}))
def test_every_answer_gets_a_verdict(facts: dict[str, Any]) -> None:
    judgement = judge(Answer(**facts))

    assert judgement.why
    assert (judgement.blame is Blame.OK) == (judgement.verdict in (Verdict.OK, Verdict.TOOL_CALL))
