"""What goes into `httpx.Client(transport=…)`: asks the guide, then an inner transport, and watches what comes."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    import httpx
    import httpx2

    from breaker.attempt import Limits
    from breaker.client.transport.course import Restart
    from breaker.client.transport.guide import Guide

    class _Base(httpx.BaseTransport, httpx2.BaseTransport):  # type: ignore[misc] # it takes requests of both
        """For type checkers: it is a transport of both."""

    class _AsyncBase(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):  # type: ignore[misc] # as above
        """For type checkers: it is a transport of both."""

else:  # a class of one family is refused by the SDKs that use the other
    _Base = _AsyncBase = object


class _Made:
    """How both kinds are made."""

    _awaits: ClassVar[bool]

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
        from breaker.client.transport.sender import AsyncSender, Sender  # here, so that importing this stays quick

        kind: type[Any] = AsyncSender if self._awaits else Sender
        self._sender = kind(
            inner,
            guide,
            route=route,
            limits=limits,
            hedge_s=hedge_s,
            hedge_percentile=hedge_percentile,
            restart=restart,
        )


class Transport(_Made, _Base):
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

    _awaits = False

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
        return self._sender.respond(request)

    def close(self) -> None:
        """Close the inner transport, and a guide of its own."""
        self._sender.close()


class AsyncTransport(_Made, _AsyncBase):
    """The same as `Transport` for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    _awaits = True

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
        return await self._sender.respond(request)

    async def aclose(self) -> None:
        """Close the inner transport, and a guide of its own."""
        await self._sender.aclose()
