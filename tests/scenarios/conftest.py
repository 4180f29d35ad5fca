"""Names the scenarios and gives them a store."""

import pytest

from tests.fixtures import _worker_server, folder, own, server, store, store_url

__all__ = ["_worker_server", "folder", "own", "server", "store", "store_url"]


def pytest_configure(config: pytest.Config) -> None:
    """Let each test say which scenario it plays."""
    config.addinivalue_line("markers", "scenario(id): the row of docs/scenarios.md that this test plays")
