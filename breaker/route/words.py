"""The words for where a step goes: routes, roles, reasons and decisions."""

from dataclasses import dataclass
from enum import StrEnum

from breaker.circuit import Cause, State
from breaker.route.step import Unable
from breaker.target import Target

# How long an agent may go on with a decision before it asks again.
VALID_FOR_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A name that agents ask for, with its targets in order of preference; the first is the primary.

    `max_open_share` (above 0, at most 1) is the share of its targets that may stay out at a time.
    """

    name: str
    targets: tuple[Target, ...]
    max_open_share: float = 1.0

    @property
    def most_out(self) -> int:
        """How many of its targets may stay out at a time."""
        return share_of(len(self.targets), self.max_open_share)


def share_of(count: int, share: float) -> int:
    """How many whole ones a share of so many is: 29 for 0.29 of a hundred, whatever floats say."""
    return int(share * count + 1e-9)


class Role(StrEnum):
    """What the chosen target is to its route."""

    PRIMARY = "primary"
    BACKUP = "backup"
    LAST_RESORT = "last_resort"  # it is out itself, or can't take the step, and no better one may be used


class Reason(StrEnum):
    """Why this target, in one word: what keeps the primary out, as the cause of its circuit's move, or `healthy`."""

    HEALTHY = "healthy"
    SLOW = Cause.SLOW.value
    ERRORS = Cause.ERRORS.value
    ERROR_RATE = Cause.ERROR_RATE.value
    SLUMP = Cause.SLUMP.value
    RATE_LIMITED = Cause.RATE_LIMITED.value
    QUOTA = Cause.QUOTA.value
    AUTH = Cause.AUTH.value
    NOT_FOUND = Cause.NOT_FOUND.value
    MANUAL = Cause.MANUAL.value
    UNABLE = "unable"  # it can't take this step
    RETURNING = "returning"  # its circuit has closed, and this session's turn to return hasn't come


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What `GET /route` says.

    `since_s` is how long the primary's circuit has been as it is (None: it has never moved), `until_s` how long
    the primary stays out for certain (None: no clock says), `retry_after_s` is given with a last resort that is out:
    when the next target may come back. `ends_s` is when what keeps this step from a target before the chosen one is
    over for certain, `changes_s` when the clock alone may change the decision (None: never). `generation` rises with
    every move of a circuit of this route. `stale` says that the store didn't answer lately and the decision rests on
    what was last known, `age_s` ago (None: nothing is known, or nobody says). `crowded` says that a last resort is
    offered although another target is in order, since more are out than may be. `unable` are the route's targets that
    can't take the step; the chosen one is among them where none can. Within `ramp_s` (0: over) sessions may be told
    otherwise than those who name none.
    """

    route: Route
    target: Target
    role: Role
    reason: Reason
    state: State
    since_s: float | None
    until_s: float | None
    generation: int
    valid_for_s: float
    retry_after_s: float | None = None
    ends_s: float | None = None
    changes_s: float | None = None
    stale: bool = False
    age_s: float | None = None
    crowded: bool = False
    unable: tuple[Unable, ...] = ()
    ramp_s: float = 0.0

    @property
    def able(self) -> bool:
        """Whether the chosen target can take the step."""
        return all(each.target != self.target.name for each in self.unable)
