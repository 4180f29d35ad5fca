"""Replicas of the service on one real store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from breaker.policy import Policy
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from tests.boards import Heard, replica_over
from tests.fixtures import PATIENT_S
from tests.scenarios.story import BACKUP, PRIMARY, ROUTE
from tests.store.answers import failed
from tests.store_server import StoreServer

FIRST, SECOND = PRIMARY, BACKUP


def board_over(store: RedisStore, policy: Policy | None = None, heard: Heard | None = None) -> Switchboard:
    """A replica that has read nothing yet."""
    return replica_over(store, ROUTE, policy, heard)


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
