"""Hands a stream on event by event, so that one that breaks off leaves no half event behind."""

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
