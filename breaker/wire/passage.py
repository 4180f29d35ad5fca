"""Measures running text as it comes, keeping its first and its last characters."""

import zlib

# Repetition is looked for in so many of the last characters, and only where there are at least so many.
LOOP_TAIL = 8_000
LOOP_LEAST = 1_000
# A gateway's own words are looked for in so many of the first characters.
HEAD = 2_000


class Passage:
    """Running text: how long it is without the blanks around it, its first and its last characters."""

    def __init__(self) -> None:
        self.chars = 0
        self.head = ""
        self._tail: list[str] = []
        self._tail_chars = 0
        self._blanks = 0

    def add(self, piece: str) -> None:
        """Go on with one more piece."""
        self._keep(piece)
        if not self.chars:
            piece = piece.lstrip()
        if len(self.head) < HEAD:
            self.head += piece[: HEAD - len(self.head)]
        solid = piece.rstrip()
        if solid:
            self.chars += self._blanks + len(solid)
            self._blanks = 0
        if self.chars:
            self._blanks += len(piece) - len(solid)

    @property
    def tail(self) -> str:
        """The last characters, blanks and all."""
        tail = "".join(self._tail)[-LOOP_TAIL:]
        self._tail, self._tail_chars = [tail], len(tail)
        return tail

    @property
    def squeeze(self) -> float | None:
        """How small the tail deflates, 0..1 and a little more; None where it is too short to tell."""
        text = self.tail
        if len(text) < LOOP_LEAST:
            return None
        tail = text.encode(errors="replace")
        return len(zlib.compress(tail)) / len(tail)

    def _keep(self, piece: str) -> None:
        self._tail.append(piece[-LOOP_TAIL:])
        self._tail_chars += len(self._tail[-1])
        if self._tail_chars > 2 * LOOP_TAIL or len(self._tail) > LOOP_TAIL:
            _ = self.tail
