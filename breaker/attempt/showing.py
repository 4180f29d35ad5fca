"""Hands on the bytes of an attempt that is shown."""

from breaker.attempt.attempt import Attempt
from breaker.attempt.words import Stand
from breaker.verdict import Verdict

_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


class WholeEvents:
    """Keeps back what comes after the last blank line, until its own has come."""

    def __init__(self) -> None:
        self._rest = b""

    def pass_on(self, data: bytes) -> bytes:
        """The events that are whole with these bytes."""
        held = self._rest + data
        cut = max(place + len(end) if (place := held.rfind(end)) >= 0 else 0 for end in _ENDS)
        self._rest = held[cut:]
        return held[:cut]

    def rest(self) -> bytes:
        """What is left at the end."""
        left, self._rest = self._rest, b""
        return left


class Showing:
    """What of an attempt its caller sees, from the moment at which the attempt is shown.

    A bad one is shown where it is the provider's own error. With `restarts` another may follow in the same stream: then
    events are handed on whole, and an error of the provider's is kept from the caller.
    """

    def __init__(self, attempt: Attempt, *, restarts: bool) -> None:
        self._attempt = attempt
        self._own_error = attempt.stand is Stand.BAD
        self._restarts = restarts
        self._events = WholeEvents() if restarts and not attempt.is_over else None

    @property
    def failed(self) -> bool:
        """Whether what was shown has come to nothing."""
        return self._attempt.stand is Stand.BAD and not self._own_error

    def passes(self, data: bytes, now: float) -> bool:
        """Whether what has come may be handed on at once, as nearly all may; else it is to be fed to the attempt."""
        return self._events is None and self._attempt.passes(data, now)

    def pieces(self) -> list[bytes]:
        """What may be shown now."""
        if self._attempt.stand is Stand.GOOD:
            pieces = self._attempt.take()
            return pieces if self._events is None else self._whole(self._events, pieces)
        # The SDKs have errors of their own for an error event, with the provider's own words.
        told = self._own_error or (self._attempt.verdict is Verdict.ERROR_EVENT and not self._restarts)
        return self._attempt.rest() if told else []

    def _whole(self, events: WholeEvents, pieces: list[bytes]) -> list[bytes]:
        data = events.pass_on(b"".join(pieces))
        if self._attempt.is_over:
            data += events.rest()
        return [data] if data else []
