"""A target's usual speed, learnt from its probes, and the evidence that it has fallen into a slump.

What to do with it:

- `learn` with every probe's final first byte (a time-out counts with the time that it took; failures have none), `out`
  where the circuit isn't closed.
- `evidence` of the telling probes since the circuit's last move, oldest first; `start` is ENOUGH where that move opened
  the circuit as a slump, else 0.
- It opens (closed or half-open) when the evidence reaches ENOUGH and the newest probe is `sluggish`.
- It closes only with its newest good probes not `sluggish`, and only where the evidence is `over` (for a slump) or at
  least no longer `suspect` (for other causes).

Why all this is so: docs/decisions/slump.md.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import isfinite, log

from breaker.policy import Policy

# First bytes are counted in bins, each so many times as late as the one before; what comes later counts in the last.
_RATIO, _FASTEST_S, _SLOWEST_S = 1.13, 0.05, 600.0
_BINS = 2 + int(log(_SLOWEST_S / _FASTEST_S) / log(_RATIO))
_EDGES = tuple(_FASTEST_S * _RATIO**i for i in range(_BINS))

_DAY_S = 86_400.0
_KNOWN = 20.0  # answers before anything is called usual
_HELD = 64  # so many newest answers wait until it is certain that no slump began with them
_HELD_SHARE = 0.5  # but at most this share of what is known, so that the first hour teaches too
_HALF_LIFE_S = 3 * _DAY_S  # what is so old counts half: long enough for day and night, short enough for a new model
_AGEING_S = 3600.0  # ageing at every answer would cost more and bring no more
_NEW_NORMAL_S = 5 * _DAY_S  # a slump that lasts about so long is the new normal
_SAMPLE_S, _MOST_SAMPLE_S = 600.0, 3600.0  # outside, one answer in ten minutes teaches, for an hour at most

_LEAST_MORE_S = 2.0  # leaving a target for less than this is worth nobody's while
_SLOWER_HOURS = 0.4  # how usual it is taken to be that all comes up to two thirds of the factor later for hours
_SPARED = 0.2  # in a slump this share of the answers is as usual
_DOUBT = 6.0  # so many answers are made up, far more spread than those that came
_BLUR, _FAR_BLUR = (1, 3), (6, 2)  # bins to either side, and how often: what came so late could have come so late too

ENOUGH = 8.0  # about the logarithm of the odds that open a circuit
_MOST_GAIN = 1.0  # one answer changes the evidence by no more than this: a slump takes eight at least


@dataclass(frozen=True, slots=True)
class Usual:
    """How often first bytes came how late: a weight a bin, none yet where it is empty.

    `held` are the bins of the newest answers, not learnt yet, oldest first. `at` is when something was learnt last,
    `aged_at` when the weights were aged last; both are the store's time.
    """

    weights: tuple[float, ...] = ()
    held: tuple[int, ...] = ()
    at: float = 0.0
    aged_at: float = 0.0


UNKNOWN = Usual()


def learn(usual: Usual, first_byte_s: float, at: float, *, out: bool) -> Usual:
    """What is usual after one more answer.

    `out`: the circuit isn't closed, so answers count by the time that they speak for, and a slump becomes usual only
    after days. Those that came just before they weren't so are forgotten, since the slump began with them.
    """
    place = _bin(first_byte_s)
    return _learn_outside(usual, place, at) if out else _learn_inside(usual, place, at)


def typical_s(usual: Usual) -> float | None:
    """The usual first byte (the median); None where too little is known."""
    sums = list(accumulate(usual.weights))
    return _median(usual.weights, sums) if sums and sums[-1] >= _KNOWN else None


def limit_s(usual: Usual, policy: Policy) -> float | None:
    """A first byte above this is sluggish: it speaks for a slump. None where too little is known."""
    gains = _gains_of(usual, policy)
    return next((_EDGES[i - 1] for i, gain in enumerate(gains) if gain > 0), None)


def sluggish(usual: Usual, first_byte_s: float, policy: Policy) -> bool:
    """Whether a first byte is so late that it speaks for a slump."""
    gains = _gains_of(usual, policy)
    return bool(gains) and gains[bisect_left(_EDGES, first_byte_s)] > 0


def evidence(usual: Usual, first_bytes: Iterable[float], policy: Policy, *, start: float = 0.0) -> float:
    """How much speaks for a slump, from 0.0 (nothing) to ENOUGH, after some first bytes, the oldest first."""
    found = min(max(start, 0.0), ENOUGH)
    if gains := _gains_of(usual, policy):
        for first_byte_s in first_bytes:
            found += gains[bisect_left(_EDGES, first_byte_s)]
            if found < 0.0:
                found = 0.0
            elif found > ENOUGH:
                found = ENOUGH
    return found


def suspect(found: float) -> bool:
    """Whether there is so much evidence that no circuit should close."""
    return found > ENOUGH / 2


def over(found: float) -> bool:
    """Whether there is so little evidence that a slump has ended."""
    return found <= 0.0


def write(usual: Usual) -> str:
    """A text of less than 2 KB from which `read` makes the same again."""
    held = ",".join(str(place) for place in usual.held)
    weights = ",".join(f"{place}:{weight!r}" for place, weight in enumerate(usual.weights) if weight)
    return f"{_FORM} {usual.at!r} {usual.aged_at!r} {held} {weights}"


def read(text: str) -> Usual:
    """What was written; nothing known where the text isn't one of ours."""
    try:
        form, at, aged_at, held, weights = text.split(" ")
        return _read(float(at), float(aged_at), _split(held), _split(weights)) if form == _FORM else UNKNOWN
    except ValueError:
        return UNKNOWN


