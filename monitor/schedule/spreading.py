"""Spreads probes: targets over an interval, turns within their jitter, and the work over the replicas on one store."""

import random
from collections.abc import Iterator, Sequence

from monitor.settings import TargetPlan

# Replicas wait for a random part of this before they ask the store for a probe that all of them have in mind, so that
# no one of them sends them all; no longer than this share of the time until the next one.
WAIT_S, WAIT_SHARE = 0.1, 0.1


def shares(plans: Sequence[TargetPlan]) -> Iterator[tuple[TargetPlan, float]]:
    """Each target with its share (0 to less than 1) of the way through an interval, evenly and by their order."""
    groups: dict[float, list[TargetPlan]] = {}
    for plan in plans:
        groups.setdefault(plan.policy.interval_s, []).append(plan)
    for group in groups.values():
        yield from ((plan, place / len(group)) for place, plan in enumerate(group))


def part(name: str, number: int) -> float:
    """A part (0 to less than 1) for a turn, as good as random but the same on every replica."""
    return random.Random(f"{name} {number}").random()  # noqa: S311 # nobody gains by guessing it


def wait_s(chance: random.Random, within_s: float) -> float:
    """A random while in seconds, before one of many replicas asks for a probe; the next one is due in `within_s`."""
    return chance.uniform(0.0, min(WAIT_S, within_s * WAIT_SHARE))
