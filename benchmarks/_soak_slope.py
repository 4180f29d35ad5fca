"""Fits a line through what was measured again and again, and says whether it rises."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

# Beyond so many of its own errors a slope is no chance.
SURE = 3.0


@dataclass(frozen=True)
class Slope:
    """A line through samples: where it lies, how it rises in an hour, and how sure that is, both as shares of it."""

    level: float
    an_hour: float
    error: float

    def risen(self, most_an_hour: float) -> bool:
        """Whether it surely rises by more than this share in an hour."""
        return self.an_hour - SURE * self.error > most_an_hour

    def within(self, most_an_hour: float) -> bool:
        """Whether it surely rises by no more than this share in an hour, or falls."""
        return self.an_hour + SURE * self.error <= most_an_hour

    def sharp(self, most_an_hour: float) -> bool:
        """Whether a rise by twice that share would have been seen."""
        return SURE * self.error <= most_an_hour


def fit(times_s: Sequence[float], values: Sequence[float]) -> Slope:
    """The line of least squares. Neighbours resemble each other, so each stretch of five samples counts as one."""
    times, levels = _stretches(times_s), _stretches(values)
    middle, level = fmean(times), fmean(levels)
    spread = sum((time - middle) ** 2 for time in times)
    rise = sum((time - middle) * (one - level) for time, one in zip(times, levels, strict=True)) / spread
    left = sum((one - level - rise * (time - middle)) ** 2 for time, one in zip(times, levels, strict=True))
    error = math.sqrt(left / max(1, len(times) - 2) / spread)
    share = 3600 / level if level else 0.0
    return Slope(level, rise * share, error * share)


def _stretches(values: Sequence[float]) -> list[float]:
    size = max(1, min(5, len(values) // 6))
    return [median(values[start : start + size]) for start in range(0, len(values) - size + 1, size)]
