"""The store's time as one process knows it, from readings that were on their way for a while."""

from dataclasses import dataclass
from typing import Self

# Two clocks part by no more than this share of the time: NTP speeds one up or slows it down by at most 500 ppm, and
# quartz adds 100.
DRIFT = 0.001
# What was shown too much is taken back by half of the time that passes: what is shown never goes back.
_BACK = 0.5
# More than this was never our own error: somebody has set the store's clock, and what is shown goes back with it.
_SET_S = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreClock:
    """What is known since a moment `at` of our monotonic clock: how far the store's is ahead of it, within bounds.

    A reading that was on its way for long has wide bounds and teaches little; the narrowest counts, for as long as two
    clocks don't part. `extra_s` is how much more was shown before, and is taken back little by little.
    """

    at: float
    least_s: float
    most_s: float
    extra_s: float = 0.0

    @classmethod
    def read(cls, began: float, ended: float, now: float, before: "StoreClock | None" = None) -> Self:
        """What is known when the store's time was `now` somewhere between two moments of our own clock."""
        own = DRIFT * (ended - began)
        least, most = now - ended - own, now - began + own
        if before is None:
            return cls(at=ended, least_s=least, most_s=most)
        parted = DRIFT * max(ended - before.at, 0.0)
        both = (max(least, before.least_s - parted), min(most, before.most_s + parted))
        least, most = both if both[0] <= both[1] else (least, most)  # else it was set
        extra = before.now(ended) - ended - (least + most) / 2
        return cls(at=ended, least_s=least, most_s=most, extra_s=extra if 0 < extra <= _SET_S else 0.0)

    def now(self, at: float) -> float:
        """The store's time at a moment of our own clock."""
        extra = max(self.extra_s - _BACK * max(at - self.at, 0.0), 0.0)
        return at + (self.least_s + self.most_s) / 2 + extra
