"""One browser for all tests of the page, and a store that they may kill."""

from collections.abc import Iterator

import pytest

from tests.browser import Browser, started
from tests.fixtures import _worker_server, server

__all__ = ["_worker_server", "browser", "server"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as made:
        yield made
