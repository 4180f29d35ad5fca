"""Asks a target one real question, as large as an agent's own, over a connection that stamps what comes."""

from monitor.probe.probe import probe

__all__ = ["probe"]
