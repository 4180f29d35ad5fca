"""The words for circuits: states, causes, holds, moves and the numbers behind them."""

from dataclasses import dataclass
from enum import StrEnum

from breaker.log import Entry


class State(StrEnum):
    """What a circuit is at a moment."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    HELD_OPEN = "held-open"
    HELD_CLOSED = "held-closed"

    @property
    def passes(self) -> bool:
        """Whether agents may be sent there."""
        return self in (State.CLOSED, State.HELD_CLOSED)


class Cause(StrEnum):
    """Why a circuit moved."""

    SLOW = "slow"
    ERRORS = "errors"
    ERROR_RATE = "error_rate"
    SLUMP = "slump"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    MANUAL = "manual"
    RECOVERED = "recovered"
    UNVERIFIED = "unverified"  # closed because nobody was there to look
    WAITED = "waited"  # closed because the time for which it was left alone is over
    HOLD_OVER = "hold_over"  # a hold by hand came to its end
    CLOCK = "clock"  # the store's clock was set back; times were set anew
    RESTORED = "restored"  # the store had lost a circuit's last moves; they were put back

    @property
    def refusal(self) -> bool:
        """Whether the target itself said that asking again can't help until somebody acts."""
        return self in (Cause.QUOTA, Cause.AUTH, Cause.NOT_FOUND)


# What opens a circuit by itself.
OPENS = frozenset(
    {
        Cause.SLOW,
        Cause.ERRORS,
        Cause.ERROR_RATE,
        Cause.SLUMP,
        Cause.RATE_LIMITED,
        Cause.QUOTA,
        Cause.AUTH,
        Cause.NOT_FOUND,
    }
)

# What closes it again by itself.
CLOSES = frozenset({Cause.RECOVERED, Cause.UNVERIFIED, Cause.WAITED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A hold by hand: `opened` says which way, `until` when it ends by itself (store's time)."""

    opened: bool
    who: str
    why: str
    since: float
    until: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Circuit:
    """What the store keeps of a target's circuit; times are the store's, in seconds since 1970.

    `generation` rises by one with every move; `epoch` is a nonce made with the key, so a store that lost
    everything is noticed. `moved_at` is the last automatic move (0.0: none yet), `cause` its cause.
    `open_until` is None while closed. `hold_s` is the length of the last hold (0.0: there was none), by which
    a growing one grows.
    """

    epoch: str = ""
    generation: int = 0
    cause: Cause | None = None
    moved_at: float = 0.0
    open_until: float | None = None
    held: Held | None = None
    hold_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that was compared, and the limit that it was compared with; `what` is a name of the policy's, or one of
    `evidence` (see `breaker.usual`), `retry_after_s`, `fresh_s`, `silent_s`.
    """

    what: str
    value: float
    limit: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """A change of a circuit: what it was, what it is now, why, the answers that caused it and the numbers compared."""

    at: float
    before: State
    after: State
    cause: Cause
    why: str
    circuit: Circuit
    answers: tuple[Entry, ...] = ()
    measures: tuple[Measure, ...] = ()
