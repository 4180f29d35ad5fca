"""Learns what decides among targets, so that a client can go on by itself."""

from __future__ import annotations

import asyncio
import random
import time

from breaker.client import plan
from breaker.client.alone import Alone
from breaker.client.asking import backing_off
from breaker.client.keeping import Book
from breaker.client.link import Link
from breaker.client.said import parsed
from breaker.errors import DoorError

# What decides is read again after this, and soon after a circuit has moved; not by all agents at once.
_AGAIN_S, _SOON_S = 300.0, 5.0


async def learn(link: Link, book: Book, alone: Alone, moved: asyncio.Event) -> None:
    """Keep the plan up to date, for as long as this runs; `moved` says that it isn't."""
    book.learn(alone)
    failures = 0
    while True:
        moved.clear()
        try:
            reply = await link.ask("GET", "/routes")
            book.told(plan.read(parsed(reply.body) or {}, time.monotonic()))
            failures = 0
        except (DoorError, *plan.UNREADABLE):
            failures += 1
        await _until(moved, backing_off(failures) * 5 if failures else _AGAIN_S)


async def _until(moved: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds * random.uniform(0.8, 1.2)):  # noqa: S311 # spreads agents
            await moved.wait()
            await asyncio.sleep(random.uniform(0.0, _SOON_S))  # noqa: S311 # spreads agents
    except TimeoutError:
        pass
