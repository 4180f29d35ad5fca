"""Knows whether the terminal that this process was started from is still there."""

import os


def has_terminal() -> bool:
    """Whether this process has a terminal now; one that was hung up counts as none."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
