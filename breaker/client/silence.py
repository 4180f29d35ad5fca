"""Whether the service is known not to answer, by all questions to it together."""

from __future__ import annotations

# Who keeps silent for so long doesn't answer.
SILENT_S = 2.0
# What was learnt holds for so long: whoever follows a route, or has something to tell, asks again sooner.
FRESH_S = 8.0


class Silence:
    """What questions came to; `now` is a monotonic moment. One thread tells it, any thread may ask."""

    def __init__(self) -> None:
        self._heard = float("-inf")  # when an answer came last
        self._since: float | None = None  # since when one is due and none has come
        self._until = float("-inf")  # when a question last ended without one

    def heard(self, now: float) -> None:
        """An answer has come."""
        self._heard, self._since = now, None

    def unheard(self, due: float, now: float) -> None:
        """A question is given up whose answer was due before; where another has come since, nobody was silent."""
        if due < self._heard:
            return
        since = self._since if now - self._until < FRESH_S else None
        self._since = due if since is None else min(since, due)
        self._until = now

    def lasts(self, now: float) -> bool:
        """Whether the service is known not to answer, so that nobody need wait for it."""
        since = self._since
        return since is not None and self._until - since >= SILENT_S and now - self._until < FRESH_S
