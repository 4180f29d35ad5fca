"""Measures for how long a scrape of 100 targets holds the event loop: rendered in it, and as the service does.

Run it as `python -m benchmarks.scrapes`; it takes ten seconds. The two take turns; the bar holds for the medians. How
long a loop with nothing to do is held on the same machine stands beside them.
"""

import asyncio
import statistics
import sys
import time
from pathlib import Path

import httpx
from prometheus_client import make_asgi_app
from starlette.types import ASGIApp

from benchmarks._machine import machine
from breaker.policy import Policy
from breaker.target import Provider, Target
from monitor.metrics import Metrics
from monitor.settings import Settings, TargetPlan

TARGETS = 100
ROUNDS = 15
# So much less than in the loop, at least.
LEAST_RATIO = 3.0


def main() -> int:
    """Print the table; 1 where the bar is missed."""
    print(f"{machine()}\n")
    metrics = _metrics()
    ways: dict[str, ASGIApp | None] = {
        "nothing": None,
        "in the loop": make_asgi_app(metrics.registry, disable_compression=True),
        "as the service does": metrics.asgi(),
    }
    held: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, app in ways.items():
            held[name].append(asyncio.run(_held_s(app)))
    for name, times in held.items():
        print(f"{name:<20} median {1e3 * statistics.median(times):6.1f} ms, best {1e3 * min(times):6.1f} ms")
    ratio = statistics.median(held["in the loop"]) / statistics.median(held["as the service does"])
    print(f"\nthe loop is held {ratio:.1f} times shorter; the bar: {LEAST_RATIO:g} times")
    return 1 if ratio < LEAST_RATIO else 0


def _metrics() -> Metrics:
    providers = [Provider(name=f"p{i}", base_url="http://127.0.0.1/v1", wire="openai-chat") for i in range(TARGETS)]
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
        (await client.get("/metrics")).raise_for_status()


if __name__ == "__main__":
    sys.exit(main())
