"""A service, its providers and the way to its store, each a process of its own, made ready for trouble."""

import asyncio
import contextlib
import json
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks._troubles_load import Load, Reporting
from breaker import circuit as circuits
from breaker.circuit import Circuit, State
from breaker.store.redis import RedisStore
from monitor.simulator import Behaviour
from tests.processes import environment, started

# The first stays open through all, the second was open and is closed again, the others have never moved.
OPEN, CLOSED = "first/m", "second/m"
CALM = tuple(f"p{number}/m" for number in range(6))
NAMES = (OPEN, CLOSED, *CALM)
# Bad news of the second from before it closed come beside good news of the others.
REPORTED = (*CALM, *CALM[:3], CLOSED)
_WELL = "healthy,first_byte_s=0.01,spread=0,headers_s=0.01,tokens_per_s=2000"
_ILL = {OPEN: "http_error,status=500", CLOSED: "http_error,status=401"}
_CONFIG = """
policy: {{interval_s: 5, jitter_s: 0.2, confirm_s: 0.3, half_open_s: 1}}
probe: {{prompt_tokens: 500}}
providers:
{providers}
routes: {{coder: [{targets}]}}
"""


@dataclass(frozen=True)
class Serving:
    """A service that runs, with a load that has begun; `opened` is the first circuit as it was then."""

    load: Load
    url: str
    watched: str
    opened: Circuit

    async def circuits(self) -> dict[str, Circuit]:
        """The circuits as they are in the store."""
        return await circuits_at(self.watched)

    async def counted(self, name: str) -> float:
        """A metric's value, the sum where there are several."""
        text = await asyncio.to_thread(_get, f"{self.url}/metrics")
        lines = [line for line in text.splitlines() if line.partition("{")[0].partition(" ")[0] == name]
        return sum(float(line.rpartition(" ")[2]) for line in lines)


async def circuits_at(url: str) -> dict[str, Circuit]:
    """The circuits in the store at a URL."""
    store = RedisStore.from_url(url, limit_s=5)
    try:
        found, _ = await store.circuits(NAMES)
    finally:
        await store.close()
    return found


def command(cores: set[int], call: str) -> tuple[str, ...]:
    """A Python process of its own on these cores."""
    return (sys.executable, "-c", f"from benchmarks._machine import pin; pin({cores}); {call}")


@contextlib.asynccontextmanager
async def serving(
    folder: Path, url: str, watched: str, cores: tuple[set[int], set[int]], remember: Callable[[], Awaitable[None]]
) -> AsyncIterator[Serving]:
    """The service over the store at `url`, which can be looked at from `watched`, asked by a load.

    Calls `remember` while the second circuit is open.
    """
    env, entry = environment(folder / "data", {"FIRSTBYTE_STORE": url}), "from monitor.cli import entry; entry()"
    told = [f"{name}={_ILL.get(name, _WELL)}" for name in NAMES]
    async with contextlib.AsyncExitStack() as stack:
        asking = command(cores[1], entry)
        providers = await stack.enter_async_context(started("simulate", *told, env=env, cwd=folder, command=asking))
        control = (await providers.line(r"switched at (\S+)"))[1]
        lines = [
            f"  {name.partition('/')[0]}: {{base_url: {(await providers.line(_answers_at(name)))[1]}, "
            "wire: openai-chat, models: {m: {}}}"
            for name in NAMES
        ]
        text = _CONFIG.format(providers="\n".join(lines), targets=", ".join(NAMES))
        (folder / "firstbyte.yaml").write_text(text, encoding="utf-8")
        service = await stack.enter_async_context(started("run", env=env, cwd=folder, command=command(cores[0], entry)))
        door = (await service.line(r"listening at (\S+)"))[1]
        await _until(watched, OPEN, State.OPEN)
        await _until(watched, CLOSED, State.OPEN)
        well = Behaviour.parse(_WELL).told()
        await remember()
        await asyncio.to_thread(_get, f"{control}?target={CLOSED}", json.dumps(well).encode())
        await _until(watched, CLOSED, State.CLOSED)
        since = time.monotonic()
        load = Load(int(door.rpartition(":")[2]), Reporting(REPORTED, lambda target: _facts(target, since)))
        running = asyncio.create_task(load.run())
        try:
            yield Serving(load, door, watched, (await circuits_at(watched))[OPEN])
        finally:
            running.cancel()
            await load.close()


def _answers_at(name: str) -> str:
    return rf"^{name.partition('/')[0]} answers at (\S+)"


def _facts(target: str, since: float) -> dict[str, object]:
    """A report as an agent sends it; what is said of the second target began before its circuit closed."""
    facts: dict[str, object] = {"ended": "complete", "seconds": 0.1, "streamed": False}
    if target == CLOSED:
        return facts | {"status": 500, "age_s": time.monotonic() - since + 10.0}
    return facts | {"status": 200, "first_byte_s": 0.05, "text_chars": 5}


async def _until(watched: str, name: str, wanted: State) -> None:
    async with asyncio.timeout(30):
        while circuits.state((await circuits_at(watched))[name], time.time()) is not wanted:  # noqa: ASYNC110 # it moves elsewhere
            await asyncio.sleep(0.05)


def _get(url: str, body: bytes | None = None) -> str:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"} if body else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        said: bytes = answer.read()
        return said.decode()
