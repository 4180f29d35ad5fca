"""One series that remembers its lines, so that a scrape renders no more than what has changed since the last one."""

import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from prometheus_client.core import Exemplar

from monitor.metrics.lines import behind, number

_Told = tuple[float, Exemplar | None]


class Series:
    """One series, or those of one histogram; what it shows is what it was when it was last taken, nothing before.

    `heads` are the beginnings of its lines. It adds itself to `changed`, where the next `take` is due.
    """

    __slots__ = ("_changed", "_heads", "_lines", "_shown", "_times")

    def __init__(self, heads: Sequence[str], changed: "set[Series]") -> None:
        self._heads = heads
        self._changed = changed
        # How often it was taken, and how often it had been when its lines were made: without exemplars, and with.
        self._times = 0
        self._shown = [0, 0]
        self._lines = ["", ""]
        changed.add(self)

    def take(self) -> None:
        """Show what it is now."""
        self._times += 1

    def told(self) -> Iterable[_Told]:
        """The value of each series, and the newest exemplar behind it."""
        raise NotImplementedError

    def lines(self, *, exemplars: bool) -> str:
        """Its lines, with exemplars or without."""
        if self._shown[exemplars] != self._times:
            self._lines[exemplars] = self._rendered(exemplars=exemplars)
            self._shown[exemplars] = self._times
        return self._lines[exemplars]

    def _rendered(self, *, exemplars: bool) -> str:
        told = zip(self._heads, self.told(), strict=True)
        return "".join(
            [
                f"{head} {number(value)}{behind(exemplar) if exemplars and exemplar else ''}\n"
                for head, (value, exemplar) in told
            ]
        )


class Number(Series):
    """A counter or a gauge, from 0 on."""

    __slots__ = ("_exemplar", "_taken", "_value")

    def __init__(self, heads: Sequence[str], changed: set[Series]) -> None:
        super().__init__(heads, changed)
        self._value = 0.0
        self._exemplar: Exemplar | None = None
        self._taken: _Told = 0.0, None

    def inc(self, amount: float = 1.0, exemplar: Mapping[str, str] | None = None) -> None:
        """Add to it; the exemplar says what was counted."""
        if exemplar is not None:
            self._exemplar = Exemplar(dict(exemplar), amount, time.time())
        self._value += amount
        self._changed.add(self)

    def dec(self) -> None:
        """Take one away."""
        self.inc(-1.0)

    def set(self, value: float) -> None:
        """Show this value."""
        if value != self._value:
            self._value = value
            self._changed.add(self)

    def take(self) -> None:
        """Show what it is now."""
        super().take()
        self._taken = self._value, self._exemplar

    def told(self) -> Iterable[_Told]:
        """The value."""
        return (self._taken,)


class Histogram(Series):
    """How often values fell below each of some bounds."""

    __slots__ = ("_bounds", "_counts", "_exemplars", "_sum", "_taken")

    def __init__(self, heads: Sequence[str], changed: set[Series], *, bounds: Sequence[float]) -> None:
        super().__init__(heads, changed)
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._exemplars: list[Exemplar | None] = [None] * (len(bounds) + 1)
        self._sum = 0.0
        self._taken = self._counts[:], self._exemplars[:], self._sum

    def observe(self, value: float, exemplar: Mapping[str, str] | None = None) -> None:
        """Count a value; the exemplar says whose it was."""
        place = bisect_left(self._bounds, value)
        if exemplar is not None:
            self._exemplars[place] = Exemplar(dict(exemplar), value, time.time())
        self._sum += value
        self._counts[place] += 1
        self._changed.add(self)

    def take(self) -> None:
        """Show what it is now."""
        super().take()
        self._taken = self._counts[:], self._exemplars[:], self._sum

    def told(self) -> Iterable[_Told]:
        """The buckets, the count and the sum."""
        counts, exemplars, total = self._taken
        below = list(accumulate(counts))
        return [*zip(below, exemplars, strict=True), (below[-1], None), (total, None)]
