"""All metrics of one process, and who listens for them."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from prometheus_client import GCCollector, PlatformCollector, ProcessCollector
from starlette.types import ASGIApp

from breaker import __version__
from breaker.answer import Answer, Source
from breaker.api.feed import Feed
from breaker.api.route.given import Given
from breaker.api.route.times import Times
from breaker.circuit import Move
from breaker.switchboard import Judged, Switchboard
from breaker.verdict import judge
from monitor.budget import Cost
from monitor.exchange.phases import Phase
from monitor.lag import LoopLag
from monitor.metrics import names
from monitor.metrics.family import Registry
from monitor.metrics.live import Live
from monitor.metrics.runs import RunMetrics
from monitor.metrics.scrape import Scrape
from monitor.metrics.target import Collectors, TargetMetrics
from monitor.notify.counts import Sent
from monitor.outlet import Outlet
from monitor.reloading import Reloading
from monitor.settings import Budget, Settings


class Skip(StrEnum):
    """Why a probe that was due was left out."""

    MISFIRE = "misfire"  # our own loop was late by more than half an interval
    OVERLAP = "overlap"  # the target's last probe still waits for its first byte
    CONFIRMING = "confirming"  # a confirming probe comes in a moment
    HALF_OPEN = "half_open"  # a half-open circuit has a pace of its own
    FRESH = "fresh"  # an agent's good report said the same for free
    BUDGET = "budget"  # the day's budget is spent
    CLAIMED = "claimed"  # another replica has taken it, or has a probe under way
    RATE_LIMITED = "rate_limited"  # the provider has asked for a pause that isn't over


class Metrics:
    """All metrics of one process, in a registry of their own.

    Every label's value comes from the settings or a closed list; the children are bound here, once. `judged` and
    `moved` are listeners for a switchboard; the rest is told by the prober. Of a target that isn't there any more
    nothing is counted.
    """

    def __init__(self, settings: Settings) -> None:
        self.registry = registry = Registry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        names.BUILD.numbers(registry).labels(__version__).set(1)
        self._live = Live(registry)
        self._collectors = Collectors(registry)
        self._targets: dict[str, TargetMetrics] = {}
        self._in_flight = names.IN_FLIGHT.numbers(registry).labels()
        self._crashes = names.CRASHES.numbers(registry).labels()
        skipped = names.SKIPPED.numbers(registry)
        self._skipped = {cause: skipped.labels(cause.value) for cause in Skip}
        self._calls = names.STORE_CALL.histogram(registry).labels()
        self._call_failures = names.STORE_FAILURES.numbers(registry).labels()
        # Listens for itself: `staged` and `concluded` of agents' tasks.
        self.runs = RunMetrics(registry)
        self._limited: set[str] = set()  # providers with a budget
        self._budget_used = names.BUDGET_USED.numbers(registry)
        self._budgets = names.BUDGET_TOKENS.numbers(registry), names.BUDGET_USD.numbers(registry)
        self.renew(settings)

    def renew(self, settings: Settings) -> None:
        """Count for these targets from now on; what was counted of those that stay is kept, of others it is removed."""
        plans = settings.plans
        self._collectors.renew({found.labels for name, found in self._targets.items() if name not in plans})
        self._targets = {name: TargetMetrics(self._collectors, plan) for name, plan in plans.items()}
        budgets = {plan.target.provider.name: plan.budget for plan in settings.targets}
        self._show_budgets(budgets)
        self.runs.renew(budgets)
        self.registry.take()  # thousands of new ones; a scrape shall have less to do

    def _show_budgets(self, budgets: Mapping[str, Budget]) -> None:
        for gauge in self._budgets:
            gauge.clear()
        for name, budget in budgets.items():
            for gauge, limit in zip(self._budgets, (budget.tokens_per_day, budget.usd_per_day), strict=True):
                if limit is not None:
                    gauge.labels(name).set(limit)
        without = {name for name, budget in budgets.items() if budget == Budget()}
        for name in (self._limited - set(budgets)) | without:
            self._budget_used.remove(name)
        self._limited = set(budgets) - without

    def watch(self, board: Switchboard) -> None:
        """Show circuits, routes and the store as this switchboard sees them."""
        self._live.board = board

    def watch_lag(self, lag: LoopLag) -> None:
        """Show how late this loop is."""
        self._live.lag = lag

    def watch_door(self, given: Given, times: Times) -> None:
        """Show what this door has told agents, and how long that took."""
        self._live.given, self._live.times = given, times

    def watch_events(self, feed: Feed) -> None:
        """Show how many readers of moves this door has dropped."""
        self._live.feed = feed

    def watch_configuration(self, reloading: Reloading) -> None:
        """Show whether the configuration in use is the one in the file."""
        self._live.reloading = reloading

    def watch_audits(self, audits: Sequence[Outlet]) -> None:
        """Show how much of what is written of agents' tasks is lost."""
        self._live.audits = audits

    @property
    def notices(self) -> Sent:
        """Where whoever sends notifications counts them."""
        return self._live.notices

    def asgi(self) -> ASGIApp:
        """What answers a scrape, in the text format or in OpenMetrics, whichever is asked for."""
        return Scrape(self.registry)

    # What the switchboard tells

    def judged(self, judged: Judged) -> None:
        """Count an agent's report; probes are counted by `probed`, also while the store is gone."""
        if judged.answer.source is Source.REPORT:
            self._of(judged.answer.target, lambda target: target.reported(judged.judgement.verdict))

    def moved(self, target: str, move: Move) -> None:
        """Count a move that was made here."""
        self._of(target, lambda found: found.moved(move.cause))

    # What the store tells

    def store_called(self, seconds: float | None) -> None:
        """A call to the store took so long; None for one that failed."""
        if seconds is None:
            self._call_failures.inc()
        else:
            self._calls.observe(seconds)

    # What the prober tells

    def started(self, target: str, delay_s: float) -> None:
        """A probe began, so late after its plan."""
        self._in_flight.inc()
        self._of(target, lambda found: found.started(delay_s))

    def stopped(self) -> None:
        """A probe is no longer under way, however it ended."""
        self._in_flight.dec()

    def probed(self, answer: Answer) -> None:
        """A probe came to its end, with these final facts."""
        self._of(answer.target, lambda found: found.probed(answer, judge(answer)))

    def phases(self, target: str, seconds: Mapping[Phase, float]) -> None:
        """How long each phase of a probe took."""
        self._of(target, lambda found: found.phases(seconds))

    def lost(self, target: str) -> None:
        """Another process probes this target now, so that what was last found here is old."""
        self._of(target, TargetMetrics.lost)

    def skipped(self, cause: Skip) -> None:
        """A probe that was due was left out."""
        self._skipped[cause].inc()

    def crashed(self) -> None:
        """A probe ended in a fault of ours."""
        self._crashes.inc()

    def spent(self, target: str, cost: Cost, share: float | None) -> None:
        """A probe cost so much, and of its provider's budget this share is spent today; None where there is none."""
        self._of(target, lambda found: found.spent(cost))
        provider = target.partition("/")[0]
        if share is not None and provider in self._limited:
            self._budget_used.labels(provider).set(share)

    # Inside

    def _of(self, target: str, count: Callable[[TargetMetrics], None]) -> None:
        if (found := self._targets.get(target)) is not None:
            count(found)
