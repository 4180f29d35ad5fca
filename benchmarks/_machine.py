"""Says what machine a benchmark runs on, and shares its cores out."""

import os
import platform
from collections.abc import Iterable
from functools import cache


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
