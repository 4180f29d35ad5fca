"""What a transport needs of whoever knows the targets, and how a decision becomes a place to ask."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from breaker.answer import Answer
from breaker.attempt import Asked, Limits, Place
from breaker.client.said import Decision
from breaker.client.transport.sending import is_sendable

_log = logging.getLogger(__name__)

# The role of a target that is none of any route's: where the caller's own request was addressed to.
ADDRESSED = "addressed"
# Whoever guides may be anybody: it isn't asked for another target for ever.
_MOST_LOOKS = 64


class Guide(Protocol):
    """Says from memory where a step of a route goes, and hears how it went; `Firstbyte` and `AsyncFirstbyte` are such.

    What it raises is logged and changes nothing for the step: it is then asked where it was addressed to.
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


def addressed(scheme: str, netloc: str, path: str, asked: Asked) -> Decision:
    """The decision to ask where the caller's request was addressed to, with the path and query that it had.

    It names what no service knows, so nobody is told how it went.
    """
    target = f"{netloc}/{asked.model}"
    return Decision(
        route="",
        target=target,
        provider=netloc,
        model=asked.model,
        base_url=f"{scheme}://{netloc}{path.removesuffix(asked.path)}",
        wire=asked.wire,
        api_key_env=None,
        role=ADDRESSED,
        primary=target,
        reason="unknown",
        since_s=None,
        until_s=None,
        generation=0,
        valid_for_s=0.0,
        stale=True,
    )


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


def fit(guide: Guide, route: str | None, decision: Decision, wire: str) -> Decision | None:
    """The decision for a request in a wire: the same, or that for another target of its route; None for none."""
    return decision if _can_be_asked(decision, wire) else _other(guide, route, wire, {decision.target})


def others(guide: Guide, route: str | None, wire: str) -> Callable[[Collection[str]], Place | None]:
    """What gives the best other target of a route that can be asked in a wire."""

    def besides(tried: Collection[str]) -> Place | None:
        decision = _other(guide, route, wire, tried)
        return None if decision is None else place_of(decision)

    return besides


def _other(guide: Guide, route: str | None, wire: str, tried: Collection[str]) -> Decision | None:
    out = set(tried)
    for _ in range(_MOST_LOOKS):
        decision = _quietly(guide, out, route)
        if decision is None or decision.target in out:
            return None
        if _can_be_asked(decision, wire):
            return decision
        out.add(decision.target)
    return None


def _can_be_asked(decision: Decision, wire: str) -> bool:
    return decision.wire == wire and is_sendable(place_of(decision))


def _quietly(guide: Guide, tried: Collection[str], route: str | None) -> Decision | None:
    try:
        return guide.besides(tried, route)
    except Exception as error:  # noqa: BLE001 # no step fails because of us
        _log.warning("the guide knows no other target: %s", type(error).__name__)
        return None


def report(guide: Guide, place: Place, answer: Answer) -> None:
    """Tell the guide how an attempt at a place went; what it raises is only logged."""
    if place.role == ADDRESSED:
        return
    try:
        guide.report(answer)
    except Exception as error:  # noqa: BLE001 # no step fails because of us
        _log.warning("an answer of %s could not be reported: %s", answer.target, type(error).__name__)
