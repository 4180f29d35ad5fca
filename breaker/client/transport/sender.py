"""Sends the requests of a transport: asks the guide where to, and makes a step of each that asks a model."""

from __future__ import annotations

import inspect
import logging
from typing import Any

from breaker.attempt import Asked
from breaker.client.common import Client
from breaker.client.firstbyte import AsyncFirstbyte, Firstbyte
from breaker.client.said import Decision
from breaker.client.transport.blocking import BlockingStep
from breaker.client.transport.course import Course, Shared, Wishes
from breaker.client.transport.family import Family, family_of
from breaker.client.transport.guide import Guide, addressed, fit
from breaker.client.transport.outgoing import Outgoing
from breaker.client.transport.rooms import AsyncRooms, Rooms
from breaker.client.transport.sending import asked_in
from breaker.errors import DoorError

_log = logging.getLogger(__name__)


class _Common:
    """What both kinds have in common; `wishes` are named as in `Transport`."""

    def __init__(self, inner: Any, guide: Guide, rooms: Rooms | AsyncRooms, **wishes: Any) -> None:
        percentile = wishes["hedge_percentile"]
        if percentile is not None and not 0 < percentile < 100:
            raise ValueError(f"hedge_percentile is {percentile!r}; it must lie between 0 and 100")
        self._inner = inner
        self._checked: Family | None = None
        self._warned: set[str] = set()
        self._wishes = Wishes(guide=guide, **wishes)
        self._shared = Shared(rooms)
        if isinstance(guide, Client):
            guide.expect(self._wishes.route)

    def _of(self, family: Family) -> Any:
        """The inner transport; one of the other family would die of requests of this one without a word of why."""
        if self._checked is not family:
            _check(self._inner, family)
            self._checked = family
        return self._inner

    def _course(self, request: Any, family: Family, asked: Asked, decision: Decision | None) -> Course:
        """The course of a step; without a decision that can be asked it begins where the request was addressed to."""
        fitting = None if decision is None else fit(self._wishes.guide, self._wishes.route, decision, asked.wire)
        if decision is not None and fitting is None:
            self._warn(f"no target of the route {decision.route} can be asked in the wire {asked.wire}")
        if fitting is None:
            url = request.url
            fitting = addressed(url.scheme, url.netloc.decode("ascii"), url.raw_path.decode("ascii"), asked)
        return Course(request, family, asked, fitting, self._wishes, self._shared)

    def _warn(self, what: str) -> None:
        """Say once why requests go where they were addressed to."""
        if what not in self._warned:
            self._warned.add(what)
            _log.warning("%s, so such requests go where they were addressed to (said once)", what)


def _why(error: Exception) -> str:
    """What a guide's error says, where it is one of ours; another's may hold anything."""
    return str(error) if isinstance(error, DoorError) else type(error).__name__


def _check(inner: Any, family: Family) -> None:
    try:
        other = family_of(inner)
    except TypeError:
        return  # somebody's own, which may serve both
    if other is not family:
        said = f"this transport sends through one of {other.name}, but its client is of {family.name}"
        raise TypeError(f"{said}; give it a {family.name} one")


class Sender(_Common):
    """For callers that block."""

    def __init__(self, inner: Any, guide: Guide | None, **wishes: Any) -> None:
        self._own = Firstbyte() if guide is None else None
        super().__init__(inner, guide or self._own, Rooms(), **wishes)  # type: ignore[arg-type] # one of them is there

    def respond(self, request: Any) -> Any:
        """The response to a request."""
        family = family_of(request)
        inner = self._inner_of(family)
        asked = asked_in(request, family)
        if asked is None:
            return inner.handle_request(request)
        return BlockingStep(self._course(request, family, asked, self._decision()), inner).respond()

    def close(self) -> None:
        """Close the inner transport, and a guide of its own."""
        self._shared.closed = True
        if self._inner is not None:
            self._inner.close()
        if self._own is not None:
            self._own.close()

    def _decision(self) -> Decision | None:
        try:
            decision = self._wishes.guide.route(self._wishes.route)
        except Exception as error:  # noqa: BLE001 # no step fails because of us
            self._warn(f"no target is known ({_why(error)})")
            return None
        if isinstance(decision, Decision):
            return decision
        raise TypeError("this guide is to be awaited; use AsyncTransport, or a guide for callers that block")

    def _inner_of(self, family: Family) -> Any:
        if self._inner is None:
            self._inner = Outgoing(lambda proxy: family.transport(proxy=proxy))
        return self._of(family)


class AsyncSender(_Common):
    """For callers that await."""

    def __init__(self, inner: Any, guide: Guide | None, **wishes: Any) -> None:
        self._own = AsyncFirstbyte() if guide is None else None
        super().__init__(inner, guide or self._own, AsyncRooms(), **wishes)  # type: ignore[arg-type] # as above
        from breaker.client.transport.awaiting import AwaitingStep  # who blocks needs no anyio

        self._step = AwaitingStep

    async def respond(self, request: Any) -> Any:
        """The response to a request."""
        family = family_of(request)
        inner = self._inner_of(family)
        asked = asked_in(request, family)
        if asked is None:
            return await inner.handle_async_request(request)
        return await self._step(self._course(request, family, asked, await self._decision()), inner).respond()

    async def aclose(self) -> None:
        """Close the inner transport, and a guide of its own."""
        self._shared.closed = True
        if self._inner is not None:
            await self._inner.aclose()
        if self._own is not None:
            await self._own.aclose()

    async def _decision(self) -> Decision | None:
        try:
            decision = self._wishes.guide.route(self._wishes.route)
            return await decision if inspect.isawaitable(decision) else decision
        except Exception as error:  # noqa: BLE001 # no step fails because of us
            self._warn(f"no target is known ({_why(error)})")
            return None

    def _inner_of(self, family: Family) -> Any:
        if self._inner is None:
            self._inner = Outgoing(lambda proxy: family.async_transport(proxy=proxy))
        return self._of(family)
