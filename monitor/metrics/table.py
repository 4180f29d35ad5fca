"""Writes docs/metrics.md from the metrics that there are."""

import sys

from breaker.api.route.times import BOUNDS_S
from monitor.metrics.names import ALL, ANSWER_S, CALL_S, DELAY_S, Metric

_HEAD = """\
# Metrics

At `/metrics` of the service's address, for Prometheus, in the text format or in OpenMetrics, whichever is asked for.
Values of labels come from the configuration and from closed lists in the code, never from a request; all series of
counters exist from the start, at 0. Besides these there are the usual `process_`, `python_gc_` and `python_info` of the
Python client.

What is told of the last probe (`…_last_…`) stands with the process that sent it, and goes when another process sends
the target's next one, so that nobody shows an old time; only `probe_last_finished_timestamp_seconds` stays, so take the
largest: `max without (instance, pod)`. Circuits, routes and the store are seen alike by every process. Counters stand
where something happened: `sum without (instance, pod) (rate(…))`.

In OpenMetrics, failures and times carry the probe's id as an exemplar (`probe_id`): the one that `GET /moves` and
`GET /targets` name. Prometheus keeps them with `--enable-feature=exemplar-storage`. Leave "convert classic histograms"
off in Prometheus 3: it takes away the `_bucket` series that the dashboards read.

| name | kind | unit | labels | meaning |
| --- | --- | --- | --- | --- |
"""


def table() -> str:
    """The page, in Markdown."""
    bounds = ", ".join(f"{bound:g}" for bound in ANSWER_S)
    calls = ", ".join(f"{bound:g}" for bound in CALL_S)
    routes = ", ".join(f"{bound:g}" for bound in BOUNDS_S)
    delays = ", ".join(f"{bound:g}" for bound in DELAY_S)
    return (
        _HEAD
        + "".join(map(_row, ALL))
        + f"\nUpper bounds of the histograms, in seconds: {bounds}; of the start delay: {delays}; of the"
        + f" store's calls: {calls}; of answers to GET /route: {routes}.\n"
    )


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(table())
