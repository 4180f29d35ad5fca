"""The dashboard of the service itself."""

from dashboards.frame import Dashboard, Row
from dashboards.panels import BLUE, COUNT, GREEN, ORANGE, RED, UP_DOWN, bars, colors, lines, stat, timeline
from dashboards.queries import Query

_DELAY = "histogram_quantile(%s, sum by (le) (rate(firstbyte_probe_start_delay_seconds_bucket[$__rate_interval])))"


def _each(expr: str) -> tuple[Query, ...]:
    return (Query(expr=expr, legend="{{instance}}"),)


_REPLICAS = Row(
    title="Replicas",
    panels=(
        stat(
            "Replicas down",
            "Replicas that Prometheus could not scrape; which, shows below.",
            "count(up) - sum(up)",
            "short",
            steps=((None, GREEN), (1, RED)),
        ),
        stat(
            "Versions",
            "How many versions run at once; more than one only while it is being updated.",
            "count(count by (version) (firstbyte_build_info))",
            "short",
            steps=((None, GREEN), (2, ORANGE)),
        ),
        stat(
            "Probes under way",
            "Probes that wait or read now, all replicas together.",
            "sum(firstbyte_probes_in_flight)",
            "short",
        ),
        stat(
            "Crashes, 24 h",
            "Probes that ended in a fault of ours.",
            "sum(increase(firstbyte_probe_crashes_total[1d]))",
            "short",
            steps=((None, GREEN), (1, RED)),
        ),
        stat(
            "Timings in doubt, 24 h",
            "Probes that count for nothing because our own event loop stood still meanwhile.",
            "sum(increase(firstbyte_probe_suspect_total[1d]))",
            "short",
            steps=((None, GREEN), (1, ORANGE)),
        ),
        stat(
            "Series",
            "Samples of the last scrape, all replicas together.",
            "sum(scrape_samples_scraped)",
            "short",
        ),
        stat(
            "Log lines held back, 24 h",
            "Lines of the log that were held back because too many were alike: something went wrong very often.",
            "sum(increase(firstbyte_log_lines_held_back_total[1d]))",
            "short",
            width=5,
            steps=((None, GREEN), (1, ORANGE)),
        ),
        stat(
            "Lines lost, 24 h",
            "Lines of the log and of the audit that weren't written since nobody took them: a full pipe, a full disk.",
            "sum(increase(firstbyte_log_lines_dropped_total[1d]))"
            " + sum(increase(firstbyte_audit_lines_dropped_total[1d]))",
            "short",
            steps=((None, GREEN), (1, ORANGE)),
        ),
        stat(
            "Messages sent, 24 h",
            "Messages that receivers of notifications took.",
            "sum(increase(firstbyte_notifications_total[1d]))",
            "short",
            width=5,
        ),
        stat(
            "Messages waiting",
            "Messages that wait for their receivers: of a replica that doesn't see all, the largest counts.",
            "max(sum by (instance) (firstbyte_notifications_pending))",
            "short",
            width=5,
            steps=((None, GREEN), (1, ORANGE)),
        ),
        stat(
            "Messages given up, 24 h",
            "Messages that nobody will get: refused for good, too old, or too many.",
            "sum(increase(firstbyte_notifications_dropped_total[1d]))",
            "short",
            width=5,
            steps=((None, GREEN), (1, RED)),
        ),
        timeline(
            "Scraped",
            "Whether each replica could be scraped.",
            Query(expr="max by (instance) (up)", legend="{{instance}}"),
            UP_DOWN,
            width=8,
        ),
        timeline(
            "Configuration",
            "Whether the file was good when each replica last read it; where it wasn't, the one before goes on.",
            Query(expr="max by (instance) (firstbyte_config_last_reload_successful)", legend="{{instance}}"),
            {0: ("refused", RED), 1: ("good", GREEN)},
            width=8,
        ),
        timeline(
            "Store",
            "Whether each replica's store answered.",
            Query(expr="max by (instance) (firstbyte_store_up)", legend="{{instance}}"),
            UP_DOWN,
            width=8,
        ),
    ),
)
_TIME = Row(
    title="Trust in our own times",
    panels=(
        lines(
            "Lateness of the event loop",
            "The worst since the last scrape. What is timed during more than a quarter of a second counts for nothing.",
            _each("max by (instance) (firstbyte_event_loop_lag_seconds)"),
            "s",
            edge=True,
            steps=((None, GREEN), (0.25, RED)),
        ),
        lines(
            "Delay of probes",
            "How late probes began, measured from their plan.",
            (Query(expr=_DELAY % "0.5", legend="p50"), Query(expr=_DELAY % "0.99", legend="p99")),
            "s",
            interval="5m",
        ),
        bars(
            "Probes left out by cause",
            "Turns at which nothing was sent. `misfire` and `overlap` are ours to worry about.",
            Query(
                expr="sum by (cause) (increase(firstbyte_probes_skipped_total[$__rate_interval])) > 0",
                legend="{{cause}}",
            ),
        ),
        lines(
            "Probes in flight",
            "Probes under way, late ones included.",
            _each("sum by (instance) (firstbyte_probes_in_flight)"),
            "short",
            defaults=COUNT,
        ),
    ),
)
_PROCESS = Row(
    title="Process",
    panels=(
        lines(
            "Processor",
            "Share of one processor that each replica uses.",
            _each("sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]))"),
            "percentunit",
            width=8,
        ),
        lines(
            "Memory", "Resident memory.", _each("max by (instance) (process_resident_memory_bytes)"), "bytes", width=8
        ),
        lines(
            "Open files",
            "Open files and connections.",
            _each("max by (instance) (process_open_fds)"),
            "short",
            width=8,
            defaults=COUNT,
        ),
        lines(
            "Garbage collections",
            "How often Python's collector ran, by generation.",
            (
                Query(
                    expr="sum by (generation) (rate(python_gc_collections_total[$__rate_interval]))",
                    legend="generation {{generation}}",
                ),
            ),
            "ops",
            width=8,
        ),
        bars(
            "Lines of the log",
            "By level, those that were held back because too many were alike included.",
            Query(
                expr="sum by (level) (increase(firstbyte_log_lines_total[$__rate_interval])) > 0", legend="{{level}}"
            ),
            overrides=colors(info=BLUE, warning=ORANGE, error=RED),
            width=8,
        ),
        lines(
            "Up for",
            "How long each replica has been running.",
            _each("time() - max by (instance) (process_start_time_seconds)"),
            "s",
            width=8,
        ),
    ),
)
MONITOR = Dashboard(
    name="monitor",
    title="The monitor itself",
    description="Whether Firstbyte's own replicas are well, and whether their times can be trusted.",
    variables=(),
    rows=(_REPLICAS, _TIME, _PROCESS),
)
