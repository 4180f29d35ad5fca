"""Measures for how long one scrape holds the event loop, in this process and with nothing else to do."""

import asyncio
import statistics
import time
from pathlib import Path

import httpx
from prometheus_client import make_asgi_app
from starlette.types import ASGIApp

from breaker.policy import Policy
from breaker.target import Provider, Target
from monitor.metrics import Metrics
from monitor.settings import Settings, TargetPlan

ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"


def held_ms(targets: int, rounds: int) -> dict[str, float]:
    """The median of the longest hold in each round: of a loop with nothing to do, and of each way to render."""
    metrics = _metrics(targets)
    ways: dict[str, ASGIApp | None] = {
        "nothing": None,
        "in the loop": make_asgi_app(metrics.registry, disable_compression=True),
        "as the service does": metrics.asgi(),
    }
    held: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, app in ways.items():
            held[name].append(1e3 * asyncio.run(_held_s(app)))
    return {name: statistics.median(times) for name, times in held.items()}


def _metrics(targets: int) -> Metrics:
    providers = [Provider(name=f"p{i}", base_url="http://127.0.0.1/v1", wire="openai-chat") for i in range(targets)]
    plans = tuple(TargetPlan(target=Target(provider=one, model="m"), policy=Policy()) for one in providers)
    return Metrics(Settings(targets=plans, routes=(), data=Path("/nowhere")))


async def _held_s(app: ASGIApp | None) -> float:
    """The longest time between two turns of the loop during a scrape, or during a tenth of a second without one."""
    work = asyncio.create_task(_scrape(app) if app is not None else asyncio.sleep(0.1))
    longest_s, last = 0.0, time.perf_counter()
    while not work.done():
        await asyncio.sleep(0)
        longest_s, last = max(longest_s, time.perf_counter() - last), time.perf_counter()
    await work
    return longest_s


async def _scrape(app: ASGIApp) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://firstbyte") as client:
        (await client.get("/metrics", headers={"accept": ACCEPT})).raise_for_status()
