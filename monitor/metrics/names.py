"""Every metric that there is: its name, its kind, its labels and what it means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily

from breaker.api.route.times import BOUNDS_S
from monitor.metrics.family import Family, Part, Source, Watched
from monitor.metrics.lines import number
from monitor.metrics.series import Histogram, Number

# Those of answers to GET /route stand where they are counted.
# From a warm cache to far beyond the slow limit of 40 s, which is a bound itself so that slow ones can be counted.
ANSWER_S = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20, 30, 40, 60, 90, 120)
CALL_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)
DELAY_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_UNITS = ("seconds", "usd", "ratio")


class Kind(StrEnum):
    """What a metric does."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One metric. `buckets` are a histogram's upper bounds."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def unit(self) -> str:
        """The base unit that the name ends with; "" for a plain number."""
        bare = self.name.removesuffix("_total").removesuffix("_timestamp_seconds")
        if self.name.endswith("_timestamp_seconds"):
            return "seconds since 1970"
        return next((unit for unit in _UNITS if bare.endswith(f"_{unit}")), "")

    def numbers(self, registry: CollectorRegistry) -> Family[Number]:
        """The counter or gauge itself."""
        made = Family(self.name, self.kind, self.meaning, self.labels, make=Number)
        registry.register(made)
        return made

    def histogram(self, registry: CollectorRegistry) -> Family[Histogram]:
        """The histogram itself."""
        make, parts = partial(Histogram, bounds=self.buckets), _parts(self.buckets)
        made = Family(self.name, self.kind, self.meaning, self.labels, make=make, parts=parts)
        registry.register(made)
        return made

    def watched(self, registry: CollectorRegistry, source: Source) -> Watched:
        """The counter or gauge, read off its source at each scrape."""
        made = Watched(self.name, self.kind, self.meaning, self.labels, source)
        registry.register(made)
        return made

    def histogram_family(self) -> HistogramMetricFamily:
        """An empty histogram for one scrape."""
        return HistogramMetricFamily(self.name, self.meaning, labels=self.labels)


def _parts(bounds: Sequence[float]) -> list[Part]:
    buckets = [("_bucket", {"le": number(bound)}) for bound in (*bounds, math.inf)]
    return [*buckets, ("_count", {}), ("_sum", {})]


