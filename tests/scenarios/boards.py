"""Replicas of the service on one real store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from breaker.circuit import Move
from breaker.policy import Policy
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Listeners, Switchboard
from tests.fixtures import PATIENT_S
from tests.scenarios.story import BACKUP, PRIMARY, ROUTE
from tests.store.answers import failed
from tests.store_server import StoreServer

FIRST, SECOND = PRIMARY, BACKUP


class Heard:
    """What the listeners of all replicas were told."""

    def __init__(self) -> None:
        self.judged: list[Judged] = []
        self.moved: list[tuple[str, Move]] = []

    def listeners(self) -> Listeners:
        """Those that keep it."""
        return Listeners(judged=(self.judged.append,), moved=(lambda t, m: self.moved.append((t, m)),))


def board_over(store: RedisStore, policy: Policy | None = None, heard: Heard | None = None) -> Switchboard:
    """A replica that has read nothing yet."""
    chosen = policy or Policy()
    listeners = heard.listeners() if heard else Listeners()
    return Switchboard(store, [ROUTE], {FIRST.name: chosen, SECOND.name: chosen}, listeners)


async def tripped(board: Switchboard, target: str = FIRST.name) -> float:
    """Open a target's circuit by two failed reports; gives the end of its hold, store's time."""
    for name in ("trip-1", "trip-2"):
        await board.report(failed(name, target=target))
    ends = board.standing(target).circuit.open_until
    assert ends is not None
    return ends


@asynccontextmanager
async def stores_over(server: StoreServer, count: int) -> AsyncIterator[list[RedisStore]]:
    """A connection of its own for each replica."""
    made = [RedisStore.from_url(server.url, limit_s=PATIENT_S) for _ in range(count)]
    try:
        yield made
    finally:
        for one in made:
            await one.close()
