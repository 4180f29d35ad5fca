"""What goes into `httpx.Client(transport=…)`: asks the guide, then an inner transport, and watches what comes."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from breaker.attempt import Asked, Limits
from breaker.client.firstbyte import AsyncFirstbyte, Firstbyte
from breaker.client.said import Decision
from breaker.client.transport.blocking import BlockingStep
from breaker.client.transport.family import Family, family_of
from breaker.client.transport.guide import Guide
from breaker.client.transport.outgoing import Outgoing
from breaker.client.transport.plan import Plan, Restart, Shared, Wishes
from breaker.client.transport.rooms import AsyncRooms, Rooms
from breaker.client.transport.sending import asked_in

if TYPE_CHECKING:
    import httpx
    import httpx2

    class _Base(httpx.BaseTransport, httpx2.BaseTransport):  # type: ignore[misc] # it takes requests of both
        """For type checkers: it is a transport of both."""

    class _AsyncBase(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):  # type: ignore[misc] # as above
        """For type checkers: it is a transport of both."""

else:  # a class of one family is refused by the SDKs that use the other
    _Base = _AsyncBase = object

_log = logging.getLogger(__name__)


class _Common:
    _makes_guide: Callable[[], Firstbyte | AsyncFirstbyte]
    _makes_rooms: Callable[[], Rooms | AsyncRooms]

    def __init__(
        self,
        inner: Any = None,
        *,
        guide: Guide | None = None,
        route: str | None = None,
        limits: Limits | None = None,
        hedge_s: float | None = None,
        hedge_percentile: float | None = None,
        restart: Callable[[Restart], object] | None = None,
    ) -> None:
        if hedge_percentile is not None and not 0 < hedge_percentile < 100:
            raise ValueError(f"hedge_percentile is {hedge_percentile!r}; it must lie between 0 and 100")
        self._inner = inner
        self._checked: Family | None = None
        self._own = self._makes_guide() if guide is None else None
        guide = guide or self._own
        assert guide is not None
        self._wishes = Wishes(
            guide=guide,
            route=route,
            limits=limits,
            hedge_s=hedge_s,
            hedge_percentile=hedge_percentile,
            restart=restart,
        )
        self._shared = Shared(self._makes_rooms())

    def _of(self, family: Family) -> Any:
        """The inner transport; one of the other family would die of requests of this one without a word of why."""
        if self._checked is not family:
            _check(self._inner, family)
            self._checked = family
        return self._inner

    def _plan(self, request: Any, family: Family, asked: Asked, decision: Decision | None) -> Plan | None:
        """The plan of a step; None where the request is to go where it was addressed to."""
        if decision is None:
            return None
        if not Plan.fits(asked, decision):
            _log.warning(
                "%s can't be asked in the wire %s, so the request goes where it was addressed to",
                decision.target,
                asked.wire,
            )
            return None
        return Plan(request, family, asked, decision, self._wishes, self._shared)


def _check(inner: Any, family: Family) -> None:
    try:
        other = family_of(inner)
    except TypeError:
        return  # somebody's own, which may serve both
    if other is not family:
        said = f"this transport sends through one of {other.name}, but its client is of {family.name}"
        raise TypeError(f"{said}; give it a {family.name} one")


class Transport(_Common, _Base):
    """Drops into `httpx.Client(transport=…)` and `httpx2.Client(transport=…)`, and so into the SDKs built on them.

    `inner` is the transport that sends; without it, a plain one of the client's own family, by the proxy that the
    environment names, if any. `guide` says where each step of `route` goes and hears how it went; without it, a
    `Firstbyte` of its own. `limits` are those of the decision's target and our defaults unless given. `hedge_s` is how
    long after the begin of a step a second target is asked beside the first; None for never. With `hedge_percentile` it
    is as long as this share, of a hundred, of the target's newest first bytes took; while too few are known, `hedge_s`,
    or else the limit on first bytes. With `restart` an answer that fails after part of it was shown is begun anew in
    the same stream, and `restart` is called before; without it the stream raises an AnswerError.
    Requests that ask no model, or in another wire than the route's target speaks, go on untouched.
    """

    _makes_guide = Firstbyte
    _makes_rooms = Rooms

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        self.close()

    def handle_request(self, request: Any) -> Any:
        """The response to a request; its body is watched as it is read."""
        family = family_of(request)
        inner = self._inner_of(family)
        asked = asked_in(request, family)
        plan = None if asked is None else self._plan(request, family, asked, self._decision())
        return inner.handle_request(request) if plan is None else BlockingStep(plan, inner).respond()

    def close(self) -> None:
        """Close the inner transport, and a guide of its own."""
        if self._inner is not None:
            self._inner.close()
        if isinstance(self._own, Firstbyte):
            self._own.close()

    def _decision(self) -> Decision | None:
        try:
            decision = self._wishes.guide.route(self._wishes.route)
        except Exception as error:  # noqa: BLE001 # no step fails because of us
            _log.warning("the guide knows no target: %s", type(error).__name__)
            return None
        if isinstance(decision, Decision):
            return decision
        raise TypeError("this guide is to be awaited; use AsyncTransport, or a guide for callers that block")

    def _inner_of(self, family: Family) -> Any:
        if self._inner is None:
            self._inner = Outgoing(lambda proxy: family.transport(proxy=proxy))
        return self._of(family)


class AsyncTransport(_Common, _AsyncBase):
    """The same as `Transport` for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    _makes_guide = AsyncFirstbyte
    _makes_rooms = AsyncRooms

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        await self.aclose()

    async def handle_async_request(self, request: Any) -> Any:
        """The response to a request; its body is watched as it is read."""
        family = family_of(request)
        inner = self._inner_of(family)
        asked = asked_in(request, family)
        plan = None if asked is None else self._plan(request, family, asked, await self._decision())
        if plan is None:
            return await inner.handle_async_request(request)
        from breaker.client.transport.awaiting import AwaitingStep  # who blocks needs no anyio

        return await AwaitingStep(plan, inner).respond()

    async def aclose(self) -> None:
        """Close the inner transport, and a guide of its own."""
        if self._inner is not None:
            await self._inner.aclose()
        if isinstance(self._own, AsyncFirstbyte):
            await self._own.aclose()

    async def _decision(self) -> Decision | None:
        try:
            decision = self._wishes.guide.route(self._wishes.route)
            return await decision if inspect.isawaitable(decision) else decision
        except Exception as error:  # noqa: BLE001 # no step fails because of us
            _log.warning("the guide knows no target: %s", type(error).__name__)
            return None

    def _inner_of(self, family: Family) -> Any:
        if self._inner is None:
            self._inner = Outgoing(lambda proxy: family.async_transport(proxy=proxy))
        return self._of(family)
