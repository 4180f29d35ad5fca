"""What probes say of each behaviour, in every wire."""

import random

import pytest

from breaker.answer import Answer
from breaker.policy import Policy
from breaker.target import Provider, Target
from breaker.verdict import Verdict, judge
from breaker.wire import READERS
from monitor.lag import LoopLag
from monitor.probe import probe
from monitor.settings import ProbeShape, TargetPlan
from monitor.simulator import Simulator

SPEED = 100.0


@pytest.mark.parametrize("wire", READERS)
@pytest.mark.parametrize(
    ("behaviour", "verdict"),
    [
        ("healthy", Verdict.OK),
        ("comments_only,silence_s=20", Verdict.OK),
        ("gateway_text", Verdict.GATEWAY_TEXT),
        ("truncated_prompt,keep_tokens=300", Verdict.UNPROCESSED),
        ("empty", Verdict.EMPTY),
        ("empty_unended", Verdict.EMPTY),
        ("error_first", Verdict.ERROR_EVENT),
        ("error_after_text", Verdict.ERROR_EVENT),
        ("html", Verdict.MALFORMED),
        ("cut", Verdict.CUT),
        ("loop,seconds=60", Verdict.LOOP),
        ("reset", Verdict.CONNECT_ERROR),
        ("http_error,status=400", Verdict.BAD_REQUEST),
        ("http_error,status=401", Verdict.AUTH),
        ("http_error,status=402", Verdict.QUOTA),
        ("http_error,status=403", Verdict.AUTH),
        ("http_error,status=404", Verdict.NOT_FOUND),
        ("http_error,status=429", Verdict.RATE_LIMITED),
        ("http_error,status=500", Verdict.HTTP_ERROR),
        ("http_error,status=503", Verdict.OVERLOADED),
        ("http_error,status=529", Verdict.OVERLOADED),
    ],
)
async def test_a_probe_calls_a_behaviour_what_it_is(wire: str, behaviour: str, verdict: Verdict) -> None:
    async with Simulator({"p/m": behaviour}, speed=SPEED, seed=1) as simulator, LoopLag() as lag:
        provider = Provider(name="p", base_url=simulator.base_url("p"), wire=wire)
        plan = TargetPlan(
            target=Target(provider=provider, model="m"), policy=Policy(), probe=ProbeShape(prompt_tokens=3_000)
        )
        answer = await probe(plan, None, chance=random.Random(1), lag=lag, late=_late)

    assert judge(answer).verdict is verdict


async def _late(answer: Answer) -> None:
    raise AssertionError(answer)
