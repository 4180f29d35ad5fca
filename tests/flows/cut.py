"""A monitor whose network is really cut: `unshare -rn python -m tests.flows.cut STORE near|far` tells what came of it.

The providers live in a network namespace of their own, at the other end of a pair of virtual cables. One end is taken
down: with the near one the system says at once that nobody can be reached, with the far one there is silence.
"""

import asyncio
import json
import os
import subprocess
import sys

from breaker.store.redis import RedisStore
from breaker.target import Provider, Target
from monitor.network.connectivity import Connectivity
from monitor.network.ways import Proxies
from monitor.settings import ProbeShape, TargetPlan
from monitor.simulator import Simulator
from tests.probes.world import HEALTHY, POLICY, settings, world

NAMES = ("a/m", "b/m", "c/m")
HERE, THERE = "10.77.0.1", "10.77.0.2"


async def far() -> None:
    """The providers: they begin when they are told so, say where they are, and end with their input."""
    await asyncio.to_thread(sys.stdin.readline)
    async with Simulator(dict.fromkeys(NAMES, HEALTHY), host=THERE) as simulator:
        print(json.dumps({name: simulator.base_url(name[0]) for name in NAMES}), flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.readline)


def ip(*words: str, inside: int | None = None) -> None:
    """Change something of this network, or of a process's."""
    where = () if inside is None else ("nsenter", "-t", str(inside), "-n")
    subprocess.run([*where, "ip", *words], check=True)


async def main(store_url: str, end: str) -> None:
    """A monitor here, its providers there."""
    command = ("unshare", "-n", sys.executable, "-m", "tests.flows.cut", "far")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as there:  # noqa: ASYNC220 # at the start
        assert there.stdin is not None
        assert there.stdout is not None
        try:
            _join(there.pid)
            there.stdin.write("begin\n")
            there.stdin.flush()
            urls: dict[str, str] = json.loads(await asyncio.to_thread(there.stdout.readline))
            told = await _story(urls, store_url, end, there.pid)
            print(json.dumps(told))  # noqa: T201
        finally:
            there.kill()


def _join(pid: int) -> None:
    """A cable from here to the process's network, once it has one of its own."""
    ip("link", "set", "lo", "up")
    while _network(pid) == _network("self"):
        pass
    ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(pid))
    ip("addr", "add", f"{HERE}/24", "dev", "near")
    ip("link", "set", "near", "up")
    ip("addr", "add", f"{THERE}/24", "dev", "far", inside=pid)
    ip("link", "set", "far", "up", inside=pid)


def _network(pid: int | str) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115 # it leads to no path


async def _story(urls: dict[str, str], store_url: str, end: str, pid: int) -> dict[str, object]:
    plans = [
        TargetPlan(
            target=Target(provider=Provider(name=name[0], base_url=url, wire="openai-chat"), model="m"),
            policy=POLICY,
            probe=ProbeShape(prompt_tokens=1_500),
        )
        for name, url in urls.items()
    ]
    inside = pid if end == "far" else None
    store, chosen = RedisStore.from_url(store_url, limit_s=5), settings(plans)
    async with Connectivity(chosen, Proxies({}), again_s=0.2) as network, world(chosen, store, network) as w:
        await w.until(lambda: all(w.probes(name) for name in NAMES))
        ip("link", "set", end, "down", inside=inside)
        await w.until(lambda: all(sum(a.self_suspect for a in w.heard(name)) >= 3 for name in NAMES), within_s=240)
        suspected = w.board.self_suspect_s() is not None
        ip("link", "set", end, "up", inside=inside)
        await w.until(lambda: w.board.self_suspect_s() is None, within_s=240)
        good = {name: len(w.good(name)) for name in NAMES}
        await w.until(lambda: all(len(w.good(name)) >= good[name] + 3 for name in NAMES), within_s=240)
    await store.close()
    return {"suspected": suspected, "moves": [f"{target} {move.cause}" for target, move in w.moves]}


if __name__ == "__main__":
    asyncio.run(far() if sys.argv[1] == "far" else main(*sys.argv[1:]))
