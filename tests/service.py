"""The whole service for flows: simulated providers, a store of its own, a door on a free port."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

import httpx

from breaker.policy import Policy
from breaker.route import Route
from breaker.switchboard import Switchboard
from breaker.target import Provider, Target
from monitor.daemon import Ears, Parts, service
from monitor.listening import bind
from monitor.settings import Door, ProbeShape, Settings, TargetPlan
from monitor.simulator import Simulator


def faster(policy: Policy, by: float) -> Policy:
    """A policy with every time divided."""
    times = {f.name: getattr(policy, f.name) / by for f in fields(policy) if f.name.endswith("_s")}
    return replace(policy, **times)


def plan(providers: Simulator, name: str, policy: Policy, wire: str = "openai-chat", **more: object) -> TargetPlan:
    """A simulated target's plan."""
    provider, _, model = name.partition("/")
    asked = Provider(name=provider, base_url=providers.base_url(provider), wire=wire)
    return TargetPlan(target=Target(provider=asked, model=model), policy=policy, **more)  # type: ignore[arg-type]


def settings(plans: Iterable[TargetPlan], data: Path, *, store_url: str | None = None) -> Settings:
    """One route, `coder`, over all plans."""
    chosen = tuple(plans)
    route = Route(name="coder", targets=tuple(p.target for p in chosen))
    return Settings(targets=chosen, routes=(route,), door=Door(port=0), data=data, store_url=store_url)


@dataclass(frozen=True, kw_only=True)
class Running:
    """A running service and a client at its door."""

    board: Switchboard
    url: str
    client: httpx.AsyncClient

    async def route(self) -> dict[str, object]:
        """What `GET /route` says."""
        answer = await self.client.get("/route")
        answer.raise_for_status()
        said: dict[str, object] = answer.json()
        return said


@contextlib.asynccontextmanager
async def running(chosen: Settings, *, ears: Ears | None = None, parts: Parts | None = None) -> AsyncIterator[Running]:
    """A service that runs until the block ends."""
    listening = bind(chosen.door)
    async with service(chosen, {}, listening, ears=ears or Ears(), parts=parts or Parts()) as made:
        assert made.url is not None
        async with httpx.AsyncClient(base_url=made.url, trust_env=False, timeout=60) as client:
            yield Running(board=made.board, url=made.url, client=client)


async def until(true: Callable[[], bool], *, within_s: float, what: str) -> None:
    """Wait for a condition; fails with its name when the time is over."""
    try:
        async with asyncio.timeout(within_s):
            while not true():  # noqa: ASYNC110 # what is waited for has no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {within_s} s: {what}") from None


SMALL_PROBE = ProbeShape(prompt_tokens=1_000)
