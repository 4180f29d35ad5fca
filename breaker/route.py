"""Chooses where a step should go."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from breaker.circuit import OPENS, Cause, Circuit, State, state, until
from breaker.target import Target

# How long an agent may go on with a decision before it asks again.
VALID_FOR_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A name that agents ask for, with its targets in order of preference; the first is the primary."""

    name: str
    targets: tuple[Target, ...]


class Role(StrEnum):
    """What the chosen target is to its route."""

    PRIMARY = "primary"
    BACKUP = "backup"
    LAST_RESORT = "last_resort"  # no target of the route may be asked; this one is the least bad


class Reason(StrEnum):
    """Why this target, in one word: what keeps the primary out, or `healthy`."""

    HEALTHY = "healthy"
    SLOW = "slow"
    ERRORS = "errors"
    ERROR_RATE = "error_rate"
    SLUMP = "slump"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    MANUAL = "manual"


# Whatever stands in a damaged store, an agent gets its answer.
_REASONS: dict[Cause | None, Reason] = {cause: Reason(cause.value) for cause in OPENS}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What `GET /route` says.

    `since_s` is how long the primary's circuit has been as it is (None: it has never moved), `until_s` how long
    the primary stays out for certain (None: no clock says), `retry_after_s` is given with a last resort: when the
    next target may come back. `generation` rises with every move of a circuit of this route. `stale` says that
    the store didn't answer lately and the decision rests on what was last known.
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
    stale: bool = False


def choose(route: Route, circuits: Mapping[str, Circuit], now: float, *, stale: bool = False) -> Decision:
    """The first target whose circuit passes, else the least bad one. Never empty.

    `circuits` maps target names to circuits; a target without one has never moved. `now` is the store's time.
    """
    known = [(target, circuits.get(target.name, Circuit())) for target in route.targets]
    passing = [target for target, circuit in known if state(circuit, now).passes]
    primary = known[0][1]
    out_until = None if state(primary, now).passes else _out_until(primary, now)
    target = passing[0] if passing else _least_bad(known, now)
    until_s = None if out_until is None else out_until - now
    return Decision(
        route=route,
        target=target,
        role=_role(route, target, passing=bool(passing)),
        reason=_reason(primary, now),
        state=state(circuits.get(target.name, Circuit()), now),
        since_s=_since_s(primary, now),
        until_s=until_s,
        generation=sum(circuit.generation for _, circuit in known),
        valid_for_s=VALID_FOR_S if until_s is None else min(VALID_FOR_S, until_s),
        retry_after_s=None if passing else _retry_after_s(known, now),
        stale=stale,
    )


def _role(route: Route, target: Target, *, passing: bool) -> Role:
    if not passing:
        return Role.LAST_RESORT
    return Role.PRIMARY if target == route.targets[0] else Role.BACKUP


def _reason(primary: Circuit, now: float) -> Reason:
    """What keeps the primary out."""
    now_is = state(primary, now)
    if now_is.passes:
        return Reason.HEALTHY
    if now_is is State.HELD_OPEN:
        return Reason.MANUAL
    return _REASONS.get(primary.cause, Reason.ERRORS)


def _since_s(primary: Circuit, now: float) -> float | None:
    held = primary.held if primary.held and now < primary.held.until else None
    since = held.since if held else primary.moved_at
    return max(now - since, 0.0) if since else None


def _out_until(circuit: Circuit, now: float) -> float | None:
    """Until when one that doesn't pass stays out for certain: a hold by hand may end over an open circuit."""
    ends = [end for end in (until(circuit, now), circuit.open_until) if end is not None and end > now]
    return max(ends, default=None)


def _least_bad(known: list[tuple[Target, Circuit]], now: float) -> Target:
    """Half-open before open before held open; among equals the one that comes back first, then the preferred one."""
    order = {State.HALF_OPEN: 0, State.OPEN: 1, State.HELD_OPEN: 2}
    ranked = sorted(known, key=lambda pair: (order.get(state(pair[1], now), 3), _out_until(pair[1], now) or 0.0))
    return ranked[0][0]


def _retry_after_s(known: list[tuple[Target, Circuit]], now: float) -> float:
    """When the first hold of a route ends, or a moment where a half-open one may close at any time."""
    ends = [end - now for _, circuit in known if (end := _out_until(circuit, now)) is not None]
    return min(ends) if len(ends) == len(known) else VALID_FOR_S
