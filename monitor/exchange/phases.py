"""Times the phases of a request: connecting, TLS, sending, waiting."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """A part of the time until the headers are there."""

    CONNECT = "connect"  # name and TCP
    TLS = "tls"
    SEND = "send"  # the whole request
    WAIT = "wait"  # from the last byte sent to the headers


@dataclass(slots=True)
class Moments:
    """When what happened in one exchange (monotonic); None is what hasn't, or didn't have to.

    `sending` is when the request's first byte was handed to the socket, `sent` when its last one was. After a
    second try the latest counts.
    """

    connecting: float | None = None
    connected: float | None = None
    securing: float | None = None
    secured: float | None = None
    sending: float | None = None
    sent: float | None = None
    headed: float | None = None

    def phases(self) -> dict[Phase, float]:
        """The seconds of each phase that came to its end, and only of those."""
        spans = {
            Phase.CONNECT: (self.connecting, self.connected),
            Phase.TLS: (self.securing, self.secured),
            Phase.SEND: (self.sending, self.sent),
            Phase.WAIT: (self.sent, self.headed),
        }
        return {
            phase: last - first
            for phase, (first, last) in spans.items()
            if first is not None and last is not None and last >= first
        }
