"""An answer's place in a run."""

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
