"""Lets a thread work for long beside the loop without holding it up."""

import contextlib
import gc
import sys
from collections.abc import Iterator

# The loop gets its turn within this; Python's own 5 ms would show in what probes measure.
TURN_S = 0.0005


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Let other threads have their turns soon, and no collection of garbage stop all of them meanwhile."""
    usual_s, collecting = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(TURN_S)
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(usual_s)
        if collecting:
            gc.enable()
