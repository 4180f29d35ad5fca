"""Plays an agent of 46 steps whose provider fails as in a published series, to the plain SDKs and with the transport.

Run it as `python -m benchmarks.series`, with `--write` to write its part of `docs/failover.md`; it takes a
minute and a half, with `--quick`, which plays twice as fast, half of that. The play stands in `tests/agent/series.py`.
"""

import argparse
import asyncio
import sys
import textwrap
from collections.abc import Callable, Sequence
from importlib.metadata import version

from benchmarks._machine import machine
from benchmarks.failoverbench import PAGE, SERIES, write
from tests.agent.series import Tally, play_of, played
from tests.cases.wires import CHAT, MESSAGES

STEPS, SPEED, QUICK = 46, 20.0, 40.0
# Six texts and an empty answer.
FALSE = 7
SDKS = {"openai": CHAT, "anthropic": MESSAGES}


def main() -> int:
    """Play all, say what came of it, and write it down if asked to; 1 where a step was lost or "done" was false."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.series", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write a part of docs/{PAGE.name}")
    parser.add_argument("--quick", action="store_true", help="play twice as fast, and write nothing")
    chosen = parser.parse_args()
    print(machine(), flush=True)
    tallies = asyncio.run(_all(QUICK if chosen.quick else SPEED))
    print(_table(tallies))
    if chosen.write and not chosen.quick:
        write(series=_part(tallies))
        print(f"written: {PAGE.name}")
    alone, helped = tallies[::2], tallies[1::2]
    kept = all(tally.steps == STEPS for tally in tallies) and not any(tally.false_done for tally in helped)
    return int(not (kept and all(tally.false_done == FALSE for tally in alone)))


async def _all(speed: float) -> Sequence[Tally]:
    """Each SDK without the transport and with it, at once: most of it is waiting."""
    plays = [play_of(wire, STEPS) for wire in SDKS.values()]
    return await asyncio.gather(
        *(played(play, helped=helped, speed=speed) for play in plays for helped in (False, True))
    )


ROWS: tuple[tuple[str, Callable[[Tally], str]], ...] = (
    ("steps taken", lambda tally: str(tally.steps)),
    ('times that it said "done" with work left', lambda tally: f"**{tally.false_done}**"),
    ("answers that ended at a limit of tokens", lambda tally: str(tally.cut)),
    ("errors that it was told of, and asked again", lambda tally: str(tally.errors)),
    ("failures that it never saw", lambda tally: str(tally.unseen)),
    ("minutes", lambda tally: f"{tally.seconds / 60:.0f}"),
    ("questions that providers got", lambda tally: str(tally.asked)),
    ("tokens read", lambda tally: f"{tally.read:,}"),
    ("tokens written", lambda tally: f"{tally.written:,}"),
)


def _table(tallies: Sequence[Tally]) -> str:
    head = "".join(f" `{name}` alone | with the transport |" for name in SDKS)
    lines = [f"| |{head}", "| --- |" + " ---: |" * len(tallies)]
    lines += [f"| {name} | {' | '.join(map(told, tallies))} |" for name, told in ROWS]
    return "\n".join(lines)


def _part(tallies: Sequence[Tally]) -> str:
    names = " and ".join(f"`{name}` {version(name)}" for name in SDKS)
    text = (
        f"A scripted agent takes {STEPS} steps, each by a call of a tool, and asks {names} with 9,300 tokens. Its "
        "provider fails nine of the steps in the ways of a published series of runs: six texts of a gateway under HTTP "
        "200 (three of them on none of our lists, half of the prompt counted), an empty answer after 103 s, and two "
        "that repeat one sentence to the limit of 32,000 tokens. Asked again, it answers well. An agent that gets a "
        "good end and no call believes that it is done, and has to be told to go on. Times are divided by twenty, and "
        "told here as they would be; limits are the transport's own. `python -m benchmarks.series --write` writes this "
        "part."
    )
    cost = (
        "What the transport costs: one more question for each failure that it takes away, as the agent asks one more "
        "for each that it believes. What it saves: the wait for an answer that never comes, and most of what a loop "
        "writes; where part of a loop has been shown already, the agent is told by an error and asks again."
    )
    filled = [textwrap.fill(one, 140, break_on_hyphens=False) for one in (text, cost)]
    return f"{SERIES}\n\n{filled[0]}\n\n{_table(tallies)}\n\n{filled[1]}\n"


if __name__ == "__main__":
    sys.exit(main())
