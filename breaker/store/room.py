"""Says whether a server has room for more than what it must keep."""

from collections.abc import Mapping

# The room above this share of a server's memory is for circuits, and for runs under way.
SHARE = 0.9
# How long what a server said is believed.
BELIEVED_S = 10.0


class Room:
    """What is left of a server's memory, as it said it last; as long as it says nothing there is enough."""

    def __init__(self) -> None:
        self.short = False
        self._asked_at: float | None = None

    def due(self, now: float) -> bool:
        """Whether to ask it once more, by a monotonic moment; who is told so asks."""
        if self._asked_at is not None and now - self._asked_at < BELIEVED_S:
            return False
        self._asked_at = now
        return True

    def told(self, said: object) -> None:
        """What it says of its memory; whatever else comes says nothing."""
        known = said if isinstance(said, Mapping) else {}
        used, most = known.get("used_memory"), known.get("maxmemory")
        self.short = isinstance(used, int) and isinstance(most, int) and 0 < most * SHARE < used
