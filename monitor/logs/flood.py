"""Holds back floods: of lines that are alike only some come through, and the next one says how many didn't."""

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from breaker.logged import MESSAGE

# Of one event, level and target so many lines pass in so many seconds.
MOST, WITHIN_S = 20, 60.0
# The most kinds of lines that are told apart; then all are forgotten and counted anew.
MOST_KINDS = 4_096
LEVELS = ("debug", "info", "warning", "error", "critical")


@dataclass(slots=True)
class Lines:
    """How many lines there were by level, those that were held back too, and how many were held back."""

    by_level: Counter[str] = field(default_factory=Counter)
    held_back: int = 0


LINES = Lines()


@dataclass(slots=True)
class _Kind:
    began: float
    passed: int = 0
    held_back: int = 0


class Flood(logging.Filter):
    """Lets some lines of each kind through; to the first after others were held back it gives their number."""

    def __init__(self, lines: Lines = LINES) -> None:
        super().__init__()
        self._lines = lines
        self._kinds: dict[tuple[object, ...], _Kind] = {}
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line passes."""
        return self.passes(record, time.monotonic())

    def passes(self, record: logging.LogRecord, now: float) -> bool:
        """Whether a line passes at a monotonic moment."""
        with self._lock:
            self._lines.by_level[record.levelname.lower()] += 1
            kind = self._kind(record, now)
            if kind.passed >= MOST:
                kind.held_back += 1
                self._lines.held_back += 1
                return False
            kind.passed += 1
            record.held_back, kind.held_back = kind.held_back, 0
            return True

    def _kind(self, record: logging.LogRecord, now: float) -> _Kind:
        event, values = getattr(record, "event", MESSAGE), getattr(record, "values", {})
        # Other packages' lines are told apart by where they come from.
        whence = (record.name, record.lineno) if event is MESSAGE else ()
        key = (event.name, record.levelno, values.get("target") or values.get("provider"), *whence)
        if len(self._kinds) >= MOST_KINDS and key not in self._kinds:
            self._kinds.clear()
        kind = self._kinds.setdefault(key, _Kind(now))
        if now - kind.began >= WITHIN_S:
            kind.began, kind.passed = now, 0
        return kind
