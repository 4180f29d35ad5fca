"""What the switchboard tells, and whom it asks."""

from dataclasses import dataclass
from typing import Protocol

from breaker.circuit import Cause, Circuit, Held, State
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

    @property
    def held(self) -> Held | None:
        """The hold by hand that lies over its circuit now; None where none does."""
        return self.circuit.held if self.state in (State.HELD_OPEN, State.HELD_CLOSED) else None

    @property
    def cause(self) -> Cause | None:
        """Why it is as it is: the hold by hand, or else the circuit's last move; None where it has never moved."""
        return self.circuit.cause if self.held is None else Cause.MANUAL


def newest(log: Log) -> Entry | None:
    """The entry of a log that counted last; None where nothing has."""
    entries = [*log.probes, *log.reports]
    return max(entries, key=lambda entry: entry.at, default=None)
