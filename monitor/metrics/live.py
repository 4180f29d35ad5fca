"""What is read off the switchboard at the moment of a scrape, so that it can't be stale."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from breaker.api.feed import Feed
from breaker.api.route.given import Given
from breaker.api.route.times import BOUNDS_S, Times
from breaker.circuit import State
from breaker.switchboard import MAX_WAITING, Queue, Switchboard
from monitor.lag import LoopLag
from monitor.logs.flood import LEVELS, LINES
from monitor.metrics import names
from monitor.metrics.family import Source
from monitor.metrics.names import Metric
from monitor.notify.counts import Sent
from monitor.outlet import Outlet, lines_dropped
from monitor.reloading import Reloading
from monitor.settings import Form

_Read = Iterable[tuple[tuple[str, ...], float]]


class Live(Collector):
    """Circuits, routes and the store, seen through a switchboard; nothing before there is one.

    It has registered what is read here, and gives the times of answers to GET /route itself.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.board: Switchboard | None = None
        self.lag: LoopLag | None = None
        self.given: Given | None = None
        self.times: Times | None = None
        self.feed: Feed | None = None
        self.reloading: Reloading | None = None
        self.notices = Sent()
        self.audits: Sequence[Outlet] = ()
        for metric, source in self._sources().items():
            metric.watched(registry, source)
        registry.register(self)

    def describe(self) -> Iterable[HistogramMetricFamily]:
        """The family without samples, for the registry."""
        return [names.ROUTE_TIMES.histogram_family()]

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """The family as things stand now."""
        return [] if self.times is None else [_times(self.times)]

    def _sources(self) -> dict[Metric, Source]:
        return {
            names.CIRCUIT_STATE: self._of_board(_states),
            names.CIRCUIT_MOVED: self._of_board(_moved),
            names.ROUTE_TARGET: self._of_board(_chosen),
            names.ROUTE_TARGETS: self._of_board(_named),
            names.ROUTE_AVAILABLE: self._of_board(_available),
            names.STORE_UP: self._of_board(lambda board: _one(not board.stale())),
            names.SELF_SUSPECT: self._of_board(lambda board: _one(board.self_suspect_s() is not None)),
            names.WAITING: self._of_queue(lambda queue: _one(queue.waiting)),
            names.WAITING_MOST: self._of_queue(lambda _: _one(MAX_WAITING)),
            names.OLDEST: self._of_queue(lambda queue: _one(queue.oldest_s)),
            names.DROPPED: self._of_queue(lambda queue: [((cause.value,), n) for cause, n in queue.dropped.items()]),
            names.SNAPSHOT_AGE: self._of_board(_age),
            names.LOOP_LAG: lambda: () if self.lag is None else _one(self.lag.take_worst_s()),
            names.ROUTE_REQUESTS: lambda: () if self.given is None else _requests(self.given),
            names.ROUTE_STALE: lambda: () if self.given is None else _stale(self.given),
            names.EVENT_READERS_DROPPED: lambda: () if self.feed is None else _one(self.feed.dropped),
            names.NOTICES: lambda: _forms(self.notices.sent.__getitem__),
            names.NOTICE_FAILURES: lambda: _forms(self.notices.failed.__getitem__),
            names.NOTICES_DROPPED: lambda: _forms(self.notices.dropped.__getitem__),
            names.NOTICES_PENDING: lambda: _forms(self.notices.waiting),
            names.RELOAD_GOOD: lambda: () if self.reloading is None else _one(self.reloading.good),
            names.RELOAD_AT: lambda: () if self.reloading is None else _one(self.reloading.reloaded_at),
            names.LOG_LINES: lambda: [((level,), LINES.by_level[level]) for level in LEVELS],
            names.LOG_DROPPED: lambda: _one(lines_dropped()),
            names.AUDIT_DROPPED: lambda: _one(sum(outlet.dropped for outlet in self.audits)),
            names.LOG_HELD_BACK: lambda: _one(LINES.held_back),
        }

    def _of_board(self, read: Callable[[Switchboard], _Read]) -> Source:
        return lambda: () if self.board is None else read(self.board)

    def _of_queue(self, read: Callable[[Queue], _Read]) -> Source:
        return self._of_board(lambda board: read(board.queue()))


def _one(value: float) -> _Read:
    return [((), value)]


def _states(board: Switchboard) -> Iterator[tuple[tuple[str, ...], float]]:
    for standing in board.standings():
        for state in State:
            labels = standing.target.provider.name, standing.target.model, state.value
            yield labels, 1.0 if standing.state is state else 0.0


def _moved(board: Switchboard) -> Iterator[tuple[tuple[str, ...], float]]:
    for standing in board.standings():
        if standing.circuit.moved_at:
            yield (standing.target.provider.name, standing.target.model), standing.circuit.moved_at


def _chosen(board: Switchboard) -> Iterator[tuple[tuple[str, ...], float]]:
    for route in board.routes:
        chosen = board.route(route.name).target
        for target in route.targets:
            yield (route.name, target.provider.name, target.model), 1.0 if target == chosen else 0.0


def _named(board: Switchboard) -> Iterator[tuple[tuple[str, ...], float]]:
    for route in board.routes:
        yield (route.name,), len(route.targets)


def _available(board: Switchboard) -> Iterator[tuple[tuple[str, ...], float]]:
    for route in board.routes:
        yield (route.name,), sum(board.standing(target.name).state.passes for target in route.targets)


def _age(board: Switchboard) -> _Read:
    age_s = board.age_s()
    return [] if age_s is None else _one(age_s)


def _requests(given: Given) -> _Read:
    by_decision: Counter[tuple[str, ...]] = Counter()
    for told, times in given.times():
        by_decision[told.route, told.target.provider.name, told.target.model, told.role.value] += times
    return by_decision.items()


def _stale(given: Given) -> _Read:
    by_route: Counter[tuple[str, ...]] = Counter()
    for told, times in given.times():
        by_route[(told.route,)] += times if told.stale else 0
    return by_route.items()


def _forms(read: Callable[[Form], float]) -> _Read:
    return [((form.value,), read(form)) for form in Form]


def _times(times: Times) -> HistogramMetricFamily:
    counts, family = list(times.counts), names.ROUTE_TIMES.histogram_family()
    bounds = [*(str(bound) for bound in BOUNDS_S), "+Inf"]
    family.add_metric([], list(zip(bounds, accumulate(counts), strict=True)), times.sum_s)
    return family
