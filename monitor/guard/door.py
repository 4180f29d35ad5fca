"""The ASGI application of the local door: takes a request, hands it to the transport, and streams what comes back."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import httpx
from starlette.types import Message, Receive, Scope, Send

from breaker.api.access import gone
from breaker.attempt import asks_a_model, read_request
from breaker.attempt.told import error_body
from breaker.client import AsyncFirstbyte, Decision
from breaker.client.transport import AnswerError, AsyncTransport, Limits
from breaker.client.transport.guide import fit, place_of
from breaker.client.transport.sending import side_request
from breaker.errors import DoorError, DoorRefusedError
from breaker.logged import STREAM_BROKEN
from monitor.guard.address import read_address

_log = logging.getLogger(__name__)

# Where a request is addressed that the transport addresses anew.
_NOWHERE = "http://guard.invalid"
# A longer question is refused; what is uploaded to other paths may be of any length.
MAX_BODY = 64 * 1024 * 1024
# The most routes that are remembered; whoever asks for more makes them up.
_MOST_ROUTES = 256
# What belongs to one connection, and what the server writes itself.
_HOPS = frozenset(
    (
        "connection",
        "date",
        "expect",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_TIMEOUT = {"connect": 10.0, "read": None, "write": 60.0, "pool": 60.0}
_BREAKS = (httpx.TransportError, OSError)


class RefusedError(Exception):
    """A request that isn't sent anywhere: the status and the sentence that its sender gets."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class LocalDoor:
    """Asks for every request that asks a model what its route says, by one transport for each route."""

    def __init__(self, guide: AsyncFirstbyte, inner: Any, limits: Limits | None = None) -> None:
        self._guide = guide
        self._inner = inner
        self._limits = limits
        self._transports: dict[str | None, AsyncTransport] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        query = scope["query_string"].decode("latin-1")
        route, behind = read_address(scope["raw_path"].decode("latin-1") + (f"?{query}" if query else ""))
        try:
            await self._checked(scope, receive, send, route, behind)
        except RefusedError as refused:
            wire = "anthropic-messages" if "/messages" in behind else "openai-chat"
            await _say(send, refused.status, error_body(wire, refused.status, refused.code, str(refused)))

    async def _checked(self, scope: Scope, receive: Receive, send: Send, route: str | None, behind: str) -> None:
        # Behind a base URL anything else might name another host, which would get the key.
        if not behind.startswith("/"):
            raise RefusedError(400, "no_path", "this is no path; ask /v1/… or /ROUTE/v1/…")
        try:
            await self._answer(scope, receive, send, route, behind)
        except httpx.InvalidURL as error:
            raise RefusedError(400, "no_path", f"this path can't be asked for: {error}") from None

    async def _answer(self, scope: Scope, receive: Receive, send: Send, route: str | None, behind: str) -> None:
        decision = await self._decision(route)
        if not (_is_json(scope) or asks_a_model(scope["method"], behind)):
            uploaded = _Uploaded(receive, comes=_has_body(scope))
            request = _request(scope, behind, uploaded.pieces() if _has_body(scope) else b"")
            work = self._shown(self._inner, side_request(request, place_of(decision), behind), send)
            await _unless_gone(work, scope, uploaded.receive)
            return
        body = await _body(receive)
        request = _request(scope, behind, body)
        asked = read_request(scope["method"], behind, body)
        if asked is None:
            work = self._shown(self._inner, side_request(request, place_of(decision), behind, body), send)
        else:
            self._check(route, decision, asked.wire)
            work = self._shown(self._transport(route), request, send)
        await _unless_gone(work, scope, receive)

    async def _decision(self, route: str | None) -> Decision:
        try:
            return await self._guide.route(route)
        except DoorRefusedError as error:
            raise RefusedError(404 if error.status == 404 else 503, "no_route", str(error)) from None
        except DoorError as error:
            raise RefusedError(503, "no_service", str(error)) from None

    def _check(self, route: str | None, decision: Decision, wire: str) -> None:
        if fit(self._guide, route, decision, wire) is not None:
            return
        if decision.wire != wire:
            raise RefusedError(
                400, "other_wire", f"{decision.target} speaks {decision.wire}, not {wire}: ask it in that"
            )
        raise RefusedError(502, "no_place", f"{decision.target} can't be asked: look at its base URL and its key")

    def _transport(self, route: str | None) -> AsyncTransport:
        if route not in self._transports:
            if len(self._transports) >= _MOST_ROUTES:
                self._transports.clear()
            self._transports[route] = AsyncTransport(self._inner, guide=self._guide, route=route, limits=self._limits)
        return self._transports[route]

    async def _shown(self, transport: Any, request: httpx.Request, send: Send) -> None:
        """Send a request and stream its response."""
        try:
            response = await transport.handle_async_request(request)
        except _BREAKS as error:
            raise RefusedError(502, "connect_error", f"the provider can't be reached: {type(error).__name__}") from None
        try:
            await send({"type": "http.response.start", "status": response.status_code, "headers": _headers(response)})
            await _stream(response, send)
        finally:
            await response.stream.aclose()


async def _stream(response: Any, send: Send) -> None:
    """The body as it comes. One that breaks off is broken off here as well, so that nobody takes it for whole."""
    try:
        async for data in response.stream:
            await send({"type": "http.response.body", "body": data, "more_body": True})
    except (AnswerError, *_BREAKS) as error:
        why = error if isinstance(error, AnswerError) else type(error).__name__
        _log.info("a stream was broken off: %s", why, extra=STREAM_BROKEN())
    else:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _unless_gone(work: Coroutine[Any, Any, None], scope: Scope, receive: Receive) -> None:
    """Do this until it is done, or whoever wants it has gone: a model costs money."""
    working, going = asyncio.create_task(work), asyncio.create_task(gone(scope, receive))
    try:
        await asyncio.wait({working, going}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        going.cancel()
        if not working.done():
            working.cancel()
        await asyncio.wait({working, going})
    if not working.cancelled():
        working.result()


def _request(scope: Scope, behind: str, content: bytes | AsyncIterator[bytes]) -> httpx.Request:
    headers = [(name, value) for name, value in scope["headers"] if name.decode("latin-1") not in _HOPS]
    url = _NOWHERE + behind
    return httpx.Request(scope["method"], url, headers=headers, content=content, extensions={"timeout": _TIMEOUT})


def _headers(response: Any) -> list[tuple[bytes, bytes]]:
    raw: list[tuple[bytes, bytes]] = response.headers.raw
    return [(name.lower(), value) for name, value in raw if name.decode("latin-1").lower() not in _HOPS]


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _is_json(scope: Scope) -> bool:
    return _header(scope, b"content-type").partition(";")[0].strip().lower() == "application/json"


def _has_body(scope: Scope) -> bool:
    return _header(scope, b"content-length") not in ("", "0") or bool(_header(scope, b"transfer-encoding"))


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("whoever sent this has gone")
        more = message.get("more_body", False)
        yield message.get("body", b"")


class _Uploaded:
    """A body that is handed on as it comes; who waits for its sender's going hears nothing before its end."""

    def __init__(self, receive: Receive, *, comes: bool) -> None:
        self._receive = receive
        self._over = asyncio.Event()
        if not comes:
            self._over.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in _pieces(self._receive):
            yield piece
        self._over.set()

    async def receive(self) -> Message:
        await self._over.wait()
        return await self._receive()


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    async for piece in _pieces(receive):
        body += piece
        if len(body) > MAX_BODY:
            raise RefusedError(413, "too_long", f"a question may have {MAX_BODY} bytes")
    return bytes(body)


async def _say(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
