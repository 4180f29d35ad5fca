"""A door on this machine for agents that no transport can be put into: it runs the very same transport for them."""

from monitor.guard.running import guard

__all__ = ["guard"]
