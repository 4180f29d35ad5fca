"""The moves of circuits as an agent's client hears of them, and the place where they wait until they are read."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from breaker.errors import DoorError

# The most that wait for a reader; then the service is read no further, and resumes later.
MOST_WAITING = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """A circuit has moved: `before` and `after` are its states, `cause` and `why` say for what.

    `at` is the moment (RFC 3339), `ago_s` how long ago that was when it was told. A stream goes on after `id`.
    `said` is all that the service said, the answers behind the move among it.
    """

    id: str
    target: str
    before: str
    after: str
    cause: str
    why: str
    at: str
    ago_s: float
    generation: int
    said: Mapping[str, Any]

    @classmethod
    def read(cls, id: str, said: Mapping[str, Any]) -> Moved:  # noqa: A002 # the stream's word
        """The move in an event. Raises KeyError, TypeError, ValueError or OverflowError where it is none."""
        texts = {name: str(said[name]) for name in ("target", "before", "after", "cause", "why", "at")}
        return cls(id=id, ago_s=float(said["ago_s"]), generation=int(said["generation"]), said=said, **texts)


class Shelf:
    """Where moves wait for their reader: the client's thread puts them, any other takes them."""

    def __init__(self, query: Mapping[str, str], after: str | None, woken: Callable[[], None]) -> None:
        self.query = query
        self.after = after
        self.error: DoorError | None = None
        self.ended = False
        self._lock = threading.RLock()
        self._waiting: deque[Moved] = deque()
        self._woken = woken
        self._emptied: Callable[[], object] | None = None

    def put(self, moved: Moved, emptied: Callable[[], object]) -> bool:
        """Let a move wait; False where no further one has a place, until `emptied` is called."""
        with self._lock:
            self._waiting.append(moved)
            full = len(self._waiting) >= MOST_WAITING
            self._emptied = emptied if full else None
        self._woken()
        return not full

    def take(self) -> Moved | None:
        """The next move; None where none waits."""
        with self._lock:
            moved = self._waiting.popleft() if self._waiting else None
            emptied, self._emptied = (None, self._emptied) if self._waiting else (self._emptied, None)
        if emptied is not None:
            emptied()
        return moved

    def end(self, error: DoorError | None = None) -> None:
        """Nothing more will come; safe to call twice."""
        with self._lock:
            if not self.ended:
                self.error, self.ended = error, True
        self._woken()

    def forked(self) -> None:
        """In a new process: the stream is the parent's."""
        self._lock = threading.RLock()
        self.ended, self._emptied = True, None
