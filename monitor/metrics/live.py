"""What is read off the switchboard at the moment of a scrape, so that it can't be stale."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from breaker.circuit import State
from breaker.switchboard import Switchboard
from monitor.lag import LoopLag
from monitor.metrics import names

Family = GaugeMetricFamily | CounterMetricFamily


class Live(Collector):
    """Circuits, routes and the store, seen through a switchboard; nothing before there is one."""

    def __init__(self) -> None:
        self.board: Switchboard | None = None
        self.lag: LoopLag | None = None

    def describe(self) -> Iterable[Family]:
        """The families without samples, for the registry."""
        gauges = (
            names.CIRCUIT_STATE,
            names.ROUTE_TARGET,
            names.STORE_UP,
            names.SNAPSHOT_AGE,
            names.WAITING,
            names.SELF_SUSPECT,
            names.LOOP_LAG,
        )
        return [*(metric.gauge_family() for metric in gauges), names.DROPPED.counter_family()]

    def collect(self) -> Iterable[Family]:
        """The families as things stand now."""
        if self.board is not None:
            yield _circuits(self.board)
            yield _routes(self.board)
            yield from _store(self.board)
        if self.lag is not None:
            family = names.LOOP_LAG.gauge_family()
            family.add_metric([], self.lag.take_worst_s())
            yield family


def _circuits(board: Switchboard) -> GaugeMetricFamily:
    family = names.CIRCUIT_STATE.gauge_family()
    for standing in board.standings():
        target = standing.target
        for state in State:
            family.add_metric([target.provider.name, target.model, state.value], float(standing.state is state))
    return family


def _routes(board: Switchboard) -> GaugeMetricFamily:
    family = names.ROUTE_TARGET.gauge_family()
    for route in board.routes:
        chosen = board.route(route.name).target
        for target in route.targets:
            family.add_metric([route.name, target.provider.name, target.model], float(target == chosen))
    return family


def _store(board: Switchboard) -> Iterable[Family]:
    up, waiting, dropped = names.STORE_UP.gauge_family(), names.WAITING.gauge_family(), names.DROPPED.counter_family()
    up.add_metric([], float(not board.stale()))
    waiting.add_metric([], board.waiting())
    dropped.add_metric([], board.dropped())
    suspect = names.SELF_SUSPECT.gauge_family()
    suspect.add_metric([], float(board.self_suspect_s() is not None))
    yield from (up, waiting, dropped, suspect)
    age = names.SNAPSHOT_AGE.gauge_family()
    if (age_s := board.age_s()) is not None:
        age.add_metric([], age_s)
    yield age
