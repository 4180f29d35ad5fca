"""A door over a real server: each test has an empty one, a store and an app of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping

import httpx
import pytest
import uvloop
from fastapi import FastAPI

from breaker.api import Access, Besides, create_app
from breaker.api.notices import Spent
from breaker.errors import StoreGoneError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard, snapshot
from tests.api.world import ROUTES, URL
from tests.boards import kept_fresh
from tests.fixtures import _worker_server, server
from tests.store_server import StoreServer

__all__ = ["_worker_server", "app", "door", "routes", "server", "store", "switchboard"]

SPENT = Spent(provider="zai", tokens=1_290_331, usd=0.58, share=0.12)


async def spent() -> list[Spent]:
    return [SPENT]


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What the server's own protocol does is shown on the service's loop too, which reads and writes otherwise."""
    fast = {"uvloop": uvloop.new_event_loop} if item.path.stem.startswith(("test_lane", "test_connection")) else {}
    return {"asyncio": asyncio.new_event_loop, **fast}


@pytest.fixture
async def store(server: StoreServer) -> AsyncIterator[RedisStore]:
    """A store that gives up within seconds, since tests take its server away."""
    made = RedisStore.from_url(server.url, limit_s=2.0)
    yield made
    await made.close()


@pytest.fixture
def routes() -> tuple[Route, ...]:
    return ROUTES


@pytest.fixture
async def switchboard(store: RedisStore, routes: tuple[Route, ...]) -> Switchboard:
    policies = {target.name: Policy() for route in routes for target in route.targets}
    made = Switchboard(store, routes, policies)
    async with asyncio.timeout(60):
        while made.age_s() is None:  # a busy machine may have no answer within the limit
            with contextlib.suppress(StoreGoneError):
                await made.refresh()
    return made


@pytest.fixture
async def keeping(switchboard: Switchboard, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Task[None]]:
    """What keeps the switchboard fresh; a busy machine, which does so too late, calls nothing stale."""
    for name in ("STALE_AFTER_S", "OLD_AFTER_S"):
        monkeypatch.setattr(snapshot, name, 3600.0)
    async with kept_fresh(switchboard) as task:
        yield task


@pytest.fixture
def app(switchboard: Switchboard) -> FastAPI:
    return create_app(switchboard, access=Access(), besides=Besides(spent=spent))


@pytest.fixture
async def door(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        yield client
