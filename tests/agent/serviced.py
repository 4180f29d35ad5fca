"""The situations that need more than a provider: the service decides, goes away, or nobody can be reached at all."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from breaker.client import AsyncFirstbyte, Firstbyte, Spot
from breaker.client.transport import AsyncTransport, Transport
from breaker.policy import Policy
from breaker.route.ramp import turn_s
from monitor.simulator import Simulator
from tests.agent.faces import Came, Face
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
DEAD = "http_error,status=503"


@dataclass(frozen=True, kw_only=True)
class Course:
    """What came of an agent's steps: the answers one after the other, who gave them, and a word on all of it."""

    came: Sequence[Came]
    word: str
    best: bool


@dataclass(frozen=True, kw_only=True)
class Serviced:
    """A situation: `helped` plays it with the transport and a service whose data goes to a folder, `alone` without."""

    id: str
    what: str
    wants: str
    helped: Callable[[Face, Path], Awaitable[Course]]
    alone: Callable[[Face], Awaitable[Course]]


@dataclass(frozen=True)
class _Agent:
    """An agent that asks step by step by one client, for a certain model or for any."""

    face: Face
    client: Any
    guide: Firstbyte | AsyncFirstbyte | None = None
    base_url: str = "http://nowhere.invalid/v1"

    async def ask(self) -> Came:
        """One step."""
        async with asyncio.timeout(LIMIT_S):
            if self.face.awaits:
                return await self.face.wait(self.client, self.base_url, {"model": "m"})
            return await asyncio.to_thread(self.face.block, self.client, self.base_url, {"model": "m"})

    async def steps(self, count: int) -> list[Came]:
        """Several, one after the other."""
        return [await self.ask() for _ in range(count)]

    async def comes(self, role: str) -> None:
        """Wait until the next step goes to what is this to its route."""
        async with asyncio.timeout(LIMIT_S):
            while await self._role() != role:  # noqa: ASYNC110 # a decision that changes has no event here
                await asyncio.sleep(0.02)

    async def _role(self) -> str:
        if isinstance(self.guide, AsyncFirstbyte):
            return (await self.guide.route("coder")).role
        assert self.guide is not None
        return (await asyncio.to_thread(self.guide.route, "coder")).role


@contextlib.asynccontextmanager
async def _agent_at(url: str, face: Face, fallback: list[Spot]) -> AsyncIterator[_Agent]:
    if face.awaits:
        async with AsyncFirstbyte(url, fallback=fallback, session=SESSION) as awaited:
            inner = httpx2.AsyncHTTPTransport(verify=False)
            transport = AsyncTransport(inner, guide=awaited, route="coder", limits=PATIENT)
            async with httpx2.AsyncClient(transport=transport) as client:
                yield _Agent(face, client, awaited)
        return
    guide = await asyncio.to_thread(Firstbyte, url, fallback=fallback, session=SESSION)
    try:
        blocking = Transport(httpx2.HTTPTransport(verify=False), guide=guide, route="coder", limits=PATIENT)
        with httpx2.Client(transport=blocking) as one:
            yield _Agent(face, one, guide)
    finally:
        await asyncio.to_thread(guide.close)


@contextlib.asynccontextmanager
async def _alone_at(simulator: Simulator, face: Face) -> AsyncIterator[_Agent]:
    """An agent with the SDK as it is; only what is awaited can be left alone."""
    async with httpx2.AsyncClient(timeout=httpx2.Timeout(600.0), verify=False) as client:
        yield _Agent(replace(face, awaits=True), client, base_url=simulator.base_url("a"))


def _spots(simulator: Simulator, face: Face) -> list[Spot]:
    return [
        {"target": name, "base_url": simulator.base_url(name.partition("/")[0]), "wire": face.wire}
        for name in simulator.targets
    ]


def whole(came: Came) -> bool:
    """Whether it is a whole answer."""
    return came.error is None and came.text.startswith(BEGIN) and came.finish in GOOD_ENDS


def by(came: Sequence[Came]) -> set[str]:
    """Who gave these answers."""
    return {one.done["target"] for one in came}


def _tried(simulator: Simulator) -> int:
    """How often agents asked the primary, whose probes ask it too."""
    return sum(attempt.prompt_tokens < MOST_TOKENS for attempt in simulator.asked("a/m").attempts)


def _counted(came: Sequence[Came], tried: int) -> str:
    """How many steps had an answer, and what the failing provider was asked for them."""
    tries = "at most 2" if tried <= 2 else str(tried)
    return f"{sum(map(whole, came))} of {len(came)} answers, {tries} tries at the one that fails"


