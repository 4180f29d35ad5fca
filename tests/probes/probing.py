"""Probes for tests: a plan for any address, and what one probe gives."""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from breaker.answer import Answer
from breaker.policy import Policy
from breaker.target import Provider, Target
from breaker.verdict import Judgement, judge
from monitor.exchange.phases import Phase
from monitor.lag import LoopLag
from monitor.probe import probe
from monitor.probe.connections import Connections
from monitor.settings import ProbeShape, TargetPlan

# Slow and silent come soon, but not so soon that a busy machine makes a healthy target slow.
QUICK = Policy(slow_s=0.6, silence_s=1.2)


def plan_at(base_url: str, *, policy: Policy = QUICK, wire: str = "openai-chat", **shape: object) -> TargetPlan:
    """A plan for the model `m` at an address."""
    provider = Provider(name="p", base_url=base_url, wire=wire)
    shaped = ProbeShape(**shape)  # type: ignore[arg-type] # a shape's numbers
    return TargetPlan(target=Target(provider=provider, model="m"), policy=policy, probe=shaped)


@dataclass
class Probed:
    """What one probe gave; `lates` are its late parts."""

    answer: Answer
    judgement: Judgement
    lates: list[Answer] = field(default_factory=list)
    phases: Mapping[Phase, float] = field(default_factory=dict)


async def probed(
    plan: TargetPlan,
    key: str | None = None,
    *,
    lag: LoopLag | None = None,
    confirms: str | None = None,
    connections: Connections | None = None,
    late: Callable[[Answer], Awaitable[object]] | None = None,
) -> Probed:
    """Probe once."""
    lates: list[Answer] = []
    phases: dict[Phase, float] = {}

    async def keep(answer: Answer) -> None:
        lates.append(answer)

    answer = await probe(
        plan,
        key,
        chance=random.Random(),
        lag=lag or LoopLag(),
        late=late or keep,
        confirms=confirms,
        connections=connections,
        timed=phases.update,
    )
    return Probed(answer, judge(answer), lates, phases)
