"""Measures running text as it comes, keeping its first and its last characters."""

import zlib

# Repetition is looked for in so many of the last characters, and only where there are at least so many.
LOOP_TAIL = 8_000
LOOP_LEAST = 1_000
# A gateway's own words are looked for in so many of the first characters.
HEAD = 2_000


# Blanks, and what takes no room at all: joiners, a soft hyphen, a byte order mark.
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u00ad\u200b\u200c\u200d\u2060\ufeff"

# How many new characters, or pieces, are looked at together.
_MOST_NEW = 4_000
_MOST_PIECES = 500


class Passage:
    """Running text: how long it is without the blanks around it, its first and its last characters."""

    def __init__(self) -> None:
        self._new: list[str] = []
        self._new_chars = 0
        self._chars = 0
        self._blanks = 0
        self._head = ""
        self._tail = ""

    def add(self, piece: str) -> None:
        """Go on with one more piece."""
        self._new.append(piece)
        self._new_chars += len(piece)
        if self._new_chars > _MOST_NEW or len(self._new) > _MOST_PIECES:
            self._settle()

    @property
    def chars(self) -> int:
        """How many characters there are, without the blanks before and behind them."""
        self._settle()
        return self._chars

    @property
    def head(self) -> str:
        """The first characters, without blanks before them."""
        self._settle()
        return self._head

    @property
    def tail(self) -> str:
        """The last characters, blanks and all."""
        self._settle()
        return self._tail

    @property
    def squeeze(self) -> float | None:
        """How small the tail deflates, 0..1 and a little more; None where it is too short to tell."""
        if len(self.tail) < LOOP_LEAST:
            return None
        tail = self.tail.encode(errors="replace")
        return len(zlib.compress(tail)) / len(tail)

    def _settle(self) -> None:
        """Look at what is new."""
        text = "".join(self._new)
        self._new.clear()
        self._new_chars = 0
        self._tail = (self._tail + text)[-LOOP_TAIL:]
        if not self._chars:
            text = text.lstrip(_BLANKS)
        if len(self._head) < HEAD:
            self._head += text[: HEAD - len(self._head)]
        solid = text.rstrip(_BLANKS)
        if solid:
            self._chars += self._blanks + len(solid)
            self._blanks = 0
        if self._chars:
            self._blanks += len(text) - len(solid)
