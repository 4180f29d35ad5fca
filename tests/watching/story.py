"""Five minutes of five targets that each have their trouble, while agents go on: what the dashboards' pictures show."""

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from tests.processes import using
from tests.watching.live import Stage, Watched, staged

LASTS_S = 315.0
# Probes, and all that is counted in probes, come so many times as often as by default.
FASTER = 20
CONFIG = """\
policy:
  {{slow_s: 12, silence_s: 20, hold_s: 40, interval_s: 3, jitter_s: 0.3, confirm_s: 0.5, half_open_s: 1.5, wary_s: 3}}
probe: {{prompt_tokens: 1000}}
providers:
  aurora: {{base_url: {aurora}, wire: openai-chat, budget: {{tokens_per_day: 260_000}},
    models: {{swift-1: {{price: {{input_usd: 3, output_usd: 15}}}},
              deep-2: {{price: {{input_usd: 5, output_usd: 25}}}}}}}}
  borealis: {{base_url: {borealis}, wire: openai-responses, budget: {{tokens_per_day: 400_000}},
    models: {{swift-1: {{price: {{input_usd: 2, output_usd: 8}}}}}}}}
  cirrus: {{base_url: {cirrus}, wire: anthropic-messages,
    models: {{steady-2: {{price: {{input_usd: 3, output_usd: 15}}}}}}}}
  dorado: {{base_url: {dorado}, wire: gemini, models: {{steady-2: {{}}}}}}
routes:
  coder: [aurora/swift-1, borealis/swift-1, cirrus/steady-2]
  writer: [aurora/deep-2, dorado/steady-2]
"""
_WELL = "healthy,first_byte_s={},tokens_per_s=400"
WELL = {
    "aurora/swift-1": _WELL.format(0.6),
    "aurora/deep-2": _WELL.format(1.8),
    "borealis/swift-1": _WELL.format(0.8),
    "cirrus/steady-2": _WELL.format(1.0),
    "dorado/steady-2": _WELL.format(1.2),
}
# From when until when, in seconds, which target does what.
TROUBLES = (
    (60, 100, "aurora/swift-1", "first_byte_after,after_s=15,tokens_per_s=400"),
    (106, 118, "borealis/swift-1", "http_error,status=503"),
    (150, 250, "cirrus/steady-2", _WELL.format(4.5)),
    (185, 215, "dorado/steady-2", "http_error,status=402"),
    (195, 212, "aurora/deep-2", "gateway_text"),
    (284, LASTS_S, "aurora/swift-1", "http_error,status=503"),
)
_READ_ANEW_AT, _STORE_STOPS_AT, _HELD_AT = 105.0, 236.0, 262.0


@contextlib.asynccontextmanager
async def told(folder: Path) -> AsyncIterator[Watched]:
    """The end of the story: a Prometheus that has seen all of it."""
    async with staged(folder, CONFIG, WELL) as stage:
        async with asyncio.TaskGroup() as tasks:
            for trouble in TROUBLES:
                tasks.create_task(_trouble(stage, *trouble))
            tasks.create_task(_by_hand(stage))
            tasks.create_task(_store_stops(folder))
            agents = [tasks.create_task(_agent(stage, route)) for route in ("coder", "writer")]
            await asyncio.sleep(LASTS_S)
            for agent in agents:
                agent.cancel()
        yield stage.seen


async def _trouble(stage: Stage, since: float, until: float, target: str, behaviour: str) -> None:
    await asyncio.sleep(since)
    await stage.simulator.set(target, behaviour)
    await asyncio.sleep(until - since)
    if until < LASTS_S:
        await stage.simulator.set(target, WELL[target])


async def _by_hand(stage: Stage) -> None:
    await asyncio.sleep(_READ_ANEW_AT)
    await stage.agent.post("/-/reload")
    await asyncio.sleep(_HELD_AT - _READ_ANEW_AT)
    hold = {"who": "a person", "why": "a change at the provider", "for_s": 15}
    await stage.agent.post("/circuit/open", params={"target": "dorado/steady-2"}, json=hold)


async def _store_stops(folder: Path) -> None:
    """Let the store stand still for some seconds."""
    await asyncio.sleep(_STORE_STOPS_AT)
    stores = [pid for pid in using(folder) if _is_store(pid)]
    for pid in stores:
        os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(5)
    for pid in stores:
        with contextlib.suppress(ProcessLookupError):  # the service may have started another
            os.kill(pid, signal.SIGCONT)


def _is_store(pid: int) -> bool:
    return "-server" in Path(f"/proc/{pid}/cmdline").read_text().partition("\0")[0]


async def _agent(stage: Stage, route: str) -> None:
    """Ask, report, and now and then come to the end of a task, some of which weren't done."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    for turn in itertools.count():
        target = (await stage.agent.get("/route", params={"route": route})).json()["target"]
        now = loop.time() - began
        if not any(since <= now < until for since, until, name, _ in TROUBLES if name == target):
            await _reports(stage, f"{route}-{turn}", target, turn)
        await asyncio.sleep(0.25)


async def _reports(stage: Stage, name: str, target: str, turn: int) -> None:
    said = {"target": target, "ended": "complete", "status": 200, "seconds": 2.0, "first_byte_s": 0.8}
    if turn % 5:
        await stage.agent.post("/reports", json={**said, "id": name, "text_chars": 0 if turn % 50 == 7 else 90})
        return
    task = turn // 5 % 8
    step = {"id": name, "seq": 1, "text_chars": 0 if task == 3 else 90, "finish": "stop", "end_mark": True}
    state = {5: "failed", 7: "unknown"}.get(task, "succeeded")
    operation = {"id": "a", "seq": 0, "tool": "save", "effect": "write", "state": state}
    await stage.agent.post(f"/runs/{name}/steps", json={**said, **step})
    await stage.agent.post(f"/runs/{name}/operations", json=operation)
    await stage.agent.get(f"/runs/{name}/done")
