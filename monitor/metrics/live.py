"""What is read off the switchboard at the moment of a scrape, so that it can't be stale."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from breaker.api.route.given import Given
from breaker.api.route.times import BOUNDS_S, Times
from breaker.circuit import State
from breaker.errors import UnknownNameError
from breaker.switchboard import MAX_WAITING, Queue, Standing, Switchboard
from monitor.lag import LoopLag
from monitor.logs.flood import LEVELS, LINES, Lines
from monitor.metrics import names
from monitor.notify.counts import Sent
from monitor.reloading import Reloading
from monitor.settings import Form

Family = GaugeMetricFamily | CounterMetricFamily | HistogramMetricFamily


_NOTICES = (names.NOTICES, names.NOTICE_FAILURES, names.NOTICES_DROPPED)


class Live(Collector):
    """Circuits, routes and the store, seen through a switchboard; nothing before there is one."""

    def __init__(self) -> None:
        self.board: Switchboard | None = None
        self.lag: LoopLag | None = None
        self.given: Given | None = None
        self.times: Times | None = None
        self.reloading: Reloading | None = None
        self.notices = Sent()

    def describe(self) -> Iterable[Family]:
        """The families without samples, for the registry."""
        gauges = (
            names.CIRCUIT_STATE,
            names.CIRCUIT_MOVED,
            names.ROUTE_TARGET,
            names.ROUTE_TARGETS,
            names.ROUTE_AVAILABLE,
            names.STORE_UP,
            names.SNAPSHOT_AGE,
            names.WAITING,
            names.WAITING_MOST,
            names.OLDEST,
            names.SELF_SUSPECT,
            names.LOOP_LAG,
            names.RELOAD_GOOD,
            names.RELOAD_AT,
            names.NOTICES_PENDING,
        )
        counters = (
            names.ROUTE_REQUESTS,
            names.ROUTE_STALE,
            names.DROPPED,
            names.LOG_LINES,
            names.LOG_HELD_BACK,
            *_NOTICES,
        )
        gauge_families = [one.gauge_family() for one in gauges]
        return [*gauge_families, *(one.counter_family() for one in counters), names.ROUTE_TIMES.histogram_family()]

    def collect(self) -> Iterable[Family]:
        """The families as things stand now."""
        if self.board is not None:
            yield from _circuits(self.board.standings())
            yield from _routes_at_once(self.board)
            yield from _store(self.board)
        if self.lag is not None:
            family = names.LOOP_LAG.gauge_family()
            family.add_metric([], self.lag.take_worst_s())
            yield family
        if self.given is not None:
            yield from _given(self.given)
        if self.times is not None:
            yield _times(self.times)
        yield from _notices(self.notices)
        if self.reloading is not None:
            yield from _reloading(self.reloading)
        yield from _lines(LINES)


def _circuits(standings: Sequence[Standing]) -> Iterable[Family]:
    states, moved = names.CIRCUIT_STATE.gauge_family(), names.CIRCUIT_MOVED.gauge_family()
    for standing in standings:
        labels = [standing.target.provider.name, standing.target.model]
        for state in State:
            states.add_metric([*labels, state.value], float(standing.state is state))
        if standing.circuit.moved_at:
            moved.add_metric(labels, standing.circuit.moved_at)
    yield from (states, moved)


def _routes_at_once(board: Switchboard) -> Sequence[Family]:
    """Read in a thread, while the routes may be replaced by others: then once more."""
    try:
        return list(_routes(board))
    except UnknownNameError:
        return list(_routes(board))


def _times(times: Times) -> Family:
    counts, family = list(times.counts), names.ROUTE_TIMES.histogram_family()
    bounds = [*(str(bound) for bound in BOUNDS_S), "+Inf"]
    family.add_metric([], list(zip(bounds, accumulate(counts), strict=True)), times.sum_s)
    return family


def _notices(sent: Sent) -> Iterable[Family]:
    for name, by_form in zip(_NOTICES, (sent.sent, sent.failed, sent.dropped), strict=True):
        counted = name.counter_family()
        for form in Form:
            counted.add_metric([form.value], by_form[form])
        yield counted
    pending = names.NOTICES_PENDING.gauge_family()
    for form in Form:
        pending.add_metric([form.value], sent.waiting(form))
    yield pending


def _reloading(reloading: Reloading) -> Iterable[Family]:
    good, at = names.RELOAD_GOOD.gauge_family(), names.RELOAD_AT.gauge_family()
    good.add_metric([], float(reloading.good))
    at.add_metric([], reloading.reloaded_at)
    yield from (good, at)


def _routes(board: Switchboard) -> Iterable[Family]:
    given, named = names.ROUTE_TARGET.gauge_family(), names.ROUTE_TARGETS.gauge_family()
    available = names.ROUTE_AVAILABLE.gauge_family()
    for route in board.routes:
        chosen = board.route(route.name).target
        for target in route.targets:
            given.add_metric([route.name, target.provider.name, target.model], float(target == chosen))
        named.add_metric([route.name], len(route.targets))
        passing = [target for target in route.targets if board.standing(target.name).state.passes]
        available.add_metric([route.name], len(passing))
    yield from (given, named, available)


def _given(given: Given) -> Iterable[Family]:
    requests, stale = names.ROUTE_REQUESTS.counter_family(), names.ROUTE_STALE.counter_family()
    by_decision: Counter[tuple[str, ...]] = Counter()
    by_route: Counter[str] = Counter()
    for told, times in given.times():
        by_decision[told.route, told.target.provider.name, told.target.model, told.role.value] += times
        by_route[told.route] += times if told.stale else 0
    for labels, times in by_decision.items():
        requests.add_metric(labels, times)
    for route, times in by_route.items():
        stale.add_metric([route], times)
    yield from (requests, stale)


def _store(board: Switchboard) -> Iterable[Family]:
    up = names.STORE_UP.gauge_family()
    up.add_metric([], float(not board.stale()))
    suspect = names.SELF_SUSPECT.gauge_family()
    suspect.add_metric([], float(board.self_suspect_s() is not None))
    yield from (up, suspect, *_queue(board.queue()))
    age = names.SNAPSHOT_AGE.gauge_family()
    if (age_s := board.age_s()) is not None:
        age.add_metric([], age_s)
    yield age


def _queue(queue: Queue) -> Iterable[Family]:
    values = {names.WAITING: queue.waiting, names.WAITING_MOST: MAX_WAITING, names.OLDEST: queue.oldest_s}
    for name, value in values.items():
        gauge = name.gauge_family()
        gauge.add_metric([], value)
        yield gauge
    dropped = names.DROPPED.counter_family()
    for cause, times in queue.dropped.items():
        dropped.add_metric([cause.value], times)
    yield dropped


def _lines(lines: Lines) -> Iterable[Family]:
    written, held_back = names.LOG_LINES.counter_family(), names.LOG_HELD_BACK.counter_family()
    for level in LEVELS:
        written.add_metric([level], lines.by_level[level])
    held_back.add_metric([], lines.held_back)
    yield from (written, held_back)
