"""Counts how long answers to `GET /route` take, in plain numbers: they come by the ten thousand a second."""

from bisect import bisect_left

# Upper bounds in seconds; an answer from memory takes some ten microseconds.
BOUNDS_S = (0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1)

# Timing each plain answer would cost a few percent of it.
EVERY = 8


class Times:
    """From when a question came here to when its answer was handed to the network; waiting for a change isn't counted.

    `counts` has one number for each bound and one for what took longer.
    """

    __slots__ = ("counts", "seen", "sum_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0
        self.seen = 0  # by the lane, which times one in so many

    def add(self, seconds: float) -> None:
        """One answer took so long."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds
