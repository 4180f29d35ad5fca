"""Which of the targets that are out is the least bad."""

from collections.abc import Sequence

from breaker.circuit import OPENS, Cause, Circuit, State, state, until
from breaker.target import Target

# From the least bad to the worst: what may have recovered, what still answers, what fails; then what can't answer
# until somebody acts, and last what a person has taken out. What isn't named here comes with the failing ones.
REFUSALS = frozenset(cause for cause in OPENS if cause.refusal)
_FROM_LEAST_BAD: tuple[tuple[State, frozenset[Cause]], ...] = (
    (State.HALF_OPEN, OPENS - REFUSALS),
    (State.OPEN, frozenset({Cause.SLUMP})),
    (State.OPEN, frozenset({Cause.SLOW})),
    (State.OPEN, frozenset({Cause.ERROR_RATE})),
    (State.OPEN, frozenset({Cause.RATE_LIMITED})),
    (State.OPEN, frozenset({Cause.ERRORS})),
    (State.HALF_OPEN, REFUSALS),
    (State.OPEN, REFUSALS),
)
_UNNAMED = _FROM_LEAST_BAD.index((State.OPEN, frozenset({Cause.ERRORS})))

Known = tuple[Target, Circuit]


def least_bad_first(known: Sequence[Known], now: float) -> list[Known]:
    """Among equals the one that comes back first, then the preferred one."""
    return sorted(known, key=lambda pair: (_badness(pair[1], now), out_until(pair[1], now) or 0.0))


def out_until(circuit: Circuit, now: float) -> float | None:
    """Until when one that doesn't pass stays out for certain: a hold by hand may end over an open circuit."""
    ends = [end for end in (until(circuit, now), circuit.open_until) if end is not None and end > now]
    return max(ends, default=None)


def _badness(circuit: Circuit, now: float) -> int:
    now_is = state(circuit, now)
    if now_is is State.HELD_OPEN:
        return len(_FROM_LEAST_BAD)
    places = (i for i, (of, causes) in enumerate(_FROM_LEAST_BAD) if of is now_is and circuit.cause in causes)
    return next(places, 0 if now_is is State.HALF_OPEN else _UNNAMED)
