"""A target's usual speed, learnt from its probes, and the evidence that it has fallen into a slump.

What to do with it:

- `learn` with every probe's final first byte (a time-out counts with the time that it took; failures have none), `out`
  where the circuit isn't closed, or the evidence of the moment is `suspect`.
- `evidence` of the telling probes since the circuit's last move, oldest first; `start` is ENOUGH where that move opened
  the circuit as a slump, else 0.
- It opens (closed or half-open) when the evidence reaches ENOUGH.
- It closes only with its newest good probes not `sluggish`, and only where the evidence is `over` (for a slump) or at
  least no longer `suspect` (for other causes).
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite, log

from breaker.policy import Policy

# How slow answers are is counted in bins, each so many times as wide as the one before; slower ones count in the last.
_RATIO, _FASTEST_S, _SLOWEST_S = 1.12, 0.05, 600.0
_BINS = 2 + int(log(_SLOWEST_S / _FASTEST_S) / log(_RATIO))
_EDGES = tuple(_FASTEST_S * _RATIO**i for i in range(_BINS))

_DAY_S = 86_400.0
_HALF_LIFE_S = 3 * _DAY_S  # what was learnt so long ago counts half: more than a weekend, so that day and night are in
_AGEING_S = 3600.0  # ageing at every answer would cost more and bring no more
_NEW_NORMAL_S = 5 * _DAY_S  # a slump that lasts about so long is the new normal
_MOST_STEP_S = 600.0  # one answer speaks for no more than this much time

_KNOWN = 20.0  # answers before anything is called usual
_LEAST_MORE_S = 2.0  # leaving a target for less than this is worth nobody's while
_DOUBT, _DOUBTED_SHARE = 8.0, 0.25  # so many answers more are assumed, this share of them sluggish
_LEAST_SHARE = 0.1  # sluggish ones are never taken to be rarer than this
_SPARED = 0.3  # in a slump so many of the answers that usually are quick still are

_VERSION = "1"

ENOUGH = 8.0  # logarithm of the odds that open the circuit
_AT_LEAST = 6  # so many sluggish answers it takes, however rare they are


@dataclass(frozen=True, slots=True)
class Usual:
    """How often first bytes came how late: a weight a bin, none yet where it is empty.

    `at` is when something was learnt last, `aged_at` when the weights were aged last; both are the store's time.
    """

    weights: tuple[float, ...] = ()
    at: float = 0.0
    aged_at: float = 0.0


def learn(usual: Usual, first_byte_s: float, at: float, *, out: bool) -> Usual:
    """What is usual after one more answer.

    `out`: the target is out of use or suspected, so its answers count by the time that they speak for, and a slump
    becomes usual only after days.
    """
    if out and not any(usual.weights):
        return Usual()
    weights = usual.weights or (0.0,) * _BINS
    aged_at = usual.aged_at if usual.weights and usual.aged_at <= at else at
    if at - aged_at >= _AGEING_S:
        left = 0.5 ** ((at - aged_at) / _HALF_LIFE_S)
        weights, aged_at = tuple(round(weight * left, 4) for weight in weights), at
    more = sum(weights) * min(max(at - usual.at, 0.0), _MOST_STEP_S) / _NEW_NORMAL_S if out else 1.0
    i = _bin(first_byte_s)
    return Usual((*weights[:i], round(weights[i] + more, 4), *weights[i + 1 :]), at, aged_at)


def typical_s(usual: Usual) -> float | None:
    """The usual first byte (the median); None where too little is known."""
    sums = list(accumulate(usual.weights))
    if not sums or sums[-1] < _KNOWN:
        return None
    half = sums[-1] / 2
    i = bisect_left(sums, half)
    return float(_EDGES[i] * _RATIO ** ((half - sums[i]) / usual.weights[i]))


def limit_s(usual: Usual, policy: Policy) -> float | None:
    """A first byte above this is sluggish; None where too little is known to say so."""
    typical = typical_s(usual)
    return None if typical is None else max(policy.slump_factor * typical, typical + _LEAST_MORE_S)


def sluggish(usual: Usual, first_byte_s: float, policy: Policy) -> bool:
    """Whether a first byte is several times later than usual."""
    limit = limit_s(usual, policy)
    return limit is not None and first_byte_s > limit


def evidence(usual: Usual, first_bytes: Iterable[float], policy: Policy, *, start: float = 0.0) -> float:
    """How much speaks for a slump, from 0 (nothing) to ENOUGH, after some first bytes, the oldest first."""
    limit = limit_s(usual, policy)
    found = min(max(start, 0.0), ENOUGH)
    if limit is None:
        return found
    share = _sluggish_share(usual, limit)
    more = min(log((1 - _SPARED * (1 - share)) / share), ENOUGH / _AT_LEAST)
    less = log(_SPARED)
    for first_byte_s in first_bytes:
        found = min(max(found + (more if first_byte_s > limit else less), 0.0), ENOUGH)
    return found


def suspect(found: float) -> bool:
    """Whether there is so much evidence that answers shouldn't be learnt as usual, nor a circuit be closed."""
    return found >= ENOUGH / 2


def over(found: float) -> bool:
    """Whether there is so little evidence that a slump has ended."""
    return found <= 0.0


def write(usual: Usual) -> str:
    """A text of less than 2 KB from which `read` makes the same again."""
    times = f"{_VERSION} {usual.at!r} {usual.aged_at!r}"
    return " ".join([times, *(f"{i}:{weight!r}" for i, weight in enumerate(usual.weights) if weight)])


def read(text: str) -> Usual:
    """What was written; nothing known where the text isn't one of ours."""
    match text.split(" "):
        case [version, at, aged_at, *pairs] if version == _VERSION:
            try:
                return _checked(float(at), float(aged_at), pairs)
            except ValueError:
                return Usual()
        case _:
            return Usual()


def _checked(at: float, aged_at: float, pairs: list[str]) -> Usual:
    """Raises ValueError where a part isn't what `write` would have written."""
    weights = [0.0] * _BINS
    for pair in pairs:
        place, _, weight = pair.partition(":")
        if not 0 <= int(place) < _BINS:
            raise ValueError(pair)
        weights[int(place)] = float(weight)
    if not all(isfinite(number) and number >= 0 for number in (at, aged_at, *weights)):
        raise ValueError(pairs)
    return Usual(tuple(weights) if any(weights) else (), at, aged_at)


def _bin(first_byte_s: float) -> int:
    return min(bisect_left(_EDGES, first_byte_s), _BINS - 1)


def _sluggish_share(usual: Usual, limit: float) -> float:
    """The usual share of answers above a limit, with doubt where little is known."""
    i = _bin(limit)
    part = min(max(log(_EDGES[i] / limit) / log(_RATIO), 0.0), 1.0)
    above = sum(usual.weights[i + 1 :]) + part * usual.weights[i]
    share = (above + _DOUBT * _DOUBTED_SHARE) / (sum(usual.weights) + _DOUBT)
    return max(share, _LEAST_SHARE)
