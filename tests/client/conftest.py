"""A store that each test finds empty, and services over it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from breaker.api import Access
from tests.client.serving import Process, Service
from tests.fixtures import _worker_server, server
from tests.store_server import StoreServer

__all__ = ["_worker_server", "server"]


@pytest.fixture
def service(server: StoreServer) -> Iterator[Service]:
    with Service(server.url) as found:
        yield found


@pytest.fixture
def url(service: Service) -> str:
    return service.url


@pytest.fixture
def guarded(server: StoreServer) -> Iterator[str]:
    with Service(server.url, Access(agent_token="agent-secret", admin_token="admin-secret")) as found:
        yield found.url


@pytest.fixture
def start(server: StoreServer) -> Iterator[Callable[[int], Process]]:
    """Starts a service as a process, on a port."""
    with ExitStack() as ends:

        def started(port: int) -> Process:
            made = Process(server.url, port)
            ends.callback(made.kill)
            return made

        yield started
