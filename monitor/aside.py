"""Lets a thread work for long beside the loop without holding it up."""

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator

# The loop gets its turn within this; Python's own 5 ms would show in what probes measure.
TURN_S = 0.0005


_alone = threading.Lock()


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Let other threads have their turns soon, and no collection of garbage stop all of them meanwhile.

    One thread at a time works like this; others that want to wait for it.
    """
    with _alone:
        usual_s, collecting = sys.getswitchinterval(), gc.isenabled()
        sys.setswitchinterval(TURN_S)
        gc.disable()
        try:
            yield
        finally:
            sys.setswitchinterval(usual_s)
            if collecting:
                gc.enable()
