"""Measurements of what a promise costs or how long it takes: each file is a script that prints a table."""

import signal
import sys


def _is_script() -> bool:
    """Whether a file of this folder is being run by somebody who may end it, and not by another one."""
    if sys.argv[0] != "-m":
        return False
    name = sys.orig_argv[-len(sys.argv)]
    return name == "benchmarks._all" or not name.startswith("benchmarks._")


if _is_script():
    # SIGTERM would leave behind what a script has started; so it ends as with Ctrl-C, wherever it waits.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
