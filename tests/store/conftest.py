"""Every server that is here, alone, behind sentinels and in a cluster, for tests in which its kind matters."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.fixtures import folder, store, store_url
from tests.sentinels import Guard
from tests.store_server import BINARIES, StoreServer, emptied

__all__ = ["alone", "each_kind", "folder", "server", "store", "store_url"]

Kind = StoreServer | Guard | Cluster
Made = Callable[[Path], AbstractContextManager[Kind]]

KINDS: dict[str, Made] = {
    **{name: partial(StoreServer, binary) for name, binary in BINARIES.items()},
    "sentinels": Guard,
    "cluster": Cluster,
}


@pytest.fixture(scope="session", params=KINDS.values(), ids=list(KINDS))
def each_kind(request: pytest.FixtureRequest) -> Iterator[Kind]:
    """One of each kind for the whole run."""
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made, request.param(Path(made)) as running:
        yield running


@pytest.fixture(scope="session", params=BINARIES.values(), ids=list(BINARIES))
def _alone(request: pytest.FixtureRequest) -> Iterator[StoreServer]:
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made,
        StoreServer(request.param, Path(made)) as running,
    ):
        yield running


@pytest.fixture
def alone(_alone: StoreServer) -> StoreServer:
    """Each server in turn, alone and empty."""
    return emptied(_alone)


@pytest.fixture
def server(each_kind: Kind) -> Kind:
    """Each kind in turn, empty."""
    return emptied(each_kind)
