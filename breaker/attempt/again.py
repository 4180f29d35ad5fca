"""Says whether, where and when to ask again after attempts that failed."""

from collections.abc import Sequence
from typing import NamedTuple

from breaker.attempt.limits import Limits
from breaker.attempt.place import Place
from breaker.verdict import Verdict

# What asking the same target again can't help.
_FINAL = frozenset({Verdict.AUTH, Verdict.QUOTA, Verdict.NOT_FOUND, Verdict.BAD_REQUEST, Verdict.CONTEXT_TOO_LONG})
# A pause is shortened by up to this share, so that those who failed together don't come back together.
_SPREAD = 0.25


class Tried(NamedTuple):
    """An attempt that failed: where, as what, when it ended, and how long the provider asked to be left alone."""

    place: Place
    verdict: Verdict
    ended: float
    retry_after_s: float | None = None


class Next(NamedTuple):
    """Where to ask next, and not before when."""

    place: Place
    at: float


def next_try(
    fresh: Place | None,
    tried: Sequence[Tried],
    limits: Limits,
    *,
    began: float,
    now: float,
    chance: float,
    calm: bool = False,
) -> Next | None:
    """A fresh target at once where there is one, else one that failed, after a pause; None where neither will do.

    `tried` holds at least one; `began` is when the step did, `chance` a random number from 0 to 1, `calm` says that the
    least reasoning was asked for from the first: what has no end then is asked no second time.
    """
    loops = sum(one.verdict is Verdict.LOOP for one in tried)
    if len(tried) >= limits.attempts or loops > (0 if calm else 1):
        return None
    if fresh is not None:
        return _in_time(Next(fresh, now), limits, began)
    places = {one.place.target: one.place for one in tried}.values()
    waits = [_again(place, tried, limits, chance) for place in places if not _is_final(place, tried)]
    first = min(waits, key=lambda one: one.at, default=None)
    return None if first is None else _in_time(Next(first.place, max(first.at, now)), limits, began)


def _in_time(one: Next, limits: Limits, began: float) -> Next | None:
    return one if one.at - began <= limits.budget_s else None


def _is_final(place: Place, tried: Sequence[Tried]) -> bool:
    return any(one.verdict in _FINAL for one in tried if one.place.target == place.target)


def _again(place: Place, tried: Sequence[Tried], limits: Limits, chance: float) -> Next:
    """When a target may be asked again that failed."""
    here = [one for one in tried if one.place.target == place.target]
    pause_s = limits.pause_s * 2 ** (len(here) - 1) * (1 - _SPREAD * chance)
    return Next(place, here[-1].ended + max(pause_s, here[-1].retry_after_s or 0.0))
