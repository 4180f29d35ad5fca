"""A store for tests that run the service in their own process."""

from tests.fixtures import _worker_server, server, store_url

__all__ = ["_worker_server", "server", "store_url"]
