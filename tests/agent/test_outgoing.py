"""The transport that is used where a caller gives none."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from breaker.client.transport import AsyncTransport, Transport
from monitor.simulator import Simulator
from tests.agent.faces import HELLO
from tests.agent.test_sending import ANSWER, Echo, echo
from tests.agent.world import FINE, PATIENT, World
from tests.client.serving import nobody
from tests.processes import environment

FAMILIES = pytest.mark.parametrize("family", [httpx, httpx2], ids=["httpx", "httpx2"])
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class Far(World):
    """Its target is on a host that only a proxy can reach."""

    def route(self, name: str | None = None) -> Any:
        from dataclasses import replace

        return replace(super().route(name), base_url="http://far.invalid/v1")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def asked(family: Any, made: Echo, *, awaits: bool, far: bool) -> Any:
    world = (Far if far else World)(made)
    body = {"model": "any", "messages": []}
    url = "http://nowhere.invalid/v1/chat/completions"
    if awaits:
        async with family.AsyncClient(transport=AsyncTransport(guide=world, limits=PATIENT)) as client:
            return await client.post(url, json=body)

    def block() -> Any:
        with family.Client(transport=Transport(guide=world, limits=PATIENT)) as client:
            return client.post(url, json=body)

    return await asyncio.to_thread(block)


_FORKING = """
import os, httpx2
from breaker.client import Firstbyte
from breaker.client.transport import Transport

with Firstbyte("{nobody}", fallback=[{{"target": "a/m", "base_url": "{base_url}", "wire": "openai-chat"}}]) as guide:
    client = httpx2.Client(transport=Transport(guide=guide))
    ask = lambda: client.post("http://nowhere.invalid/v1/chat/completions", json={body}).raise_for_status()
    ask()
    child = os.fork()
    ask()
    if child:
        assert os.waitpid(child, 0)[1] == 0
    os._exit(0)
"""


async def test_a_process_that_was_forked_opens_connections_of_its_own(tmp_path: Path) -> None:
    async with Simulator({"a/m": FINE}, seed=1) as simulator, asyncio.timeout(60):
        body = {"model": "any", "messages": HELLO}
        script = _FORKING.format(nobody=nobody(), base_url=simulator.base_url("a"), body=body)
        env = environment(tmp_path)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, env=env)
        assert await process.wait() == 0

        assert (simulator.asked("a/m").count, simulator.accepted("a")) == (3, 2)


@FAMILIES
async def test_no_step_waits_for_the_connection_of_another(family: Any) -> None:
    """More streams at once than the clients' own hundred."""
    at_once = 110
    body = {"model": "any", "messages": HELLO, "stream": True}
    async with (
        Simulator({"a/m": "headers_only"}, seed=1) as simulator,
        family.AsyncClient(transport=AsyncTransport(guide=World(simulator), limits=PATIENT)) as client,
        asyncio.timeout(60),
    ):
        url = "http://nowhere.invalid/v1/chat/completions"
        steps = [asyncio.create_task(client.post(url, json=body)) for _ in range(at_once)]
        asked = await simulator.until_asked("a/m", at_once)
        for step in steps:
            step.cancel()
        await asyncio.gather(*steps, return_exceptions=True)

    assert asked.count == at_once


@pytest.mark.parametrize("awaits", [True, False])
@FAMILIES
async def test_without_a_proxy_it_asks_directly(family: Any, awaits: bool) -> None:
    async with echo() as made:
        response = await asked(family, made, awaits=awaits, far=False)

    assert response.json() == json.loads(ANSWER)
    assert made.heads[0].startswith("POST /base/v1/chat/completions ")


@pytest.mark.parametrize("awaits", [True, False])
@FAMILIES
async def test_it_asks_by_the_proxy_that_the_environment_names(
    family: Any, awaits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with echo() as made:
        monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{made.port}")
        response = await asked(family, made, awaits=awaits, far=True)

    assert response.json() == json.loads(ANSWER)
    assert made.heads[0].startswith("POST http://far.invalid/v1/chat/completions ")


async def test_hosts_that_need_no_proxy_are_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echo() as made:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        response = await asked(httpx, made, awaits=True, far=False)

    assert response.json() == json.loads(ANSWER)
