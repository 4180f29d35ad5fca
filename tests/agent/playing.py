"""Plays a situation to an SDK, with the transport in it or without."""

import asyncio
import time

import httpx2

from monitor.simulator import Simulator
from tests.agent.faces import Came, Face
from tests.agent.failoverbench import BEGIN, FINE, GOOD_ENDS, SPEED, Outcome, Situation, question
from tests.agent.world import World, awaiting, blocking


async def play(situation: Situation, face: Face) -> tuple[Outcome, World]:
    """Ask through the transport, and once more, healthily, through the same client."""
    told = situation.told(face)
    async with Simulator({**told, "h/m": FINE}, speed=SPEED, seed=1) as simulator:
        for target, behaviour in told.items():
            await simulator.set(target, behaviour)
        world = World(simulator, list(told), wire=face.wire)
        begun = time.monotonic()
        if face.awaits:
            outcome = await _awaiting(simulator, situation, face, world, begun)
        else:
            outcome = await _blocking(simulator, situation, face, world, begun)
    return outcome, world


async def plain(situation: Situation, face: Face, limit_s: float) -> Outcome:
    """Ask the first target by the SDK alone, with its own retries; for at most so many seconds."""
    told = situation.told(face)
    async with Simulator(told, speed=SPEED, seed=1) as simulator:
        for target, behaviour in told.items():
            await simulator.set(target, behaviour)
        target = next(iter(told))
        provider, _, model = target.partition("/")
        asked, begun = {**question(situation, face), "model": model}, time.monotonic()
        async with httpx2.AsyncClient(timeout=httpx2.Timeout(600.0)) as client:
            try:
                async with asyncio.timeout(limit_s):
                    came = await face.wait(client, simulator.base_url(provider), asked)
            except TimeoutError as late:
                came = Came(error=late)
        return _outcome(simulator, came, begun)


async def _awaiting(simulator: Simulator, situation: Situation, face: Face, world: World, begun: float) -> Outcome:
    async with httpx2.AsyncClient(transport=awaiting(world, situation.limits)) as client:
        came = await face.wait(client, question=question(situation, face))
        outcome = _outcome(simulator, came, begun)
        world.targets = ["h/m"]
        _check(await face.wait(client))
    return outcome


async def _blocking(simulator: Simulator, situation: Situation, face: Face, world: World, begun: float) -> Outcome:
    with httpx2.Client(transport=blocking(world, situation.limits)) as client:
        came = await asyncio.to_thread(face.block, client, question=question(situation, face))
        outcome = _outcome(simulator, came, begun)
        world.targets = ["h/m"]
        _check(await asyncio.to_thread(face.block, client))
    return outcome


def _check(came: Came) -> None:
    """After each situation a healthy question works through the same client."""
    assert came.error is None, came.error
    assert came.text.startswith(BEGIN)
    assert came.finish in GOOD_ENDS


def _outcome(simulator: Simulator, came: Came, begun: float) -> Outcome:
    asked = {target: simulator.asked(target) for target in simulator.targets}
    return Outcome(came=came, asked=asked, s=time.monotonic() - begun)