def _counter(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(name=f"firstbyte_{name}", kind=Kind.COUNTER, meaning=meaning, labels=labels)


def _gauge(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(name=f"firstbyte_{name}", kind=Kind.GAUGE, meaning=meaning, labels=labels)


def _histogram(name: str, meaning: str, *labels: str, buckets: tuple[float, ...] = ANSWER_S) -> Metric:
    return Metric(name=f"firstbyte_{name}", kind=Kind.HISTOGRAM, meaning=meaning, labels=labels, buckets=buckets)


_TARGET = ("provider", "model")

PROBES = _counter("probes_total", "Probes that came to their end.", *_TARGET)
PROBE_FAILURES = _counter(
    "probe_failures_total", "Probes whose verdict was neither ok nor tool_call.", *_TARGET, "verdict"
)
PROBE_SLOW = _counter(
    "probe_slow_total", "Probes whose first byte came later than the slow limit, or not within it.", *_TARGET
)
PROBE_SUSPECT = _counter(
    "probe_suspect_total", "Probes that count for nothing because our own event loop stood still meanwhile.", *_TARGET
)
PROBE_FIRST_BYTE = _histogram(
    "probe_first_byte_seconds", "From the request to the first part of the model's answer; good answers only.", *_TARGET
)
PROBE_DURATION = _histogram(
    "probe_duration_seconds", "From the request to the end of the answer; good answers only.", *_TARGET
)
LAST_FIRST_BYTE = _gauge(
    "probe_last_first_byte_seconds", "The first byte of the last probe; gone while that one failed.", *_TARGET
)
LAST_DURATION = _gauge(
    "probe_last_duration_seconds", "How long the last probe took; gone while that one failed.", *_TARGET
)
LAST_HEADERS = _gauge(
    "probe_last_headers_seconds", "When the last probe's headers came; gone while that one failed.", *_TARGET
)
LAST_PHASE = _gauge(
    "probe_last_phase_seconds",
    "How long each phase of the last probe took (connect, tls, send, wait); none for a phase that wasn't reached.",
    *_TARGET,
    "phase",
)
LAST_GOOD = _gauge("probe_last_good", "1 where the last probe's answer was good, 0 where it was not.", *_TARGET)
LAST_FINISHED = _gauge(
    "probe_last_finished_timestamp_seconds", "When the last probe came to its end, whatever it found.", *_TARGET
)
SLOW_LIMIT = _gauge("probe_slow_limit_seconds", "The policy's slow_s: a first byte later than this is slow.", *_TARGET)
INTERVAL = _gauge("probe_interval_seconds", "The policy's interval_s; no series where probing is off.", *_TARGET)
START_DELAY = _histogram(
    "probe_start_delay_seconds", "How late a probe began, measured from its plan.", *_TARGET, buckets=DELAY_S
)
IN_FLIGHT = _gauge("probes_in_flight", "Probes that are under way, late ones included.")
SKIPPED = _counter("probes_skipped_total", "Probes that were due and left out, by cause.", "cause")
CRASHES = _counter("probe_crashes_total", "Probes that ended in a fault of our own.")
TOKENS = _counter(
    "probe_tokens_total",
    "Tokens that probes cost, as counted by the provider, else by size (prompt, completion).",
    *_TARGET,
    "token_type",
)
COST = _counter("probe_cost_usd_total", "US dollars that probes cost, where the price is known.", *_TARGET)
BUDGET_USED = _gauge(
    "probe_budget_used_ratio", "The spent share of today's budget; from 1 on, probes come at a tenth.", "provider"
)
BUDGET_TOKENS = _gauge("probe_budget_tokens", "The day's budget in tokens; no series without one.", "provider")
BUDGET_USD = _gauge("probe_budget_usd", "The day's budget in US dollars; no series without one.", "provider")
REPORTS = _counter("reports_total", "Agents' reports that counted, by verdict.", *_TARGET, "verdict")
RUN_DECISIONS = _counter(
    "run_decisions_total",
    "Decisions whether an agent's task is done, each counted once, by the reason that decides.",
    "decision",
    "reason",
)
RUN_OPERATIONS = _counter("run_operations_total", "Operations of agents' tasks that came to a state.", "state")
PREVENTED = _counter(
    "completions_prevented_total", "Of the claimed completions those that were untrue, by whose answer.", "provider"
)
CLAIMED = _counter(
    "completions_claimed_total",
    "Answers that an agent would have taken for the end of its task when it asked, by whose answer.",
    "provider",
)
CIRCUIT_STATE = _gauge("circuit_state", "1 for the state that the circuit is in, 0 for the others.", *_TARGET, "state")
CIRCUIT_MOVED = _gauge(
    "circuit_last_move_timestamp_seconds",
    "When the circuit last moved by itself, by the store's clock; no series before it has.",
    *_TARGET,
)
CIRCUIT_MOVES = _counter("circuit_moves_total", "Moves that this process made, by cause.", *_TARGET, "cause")
ROUTE_TARGET = _gauge("route_target", "1 for the target that the route gives now, 0 for its others.", "route", *_TARGET)
ROUTE_TARGETS = _gauge("route_targets", "Targets that the route names.", "route")
ROUTE_AVAILABLE = _gauge("route_targets_available", "Targets of the route whose circuit lets agents pass.", "route")
ROUTE_REQUESTS = _counter(
    "route_requests_total",
    "Answers to GET /route, by the target that was given and what it was to the route.",
    "route",
    *_TARGET,
    "role",
)
ROUTE_STALE = _counter(
    "route_stale_answers_total",
    "Answers to GET /route from the last snapshot, the store being gone.",
    "route",
)
ROUTE_TIMES = _histogram(
    "route_answer_seconds",
    "How long answers to GET /route took here, one in eight of the plain ones; waiting for a change isn't counted.",
    buckets=BOUNDS_S,
)
EVENT_READERS_DROPPED = _counter(
    "event_readers_dropped_total", "Streams of /events that were ended since their reader was too far behind."
)
STORE_CALL = _histogram(
    "store_call_seconds", "How long the store took to answer a call; good ones only.", buckets=CALL_S
)
STORE_FAILURES = _counter("store_call_failures_total", "Calls to the store that it refused or did not answer.")
STORE_UP = _gauge("store_up", "1 while the store answers, 0 while the last snapshot is served instead.")
SNAPSHOT_AGE = _gauge("store_snapshot_age_seconds", "How old the snapshot of all circuits is.")
WAITING = _gauge("store_answers_waiting", "Answers that are on their way into the store, or wait until it is back.")
WAITING_MOST = _gauge("store_answers_waiting_most", "How many may wait; of more the oldest are dropped.")
OLDEST = _gauge("store_answers_oldest_seconds", "For how long the oldest of them has waited.")
DROPPED = _counter(
    "store_answers_dropped_total",
    "Answers that never came into the store: too many waited, it refused them for good, or the service stopped first.",
    "cause",
)
SELF_SUSPECT = _gauge(
    "self_suspect", "1 while our own network seems to be down, so that no circuit moves by itself; else 0."
)
LOOP_LAG = _gauge("event_loop_lag_seconds", "The worst lateness of our own event loop since the last scrape.")
RELOAD_GOOD = _gauge(
    "config_last_reload_successful", "1 where the configuration was good when it was last read, else 0."
)
RELOAD_AT = _gauge(
    "config_last_reload_success_timestamp_seconds", "When the configuration in use was read; a start counts too."
)
NOTICES = _counter("notifications_total", "Messages that a receiver took, by its form.", "form")
NOTICE_FAILURES = _counter(
    "notification_failures_total", "Tries at which a receiver took no message, by its form.", "form"
)
NOTICES_DROPPED = _counter(
    "notifications_dropped_total", "Messages that were given up: refused for good, too old, or too many.", "form"
)
NOTICES_PENDING = _gauge(
    "notifications_pending", "Messages that wait to be sent, by the form of their receiver.", "form"
)
LOG_LINES = _counter("log_lines_total", "Lines of the log, those that were held back too, by level.", "level")
LOG_DROPPED = _counter(
    "log_lines_dropped_total", "Lines of the log that weren't written since nobody took them: a full pipe, a full disk."
)
AUDIT_DROPPED = _counter(
    "audit_lines_dropped_total", "Lines of the audit of agents' tasks that weren't written since nobody took them."
)
LOG_HELD_BACK = _counter("log_lines_held_back_total", "Lines of the log that were held back since too many were alike.")
TARGET_INFO = _gauge(
    "target_info", "Always 1; whether good reports may stand in for probes.", *_TARGET, "wire", "skip_when_fresh"
)
BUILD = _gauge("build_info", "Always 1.", "version")

ALL: tuple[Metric, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
