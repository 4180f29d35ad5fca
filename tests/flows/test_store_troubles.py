"""Whatever happens to the store: agents are answered, no report is lost, no circuit forgets or remembers wrongly."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from breaker import circuit as circuits
from breaker.answer import Source
from breaker.circuit import Cause, Circuit, State
from breaker.policy import Policy
from breaker.store.redis import RedisStore
from breaker.target import Provider, Target
from monitor.settings import TargetPlan
from tests.fixtures import folder
from tests.forwarder import Forwarder
from tests.service import Running, running, settings
from tests.store.answers import failed, good
from tests.store_troubles import TROUBLES, Place, Trouble, keeping

__all__ = ["folder"]

# The first stays open through all, the second was open and is closed again, the third has never moved.
OPEN, CLOSED, CALM = "first/m", "second/m", "third/m"
POLICY = Policy(probing=False)
STEPS = 8


def plan(name: str) -> TargetPlan:
    """A target that nobody asks."""
    provider = Provider(name=name.partition("/")[0], base_url="http://127.0.0.1:9/v1", wire="openai-chat")
    return TargetPlan(target=Target(provider=provider, model="m"), policy=POLICY)


@dataclass
class Agent:
    """Asks where to go and reports, again and again; nothing that it is told may be a failure."""

    service: Running
    since: float = field(default_factory=time.monotonic)
    said: list[dict[str, object]] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)

    async def step(self) -> dict[str, object]:
        """One step of an agent: ask, do, report; beside it somebody tells old news of the second target."""
        number = len(self.said)
        self.said.append(await self.service.route())
        for target, more in (
            (CALM, {"status": 200, "first_byte_s": 0.05, "text_chars": 5}),
            (CLOSED, {"status": 500, "age_s": time.monotonic() - self.since + 1}),
        ):
            name = f"{target.partition('/')[0]}-{number}"
            told = {"target": target, "id": name, "ended": "complete", "seconds": 0.1, "streamed": False} | more
            answer = await self.service.client.post("/reports", json=told)
            assert answer.status_code == 202, answer.text
            self.sent.add(f'final "{name}"')
        return self.said[-1]


@contextlib.asynccontextmanager
async def placed(folder: Path) -> AsyncIterator[tuple[Place, Running]]:
    """The service on a store that all may happen to; it was copied when the second circuit was open."""
    async with contextlib.AsyncExitStack() as stack:
        server = stack.enter_context(keeping(folder))
        way = await stack.enter_async_context(Forwarder(server.socket))
        place = Place(server, folder, way)
        chosen = settings(map(plan, (OPEN, CLOSED, CALM)), folder / "data", store_url=way.url)
        service = await stack.enter_async_context(running(chosen))
        for name in (OPEN, CLOSED, CALM):
            await service.board.report(good(f"{name} good", target=name, seconds=0.0, source=Source.PROBE))
        await service.board.report(failed("refused", target=CLOSED, source=Source.PROBE, seconds=0.0, status=401))
        await place.remember()
        await service.board.report(good("taken again", target=CLOSED, source=Source.PROBE, seconds=0.0))
        for name in ("bad 1", "bad 2"):
            await service.board.report(failed(name, target=OPEN, source=Source.PROBE, seconds=0.0))
        assert [service.board.standing(name).state for name in (OPEN, CLOSED)] == [State.OPEN, State.CLOSED]
        yield place, service


def known(place: Place) -> set[str]:
    """The ids of the reports that the store has counted."""
    with place.server.raw() as raw:
        return {name for target in (CLOSED, CALM) for name in raw.zrange(f"firstbyte:{{{target}}}:ids", 0, -1)}


async def found(place: Place) -> dict[str, Circuit]:
    """The circuits in the store."""
    store = RedisStore.from_url(place.server.url, limit_s=5)
    circuits, _ = await store.circuits([OPEN, CLOSED, CALM])
    await store.close()
    return circuits


@pytest.mark.parametrize("trouble", TROUBLES, ids=[trouble.name for trouble in TROUBLES])
async def test_agents_go_on_and_the_store_learns_all_once_it_is_back(folder: Path, trouble: Trouble) -> None:
    async with placed(folder) as (place, service):
        opened = service.board.standing(OPEN).circuit
        agent = Agent(service)
        await agent.step()
        before = set(agent.sent)
        await trouble.begin(place)
        async with asyncio.timeout(60):
            for _ in range(STEPS):
                await agent.step()
            while not (trouble.passing or trouble.readable or agent.said[-1]["stale"]):
                await agent.step()
            await trouble.end(place)
            while service.board.waiting() or (await agent.step())["stale"]:  # noqa: ASYNC110 # other processes set no event
                await asyncio.sleep(0.02)
            missing = agent.sent - (before if trouble.forgets else set())
            while not missing <= await asyncio.to_thread(known, place):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            now = await found(place)
            while now[OPEN].open_until is None or now[CLOSED].open_until is not None:
                now = await found(place)
            after = await service.route()

    assert {said["target"] for said in [*agent.said, after]} == {CLOSED}
    assert now[OPEN].open_until == pytest.approx(opened.open_until, abs=0.01)
    assert now[OPEN].cause is Cause.ERRORS
    assert circuits.state(now[CLOSED], now[OPEN].moved_at) is State.CLOSED
    assert service.board.dropped() == 0
