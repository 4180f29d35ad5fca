"""One browser and one killable store for all tests of the page."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.server import Server
from tests.browser import Browser, started


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    # Not tmp_path: a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as folder:
        made = Server(Path(folder))
        yield made
        made.kill()


@pytest.fixture
def server(_server: Server) -> Server:
    _server.fresh()
    return _server