async def _flaps(face: Face, folder: Path) -> Course:
    async with Simulator({"a/m": DEAD, "b/m": FINE}, speed=SPEED, seed=1) as simulator:
        plans = [plan(simulator, name, QUICK, face.wire, probe=SMALL_PROBE) for name in simulator.targets]
        async with running(settings(plans, folder)) as service, _agent_at(service.url, face, []) as agent:
            first = [await agent.ask()]
            await agent.comes("backup")
            first += await agent.steps(9)
            tried = _tried(simulator)
            await simulator.set("a/m", FINE)
            await agent.comes("primary")
            then = await agent.steps(10)
    came = [*first, *then]
    best = all(map(whole, came)) and tried <= 2 and by(first) == {"b/m"} and by(then) == {"a/m"}
    return Course(came=came, word=_counted(came, tried), best=best)


async def _flaps_alone(face: Face) -> Course:
    async with Simulator({"a/m": DEAD}, speed=SPEED, seed=1) as simulator, _alone_at(simulator, face) as agent:
        # All at once, since the SDK's pauses are not divided.
        first = await asyncio.gather(*(agent.ask() for _ in range(10)))
        tried = _tried(simulator)
        await simulator.set("a/m", FINE)
        came = [*first, *await agent.steps(10)]
    return Course(came=came, word=_counted(came, tried), best=all(map(whole, came)) and tried <= 2)


async def _service_goes(face: Face, folder: Path) -> Course:
    policy = replace(QUICK, probing=False, hold_s=60.0)
    async with Simulator({"a/m": DEAD, "b/m": FINE}, speed=SPEED, seed=1) as simulator:
        plans = [plan(simulator, name, policy, face.wire) for name in simulator.targets]
        async with contextlib.AsyncExitStack() as service:
            url = (await service.enter_async_context(running(settings(plans, folder)))).url
            async with _agent_at(url, face, _spots(simulator, face)) as agent:
                came = await agent.steps(2)
                await agent.comes("backup")
                came += await agent.steps(3)
                await service.aclose()
                came += await agent.steps(5)
    best = all(map(whole, came)) and by(came) == {"b/m"}
    return Course(came=came, word="all answers, by the backup" if best else "other", best=best)


async def _dead_alone(face: Face) -> Course:
    async with Simulator({"a/m": DEAD}, speed=SPEED, seed=1) as simulator, _alone_at(simulator, face) as agent:
        came = await asyncio.gather(*(agent.ask() for _ in range(10)))
    return Course(came=came, word="a clear error" if all(one.error for one in came) else "other", best=False)


async def _no_network(face: Face, _: Path) -> Course:
    down = {"a/m": "refused", "b/m": "refused"}
    async with contextlib.AsyncExitStack() as stack:
        simulator = await stack.enter_async_context(Simulator(down, speed=SPEED, seed=1))
        agent = await stack.enter_async_context(_agent_at(nobody(), face, _spots(simulator, face)))
        course = await _down_and_up(simulator, agent, down)
    return replace(course, best=course.best and "connect_error" in str(course.came[0].error))


async def _no_network_alone(face: Face) -> Course:
    down = {"a/m": "refused"}
    async with Simulator(down, speed=SPEED, seed=1) as simulator, _alone_at(simulator, face) as agent:
        return await _down_and_up(simulator, agent, down)


async def _down_and_up(simulator: Simulator, agent: _Agent, down: dict[str, str]) -> Course:
    for target, behaviour in down.items():
        await simulator.set(target, behaviour)
    told = await agent.ask()
    for target in down:
        await simulator.set(target, FINE)
    came = await agent.ask()
    best = told.error is not None and whole(came)
    return Course(came=[told, came], word="a clear error, then the answer" if best else "other", best=best)


SERVICED = [
    Serviced(
        id="S15",
        what="503 for a while, then well: it flaps",
        wants="tries the failing one at most twice, and uses it again once it is well",
        helped=_flaps,
        alone=_flaps_alone,
    ),
    Serviced(
        id="A10",
        what="503 for ever; the service goes away meanwhile",
        wants="the steps go on, with the backup",
        helped=_service_goes,
        alone=_dead_alone,
    ),
    Serviced(
        id="A11",
        what="no network at all, for a while",
        wants="a clear error, and later the answer",
        helped=_no_network,
        alone=_no_network_alone,
    ),
]
