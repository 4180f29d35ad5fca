"""Says what machine a benchmark runs on, and shares its cores out."""

import contextlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_AWAKE = """
import os, sys
core, parent = map(int, sys.argv[1:])
os.sched_setaffinity(0, {core})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    pass
"""
# So long is looked whether others work, and so idle are the cores where they don't.
_LOOK_S, _QUIET = 0.3, 0.7


def machine() -> str:
    """What it is, in a line; `load` is how many processes wanted a core in the last minute, this one among them."""
    what = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    return f"{what}, load {os.getloadavg()[0]:.1f}"


@cache
def cores() -> tuple[set[int], set[int]]:
    """One for the server, and another for the load where there is one; the same whoever has been pinned since."""
    here = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return {here[0]}, {here[-1]}


def pin(cores: Iterable[int]) -> None:
    """Keep this process and what it starts to these cores, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """Let no core fall asleep meanwhile, where the system can: waking one up may take longer than an answer does.

    What keeps it awake gives way to whoever wants the core, and ends with this process. Where others work there is none
    of it: the cores don't sleep then, and Linux would count it as our share of them.
    """
    quiet = hasattr(os, "SCHED_IDLE") and _idle_share() >= _QUIET
    keepers = [
        subprocess.Popen([sys.executable, "-c", _AWAKE, str(core), str(os.getpid())])
        for core in set.union(*cores())
        if quiet
    ]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.terminate()
            keeper.wait()


def _idle_share() -> float:
    """The share of their time in which the cores have nothing to do just now."""
    before = _idle_s()
    time.sleep(_LOOK_S)
    return (_idle_s() - before) / _LOOK_S / (os.cpu_count() or 1)


def _idle_s() -> float:
    """How long all cores together have had nothing to do, or waited for a disk, since the system's start."""
    idle, waiting = Path("/proc/stat").read_text().split()[4:6]
    return (int(idle) + int(waiting)) / os.sysconf("SC_CLK_TCK")
