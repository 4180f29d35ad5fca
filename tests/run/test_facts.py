"""An answer's place in a run."""

from dataclasses import replace
from typing import Any

import pytest

from breaker.answer import Answer, Ended, Finish
from breaker.run import Says, step
from breaker.verdict import Confidence, Verdict, judge

ANSWER = Answer(
    target="zai/glm",
    id="a1",
    ended=Ended.COMPLETE,
    seconds=2.0,
    status=200,
    end_mark=True,
    finish=Finish.STOP,
    text_chars=0,
    tool_calls=0,
    tools=True,
    prompt_tokens=900,
    completion_tokens=1,
)


def test_a_step_keeps_the_protocols_end_apart_from_what_the_detector_said() -> None:
    made = step(ANSWER, judge(ANSWER), seq=4, calls=None, says=Says.NEXT)

    assert (made.id, made.seq, made.target, made.says) == ("a1", 4, "zai/glm", Says.NEXT)
    assert (made.ended, made.status, made.finish, made.end_mark) == (Ended.COMPLETE, 200, Finish.STOP, True)
    assert (made.verdict, made.why, made.confidence) == (Verdict.EMPTY, "no text and no tool call", Confidence.HIGH)
    assert (made.tools, made.tool_calls, made.prompt_tokens, made.completion_tokens) == (True, 0, 900, 1)


UNTOLD = replace(ANSWER, text_chars=None, tool_calls=None, completion_tokens=None)


def test_an_answer_of_which_nothing_was_told_is_none() -> None:
    made = step(UNTOLD, judge(UNTOLD), seq=4)

    assert judge(UNTOLD).verdict is Verdict.OK
    assert (made.verdict, made.confidence) == (Verdict.EMPTY, Confidence.LOW)
    assert "tell text_chars" in made.why


@pytest.mark.parametrize("told", ["text_chars", "tool_calls", "media", "completion_tokens"])
def test_anything_that_it_held_makes_it_one(told: str) -> None:
    facts: dict[str, Any] = {told: 1}
    answer = replace(UNTOLD, **facts)

    assert step(answer, judge(answer), seq=4).verdict is judge(answer).verdict
