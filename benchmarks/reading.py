"""Compares what it costs to read and judge an answer of 256 chunks with `json.loads` and with the `openai` package.

Run it as `python -m benchmarks.reading`; it takes half a minute, most of it to install the package in an environment
that it throws away; `--quick` takes a third of the rounds. All are measured in one process, in turns, in seconds of the
processor.
"""

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks._installing import installed
from benchmarks._machine import machine
from tests.cases import chat
from tests.cases.said import Piece, Said, event, joined
from tests.cases.wires import CHAT, WIRES, stream
from tests.ordinary.texts import sentence

PACKAGE = "openai>=3,<4"
ROOT = Path(__file__).parents[1]
CHUNKS = 256
ROUNDS, QUICK, TIMES = 30, 10, 3
# The bars: so many times what `json.loads` costs at most, and this share of what the package costs.
MOST_OF_JSON, MOST_OF_OPENAI = 3.0, 0.5
MEASURE_S = 300


def main(words: Sequence[str]) -> int:
    """Print the table; 1 where a bar is missed, 0 too where the package can't be had."""
    rounds = QUICK if "--quick" in words else ROUNDS
    print("installing the openai package in an environment of its own ...", flush=True)
    with installed([PACKAGE]) as python:
        if isinstance(python, str):
            print(f"it can't be installed, so nothing was measured: {python}")
            return 0
        ask = {"answers": _answers(), "rounds": rounds, "times": TIMES}
        measured = json.loads(_run([str(python), "-m", "benchmarks._reading_rounds"], MEASURE_S, json.dumps(ask)))
    return _told(measured, rounds)


def _run(command: Sequence[str], limit_s: float, said: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, check=True, input=said, capture_output=True, text=True, timeout=limit_s, cwd=ROOT, env=environment
    ).stdout


def _words() -> tuple[str, ...]:
    chance = random.Random(256)
    words = " ".join(sentence(chance) for _ in range(40)).split(" ")
    return tuple(" " + word for word in words[:CHUNKS])


def _answers() -> list[dict[str, object]]:
    """One answer in each wire, and in the first also with all that OpenAI writes around each piece of text."""
    said = Said(text=_words(), read=9_000, written=CHUNKS)
    answers: list[dict[str, object]] = [
        {"name": wire, "wire": wire, "reads": _reads(stream(wire, said))} for wire in WIRES
    ]
    return [{"name": f"{CHAT}, as OpenAI", "wire": CHAT, "reads": _reads(_as_openai(said))}, *answers]


def _as_openai(said: Said) -> list[Piece]:
    around = {
        "service_tier": "default",
        "system_fingerprint": "fp_50906f2aac",
        "usage": None,
        "obfuscation": "Zx81kQ2b",
    }
    pieces = [{**chat.chunk_of({"content": text}, logprobs=None), **around} for text in said.text]
    return [chat.role(), *(event(piece) for piece in pieces), chat.finish(), chat.usage(said), chat.DONE]


def _reads(pieces: Sequence[Piece]) -> list[str]:
    return [joined([piece]).decode() for piece in pieces]


def _told(measured: Mapping[str, Any], rounds: int) -> int:
    medians = {name: statistics.median(seconds) * 1000 for name, seconds in measured["seconds"].items()}
    print(f"\n{machine()}, openai {measured['openai']};")
    print(f"{CHUNKS} chunks of text, each read by itself; milliseconds of the processor,")
    print(f"medians of {rounds} rounds in turns\n")
    print(f"{'answer':26}  json.loads    ours  times json  openai  share of openai")
    missed = False
    for name in dict.fromkeys(task.rpartition("/")[0] for task in medians):
        plain, ours, package = (medians.get(f"{name}/{who}") for who in ("json", "ours", "openai"))
        assert plain is not None
        assert ours is not None
        share = f"{package:6.2f}  {ours / package:15.2f}" if package else ""
        print(f"{name:26}  {plain:10.2f}  {ours:6.2f}  {ours / plain:10.2f}  {share}")
        missed |= package is not None and (ours > MOST_OF_JSON * plain or ours >= MOST_OF_OPENAI * package)
    print(f"\nthe bars: {MOST_OF_JSON:.0f} times json.loads at most, less than {MOST_OF_OPENAI} of openai: ", end="")
    print("missed" if missed else "kept")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
