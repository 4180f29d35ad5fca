"""Killed without warning, everything goes on where it was."""

import os
import re
import signal
import time
from pathlib import Path

import httpx

from monitor.simulator import Simulator
from tests.processes import Started, environment, started, using

CONFIG = """
policy: {{interval_s: 2, jitter_s: 0, confirm_s: 0.1, half_open_s: 1, slow_s: 3, silence_s: 4, hold_s: 400}}
probe: {{prompt_tokens: 500}}
providers:
  first: {{base_url: {first}, wire: openai-chat, models: {{m: {{}}}}}}
  second: {{base_url: {second}, wire: anthropic-messages, models: {{m: {{}}}}}}
routes: {{coder: [first/m, second/m]}}
"""


async def where_to(service: Started) -> tuple[dict[str, object], float, float]:
    """What `GET /route` says, and between which moments."""
    url = (await service.line(r"listening at (http://\S+)"))[1]
    began = time.monotonic()
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        return (await client.get(f"{url}/route")).json(), began, time.monotonic()


async def test_an_open_circuit_survives_kill_9_of_the_service_and_its_store(tmp_path: Path) -> None:
    """After the restart the backup is still the answer, with the remaining time right to a second."""
    data, config = tmp_path / "data", tmp_path / "firstbyte.yaml"
    async with Simulator({"first/m": "http_error,status=500", "second/m": "healthy"}) as providers:
        config.write_text(
            CONFIG.format(first=providers.base_url("first"), second=providers.base_url("second")), encoding="utf-8"
        )
        async with started("run", env=environment(data), cwd=tmp_path) as service:
            await service.line(r"first/m: closed -> open")
            before, *first = await where_to(service)
            for pid in [service.pid, *using(data)]:
                os.kill(pid, signal.SIGKILL)

        async with started("run", env=environment(data), cwd=tmp_path) as service:
            after, *again = await where_to(service)
            service.send(signal.SIGTERM)
            assert await service.end() == 0

    assert (before["target"], before["role"], before["reason"]) == ("second/m", "backup", "errors")
    assert (after["target"], after["role"], after["reason"]) == ("second/m", "backup", "errors")
    left = [said["until_s"] for said in (before, after)]
    assert isinstance(left[0], float)
    assert isinstance(left[1], float)
    assert again[0] - first[1] - 1.0 < left[0] - left[1] < again[1] - first[0] + 1.0
    assert using(data) == []


async def test_a_store_that_outlived_its_service_is_used_and_then_ended(tmp_path: Path) -> None:
    """An orphan of the last run hinders nobody and doesn't stay behind."""
    data = tmp_path / "data"
    async with Simulator({"first/m": "healthy", "second/m": "healthy"}) as providers:
        text = CONFIG.format(first=providers.base_url("first"), second=providers.base_url("second"))
        (tmp_path / "firstbyte.yaml").write_text(text, encoding="utf-8")
        async with started("run", env=environment(data), cwd=tmp_path) as service:
            await service.line("listening at")
            service.send(signal.SIGKILL)
        orphans = using(data)

        async with started("run", env=environment(data), cwd=tmp_path) as service:
            await service.line("listening at")
            same = using(data)
            service.send(signal.SIGTERM)
            await service.end()

    assert len(orphans) == 1
    assert same == orphans
    assert using(data) == []
    assert not any(re.search("Traceback", line) for line in service.said)
