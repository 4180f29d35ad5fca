"""What the switchboard tells, and whom it asks."""

from dataclasses import dataclass
from typing import Protocol

from breaker.circuit import Circuit, State
from breaker.log import Entry, Log
from breaker.policy import Policy
from breaker.target import Target


class Network(Protocol):
    """Knows whether our own network is down, which no target is to blame for."""

    @property
    def suspect_since(self) -> float | None:
        """Since when (monotonic) it has been down; None while it isn't."""
        ...

    async def down(self, target: str) -> bool:
        """Whether it is down, now that something asked of a target has broken off; answers within seconds."""
        ...

    def was_down(self, seconds: float) -> bool:
        """Whether it has been down at any time within so many seconds."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """A target as people see it: its circuit, what that is now, and what its last answers were.

    `stale` says that the part of the store where it lies hasn't answered lately.
    """

    target: Target
    policy: Policy
    circuit: Circuit
    state: State
    until: float | None
    log: Log
    stale: bool


def newest(log: Log) -> Entry | None:
    """The entry of a log that counted last; None where nothing has."""
    entries = [*log.probes, *log.reports]
    return max(entries, key=lambda entry: entry.at, default=None)
