"""Recorded answers find their verdicts again."""

import pytest

from breaker.answer import Part
from breaker.verdict import Blame, Verdict, judge
from monitor.backtest import Step

FINISHED = [verdict for verdict in Verdict if verdict is not Verdict.PENDING]
# What a trace says of an answer is less than a judge knows; these are taken in the way that says least.
SAY_NOTHING = {
    Verdict.LENGTH: Blame.INCONCLUSIVE,
    Verdict.FILTERED: Blame.INCONCLUSIVE,
    Verdict.CANCELLED: Blame.INCONCLUSIVE,
    Verdict.CONTEXT_TOO_LONG: Blame.CALLER_FAULT,
    Verdict.BAD_REQUEST: Blame.CALLER_FAULT,
    Verdict.OK: Blame.OK,
    Verdict.TOOL_CALL: Blame.OK,
}


@pytest.mark.parametrize("first_byte_s", [None, 0.0, 1.5], ids=["no first byte", "at once", "after a while"])
@pytest.mark.parametrize("verdict", FINISHED)
def test_the_judge_gives_back_the_verdict_that_was_recorded(verdict: Verdict, first_byte_s: float | None) -> None:
    answer = Step(began_at_s=0, seconds=2, first_byte_s=first_byte_s, verdict=verdict).final_part("a")

    judgement = judge(answer)

    assert judgement.verdict is verdict
    assert judgement.blame is SAY_NOTHING.get(verdict, Blame.PROVIDER_FAILURE)


def test_a_late_part_is_not_judged_yet() -> None:
    part = Step(began_at_s=0, seconds=90).late_part("a", 40)

    assert (part.part, part.seconds, judge(part).verdict) == (Part.LATE, 40, Verdict.PENDING)


@pytest.mark.parametrize(
    ("step", "came_s", "late"),
    [
        pytest.param(Step(began_at_s=0, seconds=50), 50, True, id="seconds alone"),
        pytest.param(Step(began_at_s=0, seconds=50, first_byte_s=3), 3, False, id="an early first byte"),
        pytest.param(Step(began_at_s=0, seconds=40), 40, False, id="just at the limit"),
        pytest.param(Step(began_at_s=0, seconds=2, verdict=Verdict.HTTP_ERROR), None, False, id="a quick failure"),
        pytest.param(Step(began_at_s=0, seconds=60, verdict=Verdict.CONNECT_ERROR), None, True, id="a slow failure"),
        pytest.param(
            Step(began_at_s=0, seconds=60, first_byte_s=2, verdict=Verdict.HTTP_ERROR), None, True, id="no answer in it"
        ),
        pytest.param(Step(began_at_s=0, seconds=60, first_byte_s=2, verdict=Verdict.CUT), 2, False, id="a cut answer"),
    ],
)
def test_a_step_is_late_where_the_limit_passed_in_silence(step: Step, came_s: float | None, late: bool) -> None:
    assert (step.came_s, step.late(40)) == (came_s, late)
