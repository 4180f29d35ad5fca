"""Finds out while an answer still comes that it has no end."""

from typing import NamedTuple

from breaker.verdict.rules import LOOP_SQUEEZE
from breaker.wire.passage import LOOP_TAIL
from breaker.wire.reading import Reading

# A look costs as much as reading a hundred pieces does, so it is taken once in so many bytes of body.
_LOOK_BYTES = 32 * 1024
# Tables and drawings repeat themselves too; what has done nothing else for so many characters is caught in a loop.
LOOP_RUN = 24_000


class Found(NamedTuple):
    """An answer without an end: it `repeats` itself, or is only too long."""

    repeats: bool


class Loops:
    """Looks at an answer now and then; `most` is how many characters it may have.

    `look_at` is the size of the body, in bytes, at which the next look is due.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.look_at = _LOOK_BYTES
        self._since: int | None = None

    def found(self, size: int, reading: Reading) -> Found | None:
        """What is wrong with an answer of which so many bytes have come; None for nothing."""
        self.look_at = size + _LOOK_BYTES
        chars = reading.made_chars
        if self._repeated(chars, reading.squeeze) >= LOOP_RUN:
            return Found(repeats=True)
        return Found(repeats=False) if chars > self._most else None

    def _repeated(self, chars: int, squeeze: float | None) -> int:
        """For how many characters it has done nothing else than repeat itself, as far as is known for certain."""
        if squeeze is None or squeeze >= LOOP_SQUEEZE:
            self._since = None
            return 0
        if self._since is None:
            self._since = chars - LOOP_TAIL
        return chars - self._since
