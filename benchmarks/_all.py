"""Runs the scripts in turn, and says at the end how long each took and which missed an aim.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks._installing import SHARED
from benchmarks._machine import machine

FOLDER = Path(__file__).parent
# `make soak` runs it for twenty minutes; a shorter run says nothing.
ELSEWHERE = "soak"
# What becomes of an answer is asked there, not how long something takes. Most of it is waiting, so they run at once.
PLAYS = {"failoverbench", "peers", "series"}
# They have no shorter form.
WHOLE = ("failoverbench", "litellm", "peers", "sdks")
# What takes longer hangs, or nobody would wait for it.
MOST_S, ENDS_S = 300.0, 20.0


class Ran(NamedTuple):
    """What was run at once, how long that took, and why which of them isn't well; nothing of those that are."""

    names: Sequence[str]
    seconds: float
    wrong: Mapping[str, str]


def main() -> int:
    """Run them; 1 where one missed an aim or failed."""
    names = sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if path.stem != ELSEWHERE)
    parser = argparse.ArgumentParser(prog="python -m benchmarks._all", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(names)} (default: all)")
    chosen = parser.parse_args().names or names
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(names)}")
    print(machine(), flush=True)
    turns = _turns(chosen)
    with tempfile.TemporaryDirectory(prefix="firstbyte-peers-") as peers:
        ran = [_ran(turn, f"{place} of {len(turns)}", peers) for place, turn in enumerate(turns, 1)]
    return _told(ran)


def _turns(chosen: Sequence[str]) -> list[list[str]]:
    """Those that run at once first, then each by itself."""
    together = [name for name in chosen if name in PLAYS]
    return [*([together] if together else []), *([name] for name in chosen if name not in PLAYS)]


def _ran(names: Sequence[str], place: str, peers: str) -> Ran:
    commands = (" ".join(["python", *_words(name)[1:]]) for name in names)
    print(f"\n== {place}: {' beside '.join(commands)}", flush=True)
    if len(names) > 1:
        print("what they say follows once all have ended ...", flush=True)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        running = {name: stack.enter_context(_running(name, peers, aside=len(names) > 1)) for name in names}
        wrong = {name: why for name, wait in running.items() if (why := wait(began + MOST_S))}
    took_s = time.monotonic() - began
    print(f"== {_listed(names, wrong)}: {took_s:.0f} s", flush=True)
    return Ran(names, took_s, wrong)


def _words(name: str) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.{name}", *(() if name in WHOLE else ("--quick",))]


@contextlib.contextmanager
def _running(name: str, peers: str, *, aside: bool) -> Iterator[Callable[[float], str]]:
    """Let it run; gives what waits for it until a moment, and says why it isn't well. `aside` tells all at its end."""
    # A session of its own, so that what it has started ends with it.
    environment = {**os.environ, SHARED: peers}
    with tempfile.TemporaryFile() as kept:
        told = kept if aside else None
        process = subprocess.Popen(
            _words(name), cwd=FOLDER.parent, env=environment, stdout=told, stderr=told, start_new_session=True
        )

        def wait(until: float) -> str:
            try:
                return {0: "", 1: "missed an aim"}.get(process.wait(max(0.0, until - time.monotonic())), "failed")
            except subprocess.TimeoutExpired:
                return f"took longer than {MOST_S:g} s"

        try:
            yield wait
        finally:
            _end(process)
            kept.seek(0)
            print(kept.read().decode(errors="replace"), end="", flush=True)


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
        print(f"{one.seconds:5.0f} s  {_listed(one.names, one.wrong)}")
    print(f"{sum(one.seconds for one in ran):5.0f} s  all")
    wrong = sorted(name for one in ran for name in one.wrong)
    if wrong:
        print(f"\nmissed an aim or failed: {', '.join(wrong)}", flush=True)
    return int(bool(wrong))


def _listed(names: Sequence[str], wrong: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({wrong[name]})" if name in wrong else name for name in names)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
