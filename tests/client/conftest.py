"""A store that each test finds empty, and services over it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from breaker.api import Access
from tests.api.server import Server
from tests.client.serving import Process, Service


@pytest.fixture(scope="module")
def kept_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("s"))
    yield made
    made.kill()


@pytest.fixture
def server(kept_server: Server) -> Server:
    kept_server.fresh()
    return kept_server


@pytest.fixture
def service(server: Server) -> Iterator[Service]:
    with Service(server.url) as found:
        yield found


@pytest.fixture
def url(service: Service) -> str:
    return service.url


@pytest.fixture
def guarded(server: Server) -> Iterator[str]:
    with Service(server.url, Access(agent_token="agent-secret", admin_token="admin-secret")) as found:
        yield found.url


@pytest.fixture
def start(server: Server) -> Iterator[Callable[[int], Process]]:
    """Starts a service as a process, on a port."""
    with ExitStack() as ends:

        def started(port: int) -> Process:
            made = Process(server.url, port)
            ends.callback(made.kill)
            return made

        yield started
