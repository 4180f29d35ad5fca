"""Keeps how soon a target's first bytes came lately."""

from collections import deque

# How many of the newest are kept, and how few are too few to say anything.
KEPT, LEAST = 100, 20


class Pace:
    """The newest first bytes of one target, in seconds."""

    def __init__(self) -> None:
        self._newest: deque[float] = deque(maxlen=KEPT)

    def add(self, first_byte_s: float | None) -> None:
        """One more; None is none."""
        if first_byte_s is not None:
            self._newest.append(first_byte_s)

    def percentile(self, share: float) -> float | None:
        """Below what a share of them (above 0, below 1) came; None where too few are known."""
        if len(self._newest) < LEAST:
            return None
        return sorted(self._newest)[int(share * len(self._newest))]
