"""What a transport needs of whoever knows the targets, and how a decision becomes a place to ask."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from breaker.answer import Answer
from breaker.attempt import Limits, Place
from breaker.client.said import Decision

_log = logging.getLogger(__name__)


class Guide(Protocol):
    """Says from memory where a step of a route goes, and hears how it went; `Firstbyte` and `AsyncFirstbyte` are such.

    What it raises is logged and changes nothing for the step: the request then goes where it was addressed to.
    """

    def route(self, name: str | None = None) -> Decision | Awaitable[Decision]:
        """Where the next step of a route goes."""
        ...

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """The best target of a route besides those that were tried; None where there is none."""
        ...

    def report(self, answer: Answer) -> object:
        """Take the facts of an attempt, or of its late part; returns at once."""
        ...


def place_of(decision: Decision) -> Place:
    """The target of a decision, as an attempt asks it."""
    return Place(
        target=decision.target,
        provider=decision.provider,
        model=decision.model,
        base_url=decision.base_url,
        wire=decision.wire,
        api_key_env=decision.api_key_env,
        role=decision.role,
    )


def limits_of(decision: Decision) -> Limits:
    """The limits of a decision's target, and our defaults for all else."""
    try:
        return Limits(first_byte_s=decision.slow_s, silence_s=decision.silence_s)
    except ValueError:
        return Limits()


def others(guide: Guide, route: str | None, wire: str, most: int) -> Callable[[Collection[str]], Place | None]:
    """What gives the best other target of a route that speaks the same wire; `most` is how many it looks at."""

    def besides(tried: Collection[str]) -> Place | None:
        out = set(tried)
        for _ in range(most):
            decision = _quietly(guide, out, route)
            if decision is None or decision.target in out:
                return None
            if decision.wire == wire:
                return place_of(decision)
            out.add(decision.target)
        return None

    return besides


def _quietly(guide: Guide, tried: Collection[str], route: str | None) -> Decision | None:
    try:
        return guide.besides(tried, route)
    except Exception as error:  # noqa: BLE001 # no step fails because of us
        _log.warning("the guide knows no other target: %s", type(error).__name__)
        return None


def report(guide: Guide, answer: Answer) -> None:
    """Tell the guide; what it raises is only logged."""
    try:
        guide.report(answer)
    except Exception as error:  # noqa: BLE001 # no step fails because of us
        _log.warning("an answer of %s could not be reported: %s", answer.target, type(error).__name__)
