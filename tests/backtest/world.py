"""A real Prometheus for tests, and an exporter that shows the service's own metrics."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import httpx
from prometheus_client import CollectorRegistry, make_wsgi_app

from breaker.policy import Policy
from breaker.target import Provider, Target
from breaker.verdict import judge
from monitor.backtest import Step
from monitor.metrics import names
from monitor.metrics.target import Collectors, TargetMetrics
from monitor.settings import TargetPlan
from tests.processes import free_port, started

CONFIG = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: firstbyte
    static_configs: [{{targets: ["{exporter}"]}}]
"""


class Exporter:
    """The metrics of some targets, as the service shows them to whoever scrapes."""

    def __init__(self, address: str, registry: CollectorRegistry, targets: tuple[str, ...]) -> None:
        self.address = address
        collectors = Collectors(registry)
        self._targets = {name: TargetMetrics(collectors, _plan(name)) for name in targets}
        self._count = 0

    def started(self, target: str) -> None:
        """A probe began."""
        self._targets[target].started(0.0)

    def probed(self, target: str, step: Step, *, stalled: bool = False) -> None:
        """A probe came to its end just now."""
        self._count += 1
        answer = dataclasses.replace(step.final_part(str(self._count)), suspect_timing=stalled)
        self._targets[target].probed(answer, judge(answer))


def _plan(name: str) -> TargetPlan:
    provider, _, model = name.partition("/")
    made = Provider(name=provider, base_url="http://127.0.0.1/v1", wire="openai-chat")
    return TargetPlan(target=Target(provider=made, model=model), policy=Policy())


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # as the base class calls it
        """Say nothing."""


@contextlib.contextmanager
def exporting(*targets: str) -> Iterator[Exporter]:
    """An exporter on a port of its own."""
    registry = CollectorRegistry()
    with make_server("127.0.0.1", 0, make_wsgi_app(registry), handler_class=_Quiet) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Exporter(f"127.0.0.1:{server.server_port}", registry, targets)
        finally:
            server.shutdown()
            thread.join()


class Prometheus:
    """A running Prometheus and what it has stored."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self.url = url
        self._client = client

    async def scraped(self) -> None:
        """Wait until it has looked again, wholly after this moment."""
        newest = await self._scraped_at()
        for _ in range(2):  # a look that had begun before says nothing
            since = newest
            async with asyncio.timeout(120):
                while newest == since:
                    await asyncio.sleep(0.02)
                    newest = await self._scraped_at()

    async def _scraped_at(self) -> float | None:
        asked = {"query": f"max(timestamp({names.SLOW_LIMIT.name}))"}
        with contextlib.suppress(httpx.HTTPError):
            answer = await self._client.get("/api/v1/query", params=asked)
            if answer.status_code == 200 and (found := answer.json()["data"]["result"]):
                return float(found[0]["value"][1])
        return None


@contextlib.asynccontextmanager
async def prometheus(exporter: Exporter, folder: Path) -> AsyncIterator[Prometheus]:
    """A Prometheus that scrapes an exporter five times a second."""
    (folder / "prometheus.yml").write_text(CONFIG.format(exporter=exporter.address))
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = (
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    )
    async with (
        started(env={}, cwd=folder, command=command),
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        yield Prometheus(url, client)
