"""Counts what probes find and what circuits do, for Prometheus."""

from monitor.metrics.counts import Metrics, Skip

__all__ = ["Metrics", "Skip"]
