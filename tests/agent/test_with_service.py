"""The situations that need more than a provider: the service decides, goes away, or nobody can be reached at all."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from breaker.client import AsyncFirstbyte, Firstbyte, Spot
from breaker.client.transport import AsyncTransport, Transport
from breaker.policy import Policy
from breaker.route.ramp import turn_s
from monitor.simulator import Simulator
from tests.agent.faces import FACES, Came, Face
from tests.agent.failoverbench import BEGIN, FINE, GOOD_ENDS, PATIENT, SPEED
from tests.client.serving import nobody
from tests.service import SMALL_PROBE, faster, plan, running, settings

LIMIT_S = 60.0
# A provider that is well again is to be used again within seconds, not after ten minutes.
QUICK = replace(
    faster(Policy(hold_s=20.0, half_open_s=5.0, interval_s=20.0, jitter_s=1.0, recover_row=1), SPEED),
    slow_s=20.0,
    silence_s=40.0,
    row_gap_intervals=100.0,
    silent_intervals=1000.0,
)
# Sessions return over a minute; this one does at once.
SESSION = next(name for name in map(str, range(10_000)) if turn_s(name) < 0.2)
# Agents' questions are short, probes are not.
MOST_TOKENS = 100


@dataclass(frozen=True)
class Agent:
    """An agent that asks step by step by one client."""

    face: Face
    guide: Firstbyte | AsyncFirstbyte
    client: Any

    async def ask(self) -> Came:
        """One step."""
        async with asyncio.timeout(LIMIT_S):
            if self.face.awaits:
                return await self.face.wait(self.client)
            return await asyncio.to_thread(self.face.block, self.client)

    async def role(self) -> str:
        """What the next step's target is to its route."""
        if isinstance(self.guide, AsyncFirstbyte):
            return (await self.guide.route("coder")).role
        return (await asyncio.to_thread(self.guide.route, "coder")).role


@contextlib.asynccontextmanager
async def agent_at(url: str, face: Face, fallback: list[Spot]) -> AsyncIterator[Agent]:
    if face.awaits:
        async with AsyncFirstbyte(url, fallback=fallback, session=SESSION) as awaited:
            inner = httpx2.AsyncHTTPTransport(verify=False)
            transport = AsyncTransport(inner, guide=awaited, route="coder", limits=PATIENT)
            async with httpx2.AsyncClient(transport=transport) as client:
                yield Agent(face, awaited, client)
        return
    guide = await asyncio.to_thread(Firstbyte, url, fallback=fallback, session=SESSION)
    try:
        blocking = Transport(httpx2.HTTPTransport(verify=False), guide=guide, route="coder", limits=PATIENT)
        with httpx2.Client(transport=blocking) as one:
            yield Agent(face, guide, one)
    finally:
        await asyncio.to_thread(guide.close)


def spots(simulator: Simulator, face: Face) -> list[Spot]:
    return [
        {"target": name, "base_url": simulator.base_url(name.partition("/")[0]), "wire": face.wire}
        for name in simulator.targets
    ]


def whole(came: Came) -> bool:
    return came.error is None and came.text.startswith(BEGIN) and came.finish in GOOD_ENDS


def asked_by_agents(simulator: Simulator, target: str) -> int:
    return sum(attempt.prompt_tokens < MOST_TOKENS for attempt in simulator.asked(target).attempts)


async def comes(agent: Agent, role: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while await agent.role() != role:  # noqa: ASYNC110 # a decision that changes has no event here
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("face", FACES, ids=str)
async def test_s15_while_a_provider_is_down_agents_try_it_at_most_twice(face: Face, tmp_path: Path) -> None:
    """And use it again once it is well, which probes find out."""
    async with Simulator({"a/m": "http_error,status=503", "b/m": FINE}, speed=SPEED, seed=1) as simulator:
        plans = [plan(simulator, name, QUICK, face.wire, probe=SMALL_PROBE) for name in simulator.targets]
        async with running(settings(plans, tmp_path)) as service, agent_at(service.url, face, []) as agent:
            first = [await agent.ask()]
            await comes(agent, "backup")
            first += [await agent.ask() for _ in range(9)]
            tried = asked_by_agents(simulator, "a/m")
            await simulator.set("a/m", FINE)
            await comes(agent, "primary")
            then = [await agent.ask() for _ in range(10)]

    assert all(map(whole, [*first, *then]))
    assert tried <= 2
    assert {came.done["target"] for came in first} == {"b/m"}
    assert {came.done["target"] for came in then} == {"a/m"}


@pytest.mark.parametrize("face", FACES, ids=str)
async def test_a10_when_the_service_goes_the_steps_go_on(face: Face, tmp_path: Path) -> None:
    policy = replace(QUICK, probing=False, hold_s=60.0)
    async with Simulator({"a/m": "http_error,status=503", "b/m": FINE}, speed=SPEED, seed=1) as simulator:
        plans = [plan(simulator, name, policy, face.wire) for name in simulator.targets]
        async with contextlib.AsyncExitStack() as service:
            url = (await service.enter_async_context(running(settings(plans, tmp_path)))).url
            async with agent_at(url, face, spots(simulator, face)) as agent:
                came = [await agent.ask(), await agent.ask()]
                await comes(agent, "backup")
                came += [await agent.ask() for _ in range(3)]
                await service.aclose()
                came += [await agent.ask() for _ in range(5)]

    assert all(map(whole, came))
    assert {one.done["target"] for one in came} == {"b/m"}


@pytest.mark.parametrize("face", FACES, ids=str)
async def test_a11_without_a_network_the_caller_is_told_and_then_goes_on(face: Face) -> None:
    down = {"a/m": "refused", "b/m": "refused"}
    async with Simulator(down, speed=SPEED, seed=1) as simulator:
        for target, behaviour in down.items():
            await simulator.set(target, behaviour)
        async with agent_at(nobody(), face, spots(simulator, face)) as agent:
            told = await agent.ask()
            for target in down:
                await simulator.set(target, FINE)
            came = await agent.ask()

    assert isinstance(told.error, openai.InternalServerError | anthropic.InternalServerError)
    assert "connect_error" in str(told.error)
    assert whole(came)
