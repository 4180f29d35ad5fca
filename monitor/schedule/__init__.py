"""Decides when which target is probed, and sees to it."""

from monitor.schedule.prober import Prober

__all__ = ["Prober"]
