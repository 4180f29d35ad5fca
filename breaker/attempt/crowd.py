"""Learns how many requests at once a provider takes."""

# What providers write who refuse one more at once, in small letters.
_SAYINGS = (b"concurren", b"in flight", b"in-flight", b"simultaneous", b"parallel request")
# After this many answers in a row without such a refusal, one more at once is tried.
GROW_AFTER = 20


class Crowd:
    """How many requests are under way at one provider, and how many may be; None as long as no limit is known."""

    def __init__(self) -> None:
        self.inside = 0
        self.limit: int | None = None
        self._well = 0

    @property
    def has_room(self) -> bool:
        """Whether one more may begin."""
        return self.limit is None or self.inside < self.limit

    def enter(self) -> None:
        """One more begins."""
        self.inside += 1

    def leave(self, *, refused: bool) -> None:
        """One has ended; `refused` says that it was one too many."""
        if refused:
            # Others may have been refused together with it, and left already.
            fewer = max(1, self.inside - 1)
            self.limit = fewer if self.limit is None else max(1, min(self.limit, fewer))
            self._well = 0
        elif self.limit is not None:
            self._grow(self.limit)
        self.inside -= 1

    def _grow(self, limit: int) -> None:
        """Only a full house shows that more might be let in."""
        self._well += self.inside >= limit
        if self._well >= GROW_AFTER:
            self.limit, self._well = limit + 1, 0


def says_crowded(body: bytes) -> bool:
    """Whether an error says that too many requests are under way at once, and not too many a minute."""
    text = body.lower()
    return any(saying in text for saying in _SAYINGS)
