"""Times the phases of a request: connecting, TLS, sending, waiting."""

import time
from collections.abc import Mapping
from enum import StrEnum


class Phase(StrEnum):
    """A part of the time until the headers are there."""

    CONNECT = "connect"  # name and TCP
    TLS = "tls"
    SEND = "send"  # the whole request
    WAIT = "wait"  # from the last byte sent to the headers


# The moments between which each phase lies, by httpcore's names for them.
_BETWEEN: Mapping[Phase, tuple[str, str]] = {
    Phase.CONNECT: ("connection.connect_tcp.started", "connection.connect_tcp.complete"),
    Phase.TLS: ("connection.start_tls.started", "connection.start_tls.complete"),
    Phase.SEND: ("http11.send_request_headers.started", "http11.send_request_body.complete"),
    Phase.WAIT: ("http11.send_request_body.complete", "http11.receive_response_headers.complete"),
}


class Trace:
    """What httpx's `trace` extension calls at each moment; keeps the moments and nothing of the request."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}

    async def __call__(self, moment: str, _: Mapping[str, object]) -> None:
        """Note a moment; the latest of a name counts."""
        self._at[moment] = time.monotonic()

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
