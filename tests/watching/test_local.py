"""`deploy/local.sh` as a user starts it: a provider that dies becomes one message."""

import asyncio
import json
import re
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from monitor.simulator import Simulator
from tests.processes import ROOT, Started, environment, free_port, started, using

SCRIPT = str(ROOT / "deploy" / "local.sh")
CONFIG = """\
policy: {{slow_s: 2, hold_s: 60, interval_s: 1, jitter_s: 0, confirm_s: 0.2, half_open_s: 1, silence_s: 4}}
probe: {{prompt_tokens: 1000}}
providers:
  one: {{base_url: {one}, wire: openai-chat, models: {{m: {{}}}}}}
  two: {{base_url: {two}, wire: openai-chat, models: {{m: {{}}}}}}
control: [{control}]
routes: {{coder: [one/m, two/m]}}
"""


def quicker(folder: Path) -> Path:
    """The shipped configuration of Prometheus, with each wait cut short."""
    shutil.copytree(ROOT / "deploy" / "prometheus", folder)
    for name in ("prometheus.yml", "alerts.yml"):
        text = (folder / name).read_text()
        (folder / name).write_text(re.sub(r"(_interval|for): \d+\w", r"\1: 1s", text))
    return folder


def receivers(folder: Path, port: int) -> Path:
    """The shipped configuration of Alertmanager, with a receiver of ours and no patience."""
    text = (ROOT / "deploy" / "alertmanager" / "alertmanager.yml").read_text()
    text = text.replace("127.0.0.1:9095", f"127.0.0.1:{port}")
    (folder / "alertmanager.yml").write_text(re.sub(r"group_(wait|interval): \d+\w", r"group_\1: 1s", text))
    return folder / "alertmanager.yml"


class Receiver(ThreadingHTTPServer):
    """Who gets Alertmanager's messages: each alert's name and what became of it, in their order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Reader)
        self.told: list[tuple[str, str]] = []


class _Reader(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.told += [(alert["labels"]["alertname"], alert["status"]) for alert in message["alerts"]]
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # as the base class calls it
        """Say nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def until(met: Callable[[], Awaitable[object]], what: str) -> None:
    """Wait for a condition that has to be asked for."""
    try:
        async with asyncio.timeout(90):
            while not await met():  # noqa: ASYNC110 # what is waited for has no event
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"not in time: {what}") from None


async def test_a_route_without_a_target_is_told_once_by_two_replicas(tmp_path: Path, receiver: Receiver) -> None:
    env = environment(tmp_path / "data")
    ports = {"PROMETHEUS_PORT": str(free_port()), "ALERTMANAGER_PORT": str(free_port())}
    env |= ports | {"PROMETHEUS_CONFIG": str(quicker(tmp_path / "quicker"))}
    env |= {"ALERTMANAGER_CONFIG": str(receivers(tmp_path, receiver.server_port))}
    other = {**env, "FIRSTBYTE_PORT": str(free_port())}
    names = ("one/m", "two/m")
    async with Simulator(names) as simulator, httpx.AsyncClient(trust_env=False, timeout=60) as client:
        urls = {name: simulator.base_url(name) for name in ("one", "two")}
        (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(**urls, control=f"127.0.0.1:{receiver.server_port}"))
        async with (
            started(env=env, cwd=tmp_path, command=(SCRIPT,)) as script,
            started("run", env=other, cwd=tmp_path) as replica,
        ):
            for each in (script, replica):
                await each.line("listening at", within_s=240)
            replicas = [f"127.0.0.1:{one['FIRSTBYTE_PORT']}" for one in (env, other)]
            (tmp_path / "data/prometheus/config/targets.yml").write_text(json.dumps([{"targets": replicas}]))

            async def sees(expr: str) -> bool:
                url = f"http://127.0.0.1:{ports['PROMETHEUS_PORT']}/api/v1/query"
                try:
                    return bool((await client.get(url, params={"query": expr})).json()["data"]["result"])
                except httpx.HTTPError:
                    return False

            async def firing() -> list[Any]:
                url = f"http://127.0.0.1:{ports['ALERTMANAGER_PORT']}/api/v2/alerts"
                found: list[Any] = (await client.get(url)).json()
                return [each for each in found if each["labels"]["alertname"] == "FirstbyteRouteHasNoTarget"]

            await until(lambda: sees('count(up{job="firstbyte"} == 1) == 2'), "two replicas are scraped")
            await until(lambda: sees("min(firstbyte_route_targets_available) == 2"), "all is well")
            for name in names:
                await simulator.set(name, "refused")
            await until(firing, "the alert has come to Alertmanager")
            await until(lambda: _told(receiver), "somebody is told")
            assert len(await firing()) == 1
            await simulator.set("one/m", "healthy")
            await until(lambda: _closed(client, replicas[1]), "a circuit is closed by hand")
            await until(lambda: _told(receiver, "resolved"), "somebody is told that it is over")
            await _end(script)
        left = using(tmp_path)

    about = [status for name, status in receiver.told if name == "FirstbyteRouteHasNoTarget"]
    assert about == ["firing", "resolved"]
    assert left == []


async def _told(receiver: Receiver, status: str = "firing") -> bool:
    return ("FirstbyteRouteHasNoTarget", status) in receiver.told


async def _closed(client: httpx.AsyncClient, replica: str) -> bool:
    """Send agents back before the hold's end; on a busy machine the store may miss its limit."""
    asked = {"who": "a test", "why": "it is well", "for_s": 600}
    answer = await client.post(f"http://{replica}/circuit/close", params={"target": "one/m"}, json=asked)
    return answer.is_success


async def _end(script: Started) -> None:
    script.send(signal.SIGTERM)
    assert await script.end(within_s=240) == 0
