"""Writes docs/metrics.md from the metrics that there are."""

import sys

from monitor.metrics.names import ALL, ANSWER_S, DELAY_S, Metric

_HEAD = """\
# Metrics

At `/metrics` of the service's address, for Prometheus. Values of labels come from the configuration and from closed
lists in the code, never from a request; all series of counters exist from the start, at 0. Besides these there are
the usual `process_`, `python_gc_` and `python_info` of the Python client.

| name | kind | unit | labels | meaning |
| --- | --- | --- | --- | --- |
"""


def table() -> str:
    """The page, in Markdown."""
    bounds = ", ".join(f"{bound:g}" for bound in ANSWER_S)
    delays = ", ".join(f"{bound:g}" for bound in DELAY_S)
    return (
        _HEAD
        + "".join(map(_row, ALL))
        + f"\nUpper bounds of the histograms, in seconds: {bounds}; those of the start delay: {delays}.\n"
    )


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(table())
