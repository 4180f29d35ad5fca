"""The service and its simulated providers, each a process of its own on a core of its own."""

import asyncio
import contextlib
import json
import sys
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks._machine import cores
from monitor.simulator import Behaviour
from tests.processes import environment, started

WELL = "healthy,first_byte_s=0.01,spread=0,headers_s=0.01,tokens_per_s=2000"
_CONFIG = """
policy: {policy}
probe: {{prompt_tokens: 500}}
providers:
{providers}
routes: {{coder: [{targets}]}}
"""
_ACCOUNT = "  {name}: {{base_url: {url}, wire: openai-chat, models: {{m: {{}}}}}}"


@dataclass(frozen=True)
class Service:
    """A service that runs: its process, its door, and where its providers' behaviour is switched."""

    pid: int
    url: str
    control: str

    @property
    def port(self) -> int:
        """Where its door listens."""
        return int(self.url.rpartition(":")[2])

    async def behave(self, target: str, behaviour: str) -> None:
        """Let a target behave like this from now on."""
        body = json.dumps(Behaviour.parse(behaviour).told()).encode()
        await asyncio.to_thread(said, f"{self.control}?target={target}", body)

    async def counted(self, name: str) -> float:
        """A metric's value, the sum where there are several."""
        text = await asyncio.to_thread(said, f"{self.url}/metrics")
        lines = [line for line in text.splitlines() if line.partition("{")[0].partition(" ")[0] == name]
        return sum(float(line.rpartition(" ")[2]) for line in lines)


def command(on: set[int], call: str) -> tuple[str, ...]:
    """A Python process of its own on these cores."""
    return (sys.executable, "-c", f"from benchmarks._machine import pin; pin({on}); {call}")


@contextlib.asynccontextmanager
async def service(folder: Path, store_url: str, behaviours: Mapping[str, str], policy: str) -> AsyncIterator[Service]:
    """`firstbyte run` on the server's core, over targets that behave like this, in the order of one route."""
    env, entry = environment(folder / "data", {"FIRSTBYTE_STORE": store_url}), "from monitor.cli import entry; entry()"
    serving, asking = (command(on, entry) for on in cores())
    told = [f"{name}={behaviour}" for name, behaviour in behaviours.items()]
    async with (
        started("simulate", *told, env=env, cwd=folder, command=asking) as providers,
        contextlib.AsyncExitStack() as stack,
    ):
        control = (await providers.line(r"switched at (\S+)"))[1]
        names = [name.partition("/")[0] for name in behaviours]
        urls = {name: (await providers.line(rf"^{name} answers at (\S+)"))[1] for name in names}
        accounts = [
            f"  {name}: {{base_url: {url}, wire: openai-chat, models: {{m: {{}}}}}}" for name, url in urls.items()
        ]
        text = _CONFIG.format(policy=policy, providers="\n".join(accounts), targets=", ".join(behaviours))
        (folder / "firstbyte.yaml").write_text(text, encoding="utf-8")
        ours = await stack.enter_async_context(started("run", env=env, cwd=folder, command=serving))
        yield Service(ours.pid, (await ours.line(r"listening at (\S+)"))[1], control)


def said(url: str, body: bytes | None = None) -> str:
    """What is said there; a body is posted."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"} if body else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        text: bytes = answer.read()
        return text.decode()
