"""Asks LiteLLM with the transport in it, while the first target fails, for a call of a tool: the second's must come.

Run it as `python -m benchmarks.litellm`; it takes a minute. LiteLLM is too large for the project's environment, so
it is installed into one of its own; the providers are simulated.
"""

import asyncio
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks._installing import installed
from benchmarks._machine import machine
from breaker.client import Spot
from monitor.simulator import Recorded, Simulator
from tests.agent.calling import CALLED, FAILURES, exchange
from tests.cases.wires import CHAT
from tests.processes import ROOT

PACKAGES = ("litellm==1.108.7", "openai==3.57.0")
WANTED = 'depth_of {"lock":3}'
LIMIT_S = 120.0


class Way(NamedTuple):
    """How a question is asked, and how the first target fails it."""

    failure: str
    awaits: bool
    streamed: bool

    def __str__(self) -> str:
        """The line of the table."""
        how = "acompletion" if self.awaits else "completion"
        return f"{how}{', streamed' if self.streamed else ''}: {self.failure}"


WAYS = [Way(*way) for way in itertools.product(FAILURES, (False, True), (False, True))]


def main() -> int:
    """Ask in all ways; 1 where another answer than the wanted call came, or LiteLLM could not be had."""
    print(f"{machine()}; {', '.join(PACKAGES)}", flush=True)
    with installed(PACKAGES) as python:
        if isinstance(python, str):
            print(f"LiteLLM could not be installed: {python}")
            return 1
        came = asyncio.run(_asked(python))
    for way, said in zip(WAYS, came, strict=True):
        print(f"{way}: {'the call of the backup' if said == WANTED else said}")
    right = came.count(WANTED)
    print(f"{right} of {len(came)} ways brought the backup's call of a tool")
    return int(right != len(came))


async def _asked(python: Path) -> Sequence[str]:
    """What came, in the order of the ways."""
    calls = {streamed: Recorded((exchange(CHAT, CALLED, streamed=streamed),)) for streamed in (False, True)}
    failing = {f"f{place}/m": failure for place, failure in enumerate(FAILURES)}
    good = {f"g{int(streamed)}/m": call for streamed, call in calls.items()}
    async with Simulator({**failing, **good}, seed=1) as simulator:
        questions = [
            {
                "spots": [
                    _spot(simulator, f"f{FAILURES.index(way.failure)}"),
                    _spot(simulator, f"g{int(way.streamed)}"),
                ],
                "awaits": way.awaits,
                "streamed": way.streamed,
            }
            for way in WAYS
        ]
        return await _ran(python, json.dumps(questions))


async def _ran(python: Path, questions: str) -> Sequence[str]:
    process = await asyncio.create_subprocess_exec(
        str(python),
        "-m",
        "benchmarks._litellm_ask",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            said, _ = await process.communicate(questions.encode())
    finally:
        if process.returncode is None:
            process.kill()
    came: list[str] = json.loads(said.splitlines()[-1])
    return came


def _spot(simulator: Simulator, provider: str) -> Spot:
    return {"target": f"{provider}/m", "base_url": simulator.base_url(provider), "wire": CHAT}


if __name__ == "__main__":
    sys.exit(main())
