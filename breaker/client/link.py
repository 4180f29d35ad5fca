"""One question to the service, bounded in time and size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

from breaker.client.address import Address
from breaker.client.http import httpx
from breaker.client.proxies import usable_proxies
from breaker.client.quiet import unlogged
from breaker.client.said import not_ours, refusal
from breaker.client.silence import Silence
from breaker.errors import DoorAddressError, DoorGoneError

# A service that is there answers within this.
LIMIT_S = 5.0
# No answer of ours is longer.
MOST_BYTES = 4_000_000
# Its connection stays open between two questions.
_KEEP_S = 60.0


class Reply(NamedTuple):
    """What came back: a status below 400, its headers and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Link:
    """The way to the service; made and used within one event loop.

    Raises DoorAddressError where the environment's proxy can't be used.
    """

    def __init__(self, address: Address, silence: Silence) -> None:
        self._address = address
        self._silence = silence
        limits = httpx.Limits(keepalive_expiry=_KEEP_S)
        with usable_proxies(DoorAddressError):
            self._http = httpx.AsyncClient(timeout=None, limits=limits, **address.options())  # `ask` bounds it
        self._http.headers["Accept-Encoding"] = "identity"

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        *,
        within_s: float = LIMIT_S,
        held_s: float = 0.0,
        **request: Any,  # Any: httpx's
    ) -> Reply:
        """What the service answers; it is asked to hold that back for `held_s` at most.

        Raises DoorGoneError where nothing of Firstbyte's comes in time, and DoorRefusedError for a problem of its.
        """
        due = time.monotonic() + held_s
        with unlogged():
            async with (
                self._translated(due),
                asyncio.timeout(within_s),
                self._http.stream(method, path, **request) as reply,
            ):
                body = await self._body(reply)
        self._silence.heard(time.monotonic())
        if reply.status_code >= 400:
            raise refusal(reply.status_code, body) or self.other(reply.status_code)
        return Reply(reply.status_code, reply.headers, body)

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        **request: Any,  # Any: httpx's
    ) -> AsyncIterator[tuple[Mapping[str, str], AsyncIterator[bytes]]]:
        """The headers of an answer that has no end, and its bytes as they come. Raises as `ask` does."""
        async with self._translated(time.monotonic()), AsyncExitStack() as held:
            async with asyncio.timeout(LIMIT_S):
                with unlogged():
                    reply = await held.enter_async_context(self._http.stream("GET", path, **request))
                if reply.status_code != 200:
                    raise refusal(reply.status_code, await self._body(reply)) or self.other(reply.status_code)
            self._silence.heard(time.monotonic())
            yield reply.headers, reply.aiter_raw()

    def silent(self) -> DoorGoneError:
        """What to say where nothing comes any more."""
        return DoorGoneError(f"{self._address.bare} doesn't answer in time")

    def other(self, status: int) -> DoorGoneError:
        """What to say where something else answers."""
        return DoorGoneError(not_ours(self._address.bare, status))

    async def _body(self, reply: httpx.Response) -> bytes:
        """All of it, as it was sent: we ask for nothing that would have to be unpacked."""
        body = bytearray()
        async for piece in reply.aiter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                raise self.other(reply.status_code)
        return bytes(body)

    @asynccontextmanager
    async def _translated(self, due: float) -> AsyncIterator[None]:
        try:
            yield
        except TimeoutError:
            self._silence.unheard(due, time.monotonic())
            raise self.silent() from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError, ValueError) as error:
            raise DoorGoneError(f"nothing answers at {self._address.bare} ({error})") from None
