"""Every server that is here, for tests in which its kind matters."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import folder, store, store_url
from tests.store_server import BINARIES, StoreServer

__all__ = ["each_server", "folder", "server", "store", "store_url"]


@pytest.fixture(scope="session", params=list(BINARIES.values()), ids=list(BINARIES))
def each_server(request: pytest.FixtureRequest) -> Iterator[StoreServer]:
    """One server of each kind for the whole run."""
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made,
        StoreServer(request.param, Path(made)) as running,
    ):
        yield running


@pytest.fixture
def server(each_server: StoreServer) -> StoreServer:
    """Each server in turn, empty."""
    with each_server.raw() as raw:
        raw.flushall()
        raw.script_flush()
    return each_server