_FORM = "1"


def _split(text: str) -> list[str]:
    return text.split(",") if text else []


def _read(at: float, aged_at: float, held: list[str], pairs: list[str]) -> Usual:
    """Raises ValueError where a part isn't what `write` would have written."""
    places = tuple(int(place) for place in held)
    known = {int(place): float(weight) for place, weight in (pair.split(":") for pair in pairs)}
    in_bins = all(0 <= place < _BINS for place in (*places, *known))
    if not in_bins or len(places) > _HELD or not all(isfinite(n) and n >= 0 for n in (at, aged_at, *known.values())):
        raise ValueError(pairs)
    weights = tuple(known.get(place, 0.0) for place in range(_BINS)) if known else ()
    return Usual(weights, places, at, aged_at)


def _bin(first_byte_s: float) -> int:
    return min(bisect_left(_EDGES, first_byte_s), _BINS - 1)


def _learn_inside(usual: Usual, place: int, at: float) -> Usual:
    usual = _aged(usual, at)
    held = (*usual.held, place)
    ready = _ready(len(held), sum(usual.weights))
    weights = _with(usual.weights, held[:ready], 1.0) if ready else usual.weights
    return Usual(weights, held[ready:], at, usual.aged_at)


def _ready(held: int, known: float) -> int:
    """How many of the answers that are held back are learnt now: several at once, since each change has its cost."""
    most = min(_HELD, int(_HELD_SHARE * known)) if known >= _KNOWN else 0
    return max(held - most, held // 4) if held > most else 0


def _learn_outside(usual: Usual, place: int, at: float) -> Usual:
    since_s = at - usual.at
    if not usual.weights or 0 <= since_s < _SAMPLE_S:
        return replace(usual, held=())
    usual = _aged(usual, at)
    share = min(max(since_s, _SAMPLE_S), _MOST_SAMPLE_S) / _NEW_NORMAL_S
    return Usual(_with(usual.weights, (place,), share * sum(usual.weights)), (), at, usual.aged_at)


def _with(weights: tuple[float, ...], places: Iterable[int], weight: float) -> tuple[float, ...]:
    more = list(weights) or [0.0] * _BINS
    for place in places:
        more[place] = round(more[place] + weight, 4)
    return tuple(more) if any(more) else ()


def _aged(usual: Usual, at: float) -> Usual:
    """With less weight for what is old; where a clock was set back, nothing is older than now."""
    age_s = at - usual.aged_at
    if not usual.weights or age_s < 0:
        return replace(usual, aged_at=at)
    if age_s < _AGEING_S:
        return usual
    left = 0.5 ** (age_s / _HALF_LIFE_S)
    weights = tuple(round(weight * left, 4) for weight in usual.weights)
    return replace(usual, weights=weights if any(weights) else (), aged_at=at)


def _median(weights: Sequence[float], sums: Sequence[float]) -> float:
    half = sums[-1] / 2
    place = bisect_left(sums, half)
    return float(_EDGES[place] * _RATIO ** ((half - sums[place]) / weights[place]))


def _gains_of(usual: Usual, policy: Policy) -> tuple[float, ...]:
    return _gains(usual.weights, policy.slump_factor)


@lru_cache(maxsize=256)
def _gains(weights: tuple[float, ...], factor: float) -> tuple[float, ...]:
    """How much a first byte in each bin speaks for a slump (or against it, below 0); empty where too little is known.

    It is the logarithm of how much likelier it would be in a slump than usually, made to rise from bin to bin.
    """
    sums = list(accumulate(weights))
    if not sums or sums[-1] < _KNOWN:
        return ()
    usually = _likely(weights, sums[-1])
    third = log(factor) / log(_RATIO) / 3
    milder = [_later(usually, round(n * third)) for n in (1, 2)]
    healthy = [max(often, _SLOWER_HOURS * max(later)) for often, *later in zip(usually, *milder, strict=True)]
    worth_it = bisect_left(_EDGES, _median(weights, sums) + _LEAST_MORE_S)
    slower = [_later(usually, round(n * third)) for n in (3, 4, 5)]
    slumped = [sum(later) / len(later) if i >= worth_it else 0.0 for i, later in enumerate(zip(*slower, strict=True))]
    in_a_slump = [_SPARED * a + (1 - _SPARED) * b for a, b in zip(healthy, slumped, strict=True)]
    gains = [min(max(log(odds), -_MOST_GAIN), _MOST_GAIN) for odds in _rising(in_a_slump, healthy)]
    return (*gains, gains[-1])  # one more for what comes after the last bin's end


def _likely(weights: Sequence[float], total: float) -> list[float]:
    """The probability of each bin, with doubt where little is known; never 0."""
    seen = _blurred([weight / (total + _DOUBT) for weight in weights], *_BLUR)
    wide = _blurred(seen, *_FAR_BLUR)
    doubt = _DOUBT / (total + _DOUBT) / sum(wide)
    return [a + doubt * b + 1e-4 / _BINS for a, b in zip(seen, wide, strict=True)]


def _blurred(weights: Sequence[float], reach: int, times: int) -> list[float]:
    """Each weight spread evenly over its neighbours, several times over."""
    blurred = list(weights)
    for _ in range(times):
        sums = [0.0] * (reach + 1) + list(accumulate(blurred))
        sums += sums[-1:] * reach
        blurred = [(b - a) / (2 * reach + 1) for a, b in zip(sums, sums[2 * reach + 1 :], strict=False)]
    return blurred


def _later(likely: list[float], bins: int) -> list[float]:
    """The probabilities if all came so many bins later; the last holds what would come later still."""
    kept = len(likely) - 1 - bins
    return [0.0] * bins + likely[:kept] + [sum(likely[kept:])]


def _rising(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The quotients of two rows, neighbours pooled wherever a quotient would be smaller than the one before."""
    pools: list[tuple[float, float, int]] = []
    for a, b in zip(above, below, strict=True):
        pool = (a, b, 1)
        while pools and pools[-1][0] * pool[1] > pool[0] * pools[-1][1]:
            last = pools.pop()
            pool = (pool[0] + last[0], pool[1] + last[1], pool[2] + last[2])
        pools.append(pool)
    return [a / b for a, b, count in pools for _ in range(count)]
