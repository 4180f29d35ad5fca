import json

from breaker.answer import Answer, Body, Finish
from breaker.verdict import Verdict, judge
from tests.wire.streams import CHAT, read


def lines(*events: dict[str, object], streamed: bool = True) -> Answer:
    """What a body of these is, one a line."""
    return read(CHAT, "".join(f"{json.dumps(event)}\n" for event in events).encode(), streamed=streamed)


def said(text: str, **more: object) -> dict[str, object]:
    """A line with text."""
    return {"model": "m", "message": {"role": "assistant", "content": text, **more}, "done": False}


DONE = {**said(""), "done": True, "done_reason": "stop", "prompt_eval_count": 700, "eval_count": 5}


def test_its_own_lines_are_a_stream() -> None:
    answer = lines(said("At"), said(" nine.", thinking="Hm."), DONE)

    assert (answer.body, answer.text_chars, answer.reasoning_chars, answer.deltas) == (Body.JSON, 8, 3, 2)
    assert (answer.first_byte_s, answer.end_mark, answer.finish) == (0.2, True, Finish.STOP)
    assert (answer.prompt_tokens, answer.completion_tokens, judge(answer).verdict) == (700, 5, Verdict.OK)


def test_its_calls_come_whole_and_without_places() -> None:
    call = {"function": {"name": "go", "arguments": {"a": 1}}}

    answer = lines(said("", tool_calls=[call]), said("", tool_calls=[call]), DONE)

    assert (answer.tool_calls, answer.bad_tool_calls) == (2, 0)


def test_a_completion_is_read_as_well() -> None:
    answer = lines({"response": "At nine.", "thinking": "Hm.", "done": True}, streamed=False)

    assert (answer.text_chars, answer.reasoning_chars, judge(answer).verdict) == (8, 3, Verdict.OK)


def test_lines_without_the_last_are_cut() -> None:
    assert judge(lines(said("At"))).verdict is Verdict.CUT


def test_an_error_may_be_the_last_line() -> None:
    assert judge(lines(said("At"), {"error": "the model has crashed"})).verdict is Verdict.ERROR_EVENT


def test_a_model_that_was_only_loaded_said_nothing() -> None:
    assert judge(lines({**DONE, "done_reason": "load"})).verdict is Verdict.EMPTY
