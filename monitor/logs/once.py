"""Lets each trouble of the store through once an event, however many parts of the service meet it."""

import logging
import time

from breaker.errors import StoreGoneError
from breaker.logged import MESSAGE

# The same trouble is told again after this.
AGAIN_S = 60.0


class Once(logging.Filter):
    """Leaves out a line about a trouble of which another line with the same event has told within AGAIN_S."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line passes."""
        return self.passes(record, time.monotonic())

    def passes(self, record: logging.LogRecord, now: float) -> bool:
        """Whether a line passes at a monotonic moment."""
        args = record.args if isinstance(record.args, tuple) else ()
        event = getattr(record, "event", MESSAGE).name
        troubles = [(event, str(one)) for one in args if isinstance(one, StoreGoneError)]
        self._told = {trouble: at for trouble, at in self._told.items() if now - at < AGAIN_S}
        known = bool(troubles) and all(trouble in self._told for trouble in troubles)
        self._told |= dict.fromkeys(troubles if not known else (), now)
        return not known
