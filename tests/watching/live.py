"""A Prometheus that watches a service with providers of all kinds, until every part has had something to tell."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from monitor.simulator import Simulator
from tests.processes import ROOT, environment, free_port, started

CONFIG = """\
policy:
  {{slow_s: 0.8, hold_s: 2, interval_s: 1, jitter_s: 0, confirm_s: 0.2, half_open_s: 0.4, silence_s: 2, wary_s: 1}}
probe: {{prompt_tokens: 1000}}
providers:
  good: {{base_url: {good}, wire: openai-chat, budget: {{tokens_per_day: 90_000_000}},
    models: {{m: {{price: {{input_usd: 1, output_usd: 2}}}}}}}}
  slow: {{base_url: {slow}, wire: openai-chat, models: {{m: {{}}}}}}
  refusing: {{base_url: {refusing}, wire: openai-responses, models: {{m: {{}}}}}}
  lying: {{base_url: {lying}, wire: anthropic-messages, models: {{m: {{}}}}}}
  flapping: {{base_url: {flapping}, wire: gemini, models: {{m: {{}}}}}}
routes:
  coder: [good/m, flapping/m, slow/m]
  broken: [refusing/m, lying/m]
"""
PROMETHEUS = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{rules}/recording.yml, {rules}/alerts.yml]
scrape_configs:
  - job_name: firstbyte
    static_configs: [{{targets: ["{address}"]}}]
"""
WELL = "first_byte_after,after_s=0.05,tokens_per_s=2000,headers_s=0.01"
BEHAVIOURS = {
    "good/m": WELL,
    "slow/m": "first_byte_after,after_s=1.2,tokens_per_s=2000,headers_s=0.01",
    "refusing/m": "http_error,status=503",
    "lying/m": "gateway_text",
    "flapping/m": WELL,
}
# What must have happened before all queries have an answer.
HAPPENED = (
    'sum(increase(firstbyte_circuit_moves_total{cause="manual"}[30s])) > 0',
    'sum(increase(firstbyte_circuit_moves_total{cause="recovered"}[30s])) > 0',
    "count(firstbyte_circuit_last_move_timestamp_seconds) >= 4",
    "count(increase(firstbyte_probes_total[30s]) > 3) == 5",
    "sum(increase(firstbyte_probes_skipped_total[30s])) > 0",
    'sum(increase(firstbyte_route_requests_total{role="last_resort"}[30s])) > 0',
    "sum(increase(firstbyte_reports_total[30s])) > 0",
    "sum(increase(firstbyte_run_decisions_total[30s])) > 0",
    "sum(increase(firstbyte_run_operations_total[30s])) > 0",
    "sum(increase(firstbyte_completions_prevented_total[30s])) > 0",
    "changes(firstbyte_config_last_reload_success_timestamp_seconds[30s]) > 0",
    'count(ALERTS{alertname="FirstbyteRouteHasNoTarget", route="broken"})',
    "count(firstbyte_probe_last_first_byte_seconds) >= 2",
)


class Watched:
    """A Prometheus that watches a service."""

    def __init__(self, client: httpx.AsyncClient, service: str) -> None:
        self._client = client
        self.service = service

    async def asks(self, path: str, **asked: object) -> Any:
        """What Prometheus answers; the error that it has otherwise."""
        answer = await self._client.get(f"/api/v1/{path}", params={key: str(value) for key, value in asked.items()})
        said = answer.json()
        assert said["status"] == "success", (said["error"], asked)
        return said["data"]

    async def sees(self, expr: str) -> bool:
        """Whether an expression has a value by now."""
        try:
            return bool((await self.asks("query", query=expr))["result"])
        except httpx.HTTPError:
            return False  # it hasn't begun

    async def series(self, expr: str) -> list[tuple[dict[str, str], list[float]]]:
        """Each series of an expression over the last seconds, with its labels and values."""
        now = time.time()
        found = (await self.asks("query_range", query=expr, start=now - 25, end=now, step=1))["result"]
        return [(each["metric"], [float(value) for _, value in each["values"]]) for each in found]


@dataclass(frozen=True)
class Stage:
    """A service with simulated providers, the Prometheus that watches it, and an agent's connections."""

    seen: Watched
    agent: httpx.AsyncClient
    simulator: Simulator


@contextlib.asynccontextmanager
async def staged(folder: Path, config: str, behaviours: Mapping[str, str]) -> AsyncIterator[Stage]:
    """Start all of it, `{provider}` filled in, with its files in the folder, and wait until Prometheus has seen it."""
    env = environment(folder / "data")
    address, port = f"127.0.0.1:{env['FIRSTBYTE_PORT']}", free_port()
    rules = ROOT / "deploy" / "prometheus"
    (folder / "prometheus.yml").write_text(PROMETHEUS.format(rules=rules, address=address))
    watcher = (
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--enable-feature=exemplar-storage",
        "--log.level=error",
    )
    async with Simulator(behaviours) as simulator:
        urls = {name.partition("/")[0]: simulator.base_url(name.partition("/")[0]) for name in behaviours}
        (folder / "firstbyte.yaml").write_text(config.format(**urls))
        async with (
            started("run", env=env, cwd=folder) as service,
            started(env={}, cwd=folder, command=watcher),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
            httpx.AsyncClient(base_url=f"http://{address}", trust_env=False, timeout=60) as agent,
        ):
            await service.line("listening at", within_s=240)
            seen = Watched(client, f"http://{address}")
            async with asyncio.timeout(150):
                while not await seen.sees(f"count(firstbyte_probes_total) == {len(behaviours)}"):  # noqa: ASYNC110 # it has no event
                    await asyncio.sleep(0.1)
            yield Stage(seen, agent, simulator)


@contextlib.asynccontextmanager
async def watching(folder: Path) -> AsyncIterator[Watched]:
    """A service with providers of all kinds whose every part has had something to tell; its files lie in the folder."""
    async with staged(folder, CONFIG, BEHAVIOURS) as stage:
        async with asyncio.timeout(150):
            await live(stage.seen, stage.agent, stage.simulator)
        yield stage.seen


async def live(seen: Watched, agent: httpx.AsyncClient, simulator: Simulator) -> None:
    """Let agents and people do what they do until all of it has been seen."""
    hold = {"who": "a test", "why": "to be seen", "for_s": 1}
    left = list(HAPPENED)
    for turn in itertools.count():
        await simulator.set("flapping/m", WELL if turn % 24 >= 8 else "http_error,status=500")
        for route in ("coder", "broken"):
            (await agent.get("/route", params={"route": route})).raise_for_status()
        report = {"id": f"step-{turn}", "target": "good/m", "ended": "complete", "status": 200, "seconds": 2.0}
        # On a busy machine the store may miss its limit; then the next turn tells it anew.
        await agent.post("/reports", json={**report, "first_byte_s": 0.4, "text_chars": 9})
        run, step = f"/runs/task-{turn}", {"seq": 1, "text_chars": 9 * (turn % 2), "finish": "stop", "end_mark": True}
        await agent.post(f"{run}/steps", json={**report, **step, "id": f"last-{turn}"})
        await agent.post(f"{run}/operations", json={"id": "a", "seq": 0, "tool": "a", "state": "succeeded"})
        await agent.get(f"{run}/done")
        if turn % 10 == 5:
            await agent.post("/circuit/open", params={"target": "good/m"}, json=hold)
            await agent.post("/-/reload")
        left = [expr for expr in left if not await seen.sees(expr)]
        if not left and turn > 40:  # some seconds of everything
            return
        await asyncio.sleep(0.1)
