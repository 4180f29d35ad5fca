"""All series of one metric, known to a registry of the Python client like any of its own."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from monitor.metrics.lines import braced, head
from monitor.metrics.series import Number, Series

# So many lines are made at a time; a line takes a microsecond or two.
LINES = 300
# So many series are looked at or made at a time; one takes up to five microseconds.
SERIES = 100

_S = TypeVar("_S", bound=Series)
Source = Callable[[], Iterable[tuple[tuple[str, ...], float]]]
Part = tuple[str, Mapping[str, str]]


class Family(Collector, Generic[_S]):
    """All series of one metric, by the values of its labels; one without labels has its series from the start.

    `parts` are the suffixes and labels that tell apart what one of them shows, and `make` makes one of the beginnings
    of its lines.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        meaning: str,
        labels: Sequence[str],
        *,
        make: Callable[[Sequence[str], set[Series]], _S],
        parts: Sequence[Part] = (("", {}),),
    ) -> None:
        self._name, self._kind, self._meaning = name, kind, meaning
        self._labels, self._parts, self._make = tuple(labels), parts, make
        self._series: dict[tuple[str, ...], _S] = {}
        self._changed: set[Series] = set()
        self._kept: dict[bool, bytes] = {}
        if not labels:
            self.labels()

    def labels(self, *values: str) -> _S:
        """The series with these values, made where there is none."""
        if values not in self._series:
            self._series[values] = self._make(self._heads(values), self._changed)
            self._kept = {}
        return self._series[values]

    def remove(self, *values: str) -> None:
        """Show the series with these values no more, if there is one."""
        gone = self._series.pop(values, None)
        if gone is not None:
            self._changed.discard(gone)  # where nobody scrapes, none would ever be taken
            self._kept = {}

    def remove_all(self, firsts: Collection[tuple[str, str]]) -> None:
        """Show none any more whose first two labels have one of these values."""
        for values in [values for values in self._series if values[:2] in firsts]:
            self.remove(*values)

    def clear(self) -> None:
        """Show none any more."""
        self._series = {}
        self._changed.clear()
        self._kept = {}

    def take(self) -> None:
        """Show what all series are now."""
        if self._changed:
            self._kept = {}
        for series in self._changed:
            series.take()
        self._changed.clear()

    def pieces(self, *, openmetrics: bool) -> Iterator[bytes]:
        """What was taken last, in OpenMetrics or in the text format; nothing where there is no series.

        Each piece is made when it is asked for, and takes less than a millisecond.
        """
        kept = self._kept  # another one as soon as anything changes
        if openmetrics in kept:
            yield kept[openmetrics]
            return
        made = []
        for piece in self._made(openmetrics=openmetrics):
            made.append(piece)
            yield piece
        kept[openmetrics] = b"".join(made)

    def describe(self) -> Iterable[Metric]:
        """The metric without any series, for the registry."""
        return [self._bare()]

    def collect(self) -> Iterable[Metric]:
        """All series as they are now, for those who want samples; a metric without any isn't there."""
        self.take()
        metric = self._bare()
        for values, series in list(self._series.items()):
            own = dict(zip(self._labels, values, strict=True))
            for (suffix, more), (value, exemplar) in zip(self._parts, series.told(), strict=True):
                metric.add_sample(self._name + suffix, {**own, **more}, value, exemplar=exemplar)
        return [metric] if metric.samples else []

    def _made(self, *, openmetrics: bool) -> Iterator[bytes]:
        series, each = list(self._series.values()), max(1, LINES // len(self._parts))
        above = head(self._name, self._kind, self._meaning, openmetrics=openmetrics)
        for first in range(0, len(series), each):
            lines = [one.lines(exemplars=openmetrics) for one in series[first : first + each]]
            yield "".join([above if first == 0 else "", *lines]).encode()

    def _bare(self) -> Metric:
        return Metric(self._name.removesuffix("_total"), self._meaning, self._kind)

    def _heads(self, values: Sequence[str]) -> list[str]:
        own = dict(zip(self._labels, values, strict=True))
        return [f"{self._name}{suffix}{braced({**own, **more})}" for suffix, more in self._parts]


class Watched(Family[Number]):
    """A gauge or a counter that is read off something at each scrape; what is told no more is shown no more."""

    def __init__(self, name: str, kind: str, meaning: str, labels: Sequence[str], source: Source) -> None:
        super().__init__(name, kind, meaning, labels, make=Number)
        self._source = source

    def pieces(self, *, openmetrics: bool) -> Iterator[bytes]:
        """What a scrape shows of it, as things stand now; empty pieces come while it is looked at."""
        for _ in self._look():
            yield b""
        self.take()
        yield from super().pieces(openmetrics=openmetrics)

    def collect(self) -> Iterable[Metric]:
        """All series, as things stand now."""
        for _ in self._look():
            pass
        return super().collect()

    def _look(self) -> Iterator[None]:
        """Show what is told now, a few series at a time."""
        found = dict(self._source())  # of one moment
        for values in self._series.keys() - found.keys():
            self.remove(*values)
        for number, (values, value) in enumerate(found.items(), 1):
            self.labels(*values).set(value)
            if number % SERIES == 0:
                yield


class Registry(CollectorRegistry):
    """A registry that says what was registered, in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Add one."""
        super().register(collector)
        self.collectors.append(collector)

    def take(self) -> None:
        """Let all families of ours show what they are now."""
        for collector in self.collectors:
            if isinstance(collector, Family):
                collector.take()
