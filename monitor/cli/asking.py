"""`firstbyte probe`: asks real questions at once and shows what came back."""

import asyncio
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from breaker.answer import Answer
from breaker.verdict import Blame, Judgement, Verdict, judge
from monitor.cli.exits import BAD, GOOD
from monitor.cli.saying import say
from monitor.exchange.phases import Phase
from monitor.lag import LoopLag
from monitor.probe import probe
from monitor.settings import TargetPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    plan: TargetPlan
    answer: Answer
    judgement: Judgement
    phases: Mapping[Phase, float]

    @property
    def well(self) -> bool:
        first = self.answer.first_byte_s
        return self.judgement.blame is Blame.OK and first is not None and first <= self.plan.policy.slow_s


async def ask_all(plans: Sequence[TargetPlan], keys: Mapping[str, str], *, as_json: bool) -> int:
    """Ask each target once, all at the same time; a line for each as it answers. Bad where one isn't well."""
    async with LoopLag() as lag:
        asking = [asyncio.create_task(_ask(plan, keys.get(plan.target.provider.name), lag)) for plan in plans]
        well = True
        for next_one in asyncio.as_completed(asking):
            asked = await next_one
            well = well and asked.well
            say(json.dumps(_as_json(asked)) if as_json else _as_text(asked))
    return GOOD if well else BAD


async def _ask(plan: TargetPlan, key: str | None, lag: LoopLag) -> _Asked:
    async def late(_: Answer) -> None:
        _say_progress(f"{plan.name}: no first byte after {plan.policy.slow_s:g} s; waiting on")

    phases: dict[Phase, float] = {}
    answer = await probe(plan, key, chance=random.SystemRandom(), lag=lag, late=late, timed=phases.update)
    return _Asked(plan=plan, answer=answer, judgement=judge(answer), phases=phases)


def _say_progress(line: str) -> None:
    """A line for the one who waits; never mixed with the result."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201 # a command line speaks


def _as_json(asked: _Asked) -> dict[str, object]:
    judgement = asked.judgement
    said = {"verdict": judgement.verdict, "class": judgement.blame, "why": judgement.why, "well": asked.well}
    return {"target": asked.plan.name, **said, "facts": asked.answer.facts()}


def _as_text(asked: _Asked) -> str:
    first, judgement = asked.answer.first_byte_s, asked.judgement
    late = (
        f", later than {asked.plan.policy.slow_s:g} s" if first is not None and first > asked.plan.policy.slow_s else ""
    )
    times = "no first byte" if first is None else f"first byte {first:.2f} s{late}"
    return f"{asked.plan.name}  {judgement.verdict}  {times}, {asked.answer.seconds:.2f} s in all  ({_why(asked)})"


def _why(asked: _Asked) -> str:
    """Why an answer was what it was, and of one that never began, how far it came."""
    if asked.judgement.verdict is not Verdict.CONNECT_ERROR:
        return asked.judgement.why
    if Phase.CONNECT not in asked.phases:
        return "no connection; look at the host in base_url, at the network and at the proxy, if there is one"
    if asked.plan.target.provider.base_url.startswith("https:") and Phase.TLS not in asked.phases:
        return "a connection, but no TLS over it; look at the certificates and at the proxy, if there is one"
    return "a connection that broke before anything came"
