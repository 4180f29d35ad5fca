"""Chooses where a step should go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from breaker.circuit import OPENS, Cause, Circuit, State, state, until
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
    LAST_RESORT = "last_resort"  # it is out itself: no target of the route is in order, or too many are out


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


# From the least bad to the worst: what may have recovered, what still answers, what fails; then what can't answer
# until somebody acts, and last what a person has taken out. What isn't named here comes with the failing ones.
_REFUSALS = frozenset(cause for cause in OPENS if cause.refusal)
_FROM_LEAST_BAD: tuple[tuple[State, frozenset[Cause]], ...] = (
    (State.HALF_OPEN, OPENS - _REFUSALS),
    (State.OPEN, frozenset({Cause.SLUMP})),
    (State.OPEN, frozenset({Cause.SLOW})),
    (State.OPEN, frozenset({Cause.ERROR_RATE})),
    (State.OPEN, frozenset({Cause.RATE_LIMITED})),
    (State.OPEN, frozenset({Cause.ERRORS})),
    (State.HALF_OPEN, _REFUSALS),
    (State.OPEN, _REFUSALS),
)
_UNNAMED = _FROM_LEAST_BAD.index((State.OPEN, frozenset({Cause.ERRORS})))

_Known = tuple[Target, Circuit]


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What `GET /route` says.

    `since_s` is how long the primary's circuit has been as it is (None: it has never moved), `until_s` how long
    the primary stays out for certain (None: no clock says), `retry_after_s` is given with a last resort: when the
    next target may come back. `changes_s` is when the clock alone may change the decision (None: never).
    `generation` rises with every move of a circuit of this route. `stale` says that the store didn't answer lately and
    the decision rests on what was last known. `crowded` says that a last resort is offered although another target is
    in order, since more are out than may be.
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
    changes_s: float | None = None
    stale: bool = False
    crowded: bool = False


def choose(route: Route, circuits: Mapping[str, Circuit], now: float, *, stale: bool = False) -> Decision:
    """The first target that is offered: its circuit passes, or it is out and too many are. Never empty.

    `circuits` maps target names to circuits; a target without one has never moved. `now` is the store's time.
    """
    known = [(target, circuits.get(target.name, Circuit())) for target in route.targets]
    primary = known[0][1]
    target, circuit = _chosen(route, known, now)
    passes = state(circuit, now).passes
    out_until = None if state(primary, now).passes else _out_until(primary, now)
    until_s = None if out_until is None else out_until - now
    return Decision(
        route=route,
        target=target,
        role=_role(route, target, passes=passes),
        reason=_reason(primary, now),
        state=state(circuit, now),
        since_s=_since_s(primary, now),
        until_s=until_s,
        generation=sum(circuit.generation for _, circuit in known),
        valid_for_s=VALID_FOR_S if until_s is None else min(VALID_FOR_S, until_s),
        retry_after_s=None if passes else _retry_after_s(known, now),
        changes_s=min((end - now for _, circuit in known if (end := until(circuit, now)) is not None), default=None),
        stale=stale,
        crowded=not passes and any(state(circuit, now).passes for _, circuit in known),
    )


def _chosen(route: Route, known: Sequence[_Known], now: float) -> _Known:
    back = _back_in(route, known, now)
    offered = [pair for pair in known if state(pair[1], now).passes or pair in back]
    return offered[0] if offered else _least_bad_first(known, now)[0]


def _back_in(route: Route, known: Sequence[_Known], now: float) -> list[_Known]:
    """The targets that are offered although they are out, since too many are.

    What a person holds open isn't counted. What can't answer until somebody acts is counted, and never offered.
    """
    out = [pair for pair in known if state(pair[1], now) in (State.OPEN, State.HALF_OPEN)]
    able = [pair for pair in out if pair[1].cause not in _REFUSALS]
    return _least_bad_first(able, now)[: max(len(out) - route.most_out, 0)]


def _role(route: Route, target: Target, *, passes: bool) -> Role:
    if not passes:
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


def _least_bad_first(known: Sequence[_Known], now: float) -> list[_Known]:
    """Among equals the one that comes back first, then the preferred one."""
    return sorted(known, key=lambda pair: (_badness(pair[1], now), _out_until(pair[1], now) or 0.0))


def _badness(circuit: Circuit, now: float) -> int:
    now_is = state(circuit, now)
    if now_is is State.HELD_OPEN:
        return len(_FROM_LEAST_BAD)
    places = (i for i, (of, causes) in enumerate(_FROM_LEAST_BAD) if of is now_is and circuit.cause in causes)
    return next(places, 0 if now_is is State.HALF_OPEN else _UNNAMED)


def _retry_after_s(known: Sequence[_Known], now: float) -> float:
    """When the first hold of a route ends, or a moment where a half-open one may close at any time."""
    out = [circuit for _, circuit in known if not state(circuit, now).passes]
    ends = [end - now for circuit in out if (end := _out_until(circuit, now)) is not None]
    return min(ends) if len(ends) == len(out) else VALID_FOR_S
