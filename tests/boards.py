"""A replica of the service over a store, and what its listeners were told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

from breaker.circuit import Move
from breaker.errors import StoreError, StoreGoneError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Listeners, Switchboard


class Heard:
    """What the listeners were told, of one replica or of several."""

    def __init__(self) -> None:
        self.judged: list[Judged] = []
        self.moved: list[tuple[str, Move]] = []

    def listeners(self) -> Listeners:
        """Those that keep it."""
        return Listeners(judged=(self.judged.append,), moved=(lambda t, m: self.moved.append((t, m)),))


def replica_over(store: RedisStore, route: Route, policy: Policy | None, heard: Heard | None) -> Switchboard:
    """A replica that has read nothing yet, with one policy for all targets of its route."""
    policies = dict.fromkeys((target.name for target in route.targets), policy or Policy())
    return Switchboard(store, [route], policies, heard.listeners() if heard else Listeners())


def believe(board: Switchboard, ahead_s: float) -> None:
    """Let a replica believe that the store's clock is so much further ahead."""
    clock = board._snapshot.clock
    assert clock is not None
    ahead = replace(clock, least_s=clock.least_s + ahead_s, most_s=clock.most_s + ahead_s)
    board._snapshot.clock = ahead


def pass_time(board: Switchboard, seconds: float) -> None:
    """Let a replica believe that so much time has gone by since its last read."""
    assert board._snapshot._read_at is not None
    board._snapshot._read_at -= seconds
    believe(board, seconds)


async def answering(board: Switchboard) -> None:
    """Refresh until the store answers again, and what waited has been sent."""
    async with asyncio.timeout(60):
        while True:
            try:
                await board.refresh()
            except StoreGoneError:
                await asyncio.sleep(0.02)
            else:
                break
    await board.drain(60)


@contextlib.asynccontextmanager
async def kept_fresh(board: Switchboard, every_s: float = 0.2) -> AsyncIterator[asyncio.Task[None]]:
    """The task that reads a board again and again until the block ends: however slow a test is, it is not stale."""

    async def forever() -> None:
        while True:
            with contextlib.suppress(StoreError):
                await board.refresh()
            await asyncio.sleep(every_s)

    keeping = asyncio.create_task(forever())
    try:
        yield keeping
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
