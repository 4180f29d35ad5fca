"""Runs one script after the other, and says at the end how long each took and which missed an aim.

Run it as `make bench`, or `python -m benchmarks._all NAME …` for some of them; all take ten minutes on a quiet
machine. What the docs say comes from the longer form of a script, where it has one.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks._installing import SHARED
from benchmarks._machine import machine

FOLDER = Path(__file__).parent
# `make soak` runs it for twenty minutes; a shorter run says nothing.
ELSEWHERE = "soak"
# They have no shorter form.
WHOLE = ("failoverbench", "litellm", "peers", "sdks")
# What takes longer hangs, or nobody would wait for it.
MOST_S, ENDS_S = 300.0, 20.0


class Ran(NamedTuple):
    """A script that was run, how long that took, and why it isn't well; empty where it is."""

    name: str
    seconds: float
    wrong: str


def main() -> int:
    """Run them; 1 where one missed an aim or failed."""
    names = sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if path.stem != ELSEWHERE)
    parser = argparse.ArgumentParser(prog="python -m benchmarks._all", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(names)} (default: all)")
    chosen = parser.parse_args().names or names
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(names)}")
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(prefix="firstbyte-peers-") as peers:
        ran = [_ran(name, f"{place} of {len(chosen)}", peers) for place, name in enumerate(chosen, 1)]
    return _told(ran)


def _ran(name: str, place: str, peers: str) -> Ran:
    words = [sys.executable, "-m", f"benchmarks.{name}", *(() if name in WHOLE else ("--quick",))]
    print(f"\n== {place}: python {' '.join(words[1:])}", flush=True)
    began = time.monotonic()
    # A session of its own, so that what it has started ends with it.
    process = subprocess.Popen(words, cwd=FOLDER.parent, env={**os.environ, SHARED: peers}, start_new_session=True)
    try:
        wrong = {0: "", 1: "missed an aim"}.get(process.wait(MOST_S), "failed")
    except subprocess.TimeoutExpired:
        wrong = f"took longer than {MOST_S:g} s"
    finally:
        _end(process)
    took_s = time.monotonic() - began
    print(f"== {name}: {took_s:.0f} s{wrong and f', {wrong}'}", flush=True)
    return Ran(name, took_s, wrong)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End it, with all that it has started; at first so that it can tidy up."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(ENDS_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _told(ran: Sequence[Ran]) -> int:
    print()
    for one in ran:
        print(f"{one.name:14} {one.seconds:5.0f} s{one.wrong and f'  {one.wrong}'}")
    print(f"{'all':14} {sum(one.seconds for one in ran):5.0f} s")
    wrong = [one.name for one in ran if one.wrong]
    if wrong:
        print(f"\nmissed an aim or failed: {', '.join(wrong)}", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
