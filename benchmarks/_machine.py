"""Says what machine a benchmark runs on, and shares its cores out."""

import contextlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache

_AWAKE = """
import os, sys
core, parent = map(int, sys.argv[1:])
os.sched_setaffinity(0, {core})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    pass
"""


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

    What keeps it awake gives way to whoever wants the core, and ends with this process.
    """
    keepers = [
        subprocess.Popen([sys.executable, "-c", _AWAKE, str(core), str(os.getpid())])
        for core in set.union(*cores())
        if hasattr(os, "SCHED_IDLE")
    ]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.terminate()
            keeper.wait()
