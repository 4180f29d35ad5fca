"""A real store for each test."""

from tests.fixtures import _worker_server, folder, server, store, store_url

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]
