"""A store and a switchboard for tests of the prober."""

from collections.abc import AsyncIterator

import pytest

from breaker.store.redis import RedisStore
from tests.fixtures import _worker_server, folder, server, store_url

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[RedisStore]:
    """An empty store that is patient with a busy machine."""
    made = RedisStore.from_url(store_url, limit_s=2.0)
    yield made
    await made.close()
