"""Whatever happens to the store: agents are answered, no report is lost, no circuit forgets or remembers wrongly."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

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
from tests.service import Running, running, settings, until
from tests.store.answers import failed, good
from tests.store_troubles import (
    ALONE,
    AMONG,
    BEHIND,
    MOVED,
    Alone,
    Place,
    Trouble,
    among,
    behind,
    keeping,
)

__all__ = ["folder"]

# The first stays open through all, the second was open and is closed again, the third has never moved.
OPEN, CLOSED, CALM = "first/m", "second/m", MOVED
POLICY = Policy(probing=False)
STEPS = 8
# On a busy machine a master may be silent for long without being dead.
DOWN_MS = 3000


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
async def alone(folder: Path) -> AsyncIterator[Place]:
    """One server."""
    with keeping(folder) as server:
        async with Forwarder(server.socket) as way:
            yield Alone(server, folder, way)


@contextlib.asynccontextmanager
async def serving(place: Place, data: Path) -> AsyncIterator[Running]:
    """The service on a store that all may happen to; it was put by when the second circuit was open."""
    chosen = settings(map(plan, (OPEN, CLOSED, CALM)), data, store_url=place.url)
    async with running(chosen) as service:
        for name in (OPEN, CLOSED, CALM):
            await service.board.report(good(f"{name} good", target=name, seconds=0.0, source=Source.PROBE))
        await service.board.report(failed("refused", target=CLOSED, source=Source.PROBE, seconds=0.0, status=401))
        await becomes(service, CLOSED, State.OPEN)
        await place.remember()
        await service.board.report(good("taken again", target=CLOSED, source=Source.PROBE, seconds=0.0))
        for name in ("bad 1", "bad 2"):
            await service.board.report(failed(name, target=OPEN, source=Source.PROBE, seconds=0.0))
        await becomes(service, CLOSED, State.CLOSED)
        await becomes(service, OPEN, State.OPEN)
        yield service


async def becomes(service: Running, name: str, state: State) -> None:
    """Wait until a circuit is that."""
    await until(lambda: service.board.standing(name).state is state, within_s=240, what=f"{name} is {state}")


Kind = Callable[[Path], contextlib.AbstractAsyncContextManager[Place]]
KINDS: tuple[tuple[Kind, Iterable[Trouble[Any]]], ...] = (
    (alone, ALONE),
    (partial(behind, down_ms=DOWN_MS), BEHIND),
    (among, AMONG),
)
CASES = [pytest.param(made, trouble, id=trouble.name) for made, troubles in KINDS for trouble in troubles]


def known(place: Place) -> set[str]:
    """The ids of the reports that the store has counted."""
    with place.raw() as raw:
        return {name for target in (CLOSED, CALM) for name in raw.zrange(f"firstbyte:{{{target}}}:ids", 0, -1)}


async def found(place: Place) -> dict[str, Circuit]:
    """The circuits in the store."""
    store = RedisStore.from_url(place.behind, limit_s=5)
    circuits, _ = await store.circuits([OPEN, CLOSED, CALM])
    await store.close()
    return circuits


@pytest.mark.parametrize(("made", "trouble"), CASES)
async def test_agents_go_on_and_the_store_learns_all_once_it_is_back(
    folder: Path, made: Kind, trouble: Trouble[Place]
) -> None:
    async with made(folder) as place, serving(place, folder / "data") as service:
        opened = service.board.standing(OPEN).circuit
        agent = Agent(service)
        await agent.step()
        before = set(agent.sent)
        await trouble.begin(place)
        async with asyncio.timeout(100):
            for _ in range(STEPS):
                await agent.step()
            while trouble.gone and not agent.said[-1]["stale"]:
                await agent.step()
            while trouble.shows and (await service.client.get("/readyz")).status_code == 200:
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
            while (await service.client.get("/readyz")).status_code != 200:  # noqa: ASYNC110 # no event of ours
                await asyncio.sleep(0.02)

    assert {said["target"] for said in [*agent.said, after]} == {CLOSED}
    assert now[OPEN].open_until == pytest.approx(opened.open_until, abs=0.01)
    assert now[OPEN].cause is Cause.ERRORS
    assert circuits.state(now[CLOSED], now[OPEN].moved_at) is State.CLOSED
    assert sum(service.board.queue().dropped.values()) == 0
