"""Times the phases of a request: connecting, TLS, sending, waiting."""

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol


class Phase(StrEnum):
    """A part of the time until the headers are there."""

    CONNECT = "connect"  # name and TCP
    TLS = "tls"
    SEND = "send"  # the whole request
    WAIT = "wait"  # from the last byte sent to the headers


_TCP_MADE = "connection.connect_tcp.complete"
_TLS_BEGINS, _TLS_MADE = "connection.start_tls.started", "connection.start_tls.complete"
# The moments between which each phase lies, by httpcore's names for them.
_BETWEEN: Mapping[Phase, tuple[str, str]] = {
    Phase.CONNECT: ("connection.connect_tcp.started", _TCP_MADE),
    Phase.TLS: (_TLS_BEGINS, _TLS_MADE),
    Phase.SEND: ("http11.send_request_headers.started", "http11.send_request_body.complete"),
    Phase.WAIT: ("http11.send_request_body.complete", "http11.receive_response_headers.complete"),
}


class _Stream(Protocol):
    async def aclose(self) -> None: ...


class Trace:
    """What httpx's `trace` extension calls at each moment; keeps the moments and nothing of the request.

    Close it with `aclose` when the exchange is over.
    """

    def __init__(self) -> None:
        self._at: dict[str, float] = {}
        self._tcp: _Stream | None = None
        self._without_tls: _Stream | None = None

    async def __call__(self, moment: str, info: Mapping[str, Any]) -> None:
        """Note a moment; the latest of a name counts."""
        self._at[moment] = time.monotonic()
        if moment == _TCP_MADE:
            self._tcp = info.get("return_value")
        elif moment == _TLS_BEGINS:
            self._without_tls = self._tcp
        elif moment == _TLS_MADE:
            self._without_tls = None

    async def aclose(self) -> None:
        """Close the connection whose TLS never came about: httpcore leaves it open where that is cancelled."""
        stream, self._without_tls = self._without_tls, None
        if stream is not None:
            await stream.aclose()

    @property
    def reused(self) -> bool:
        """Whether no connection had to be opened."""
        return _BETWEEN[Phase.CONNECT][0] not in self._at

    def phases(self) -> dict[Phase, float]:
        """The seconds of each phase that came to its end, and only of those."""
        spans = {phase: (self._at.get(first), self._at.get(last)) for phase, (first, last) in _BETWEEN.items()}
        return {
            phase: last - first
            for phase, (first, last) in spans.items()
            if first is not None and last is not None and last >= first
        }
