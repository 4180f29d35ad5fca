"""Reports that wait to be sent: bounded, in their order, with their true ages."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from breaker.answer import Answer

MOST_WAITING = 10_000


class Waiting(NamedTuple):
    """An answer that waits since the monotonic moment `since`; `more` is what is told besides its facts."""

    answer: Answer
    since: float
    more: Mapping[str, Any] | None = None

    def facts(self, now: float) -> dict[str, Any]:
        """What is sent at a monotonic moment: the age is that of then."""
        facts = self.answer.facts()
        facts.pop("source", None)
        return {**facts, **(self.more or {}), "age_s": self.answer.began_ago_s + max(now - self.since, 0.0)}


class Outbox:
    """Any thread may add; one takes, and puts back what couldn't be sent.

    `dropped` counts the oldest that had to go, `refused` what nobody would take.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self.refused = 0
        self._lock = threading.RLock()  # a collected object may report, whatever its thread is doing
        self._waiting: deque[Waiting] = deque()
        self._taken: Sequence[Waiting] = []

    def __len__(self) -> int:
        """How many wait, or are under way."""
        return len(self._waiting) + len(self._taken)

    def add(self, waiting: Waiting) -> bool:
        """Let one more wait; where all places are taken the oldest goes. Gives whether it is the only one."""
        with self._lock:
            self._waiting.append(waiting)
            self._bound()
            return len(self) == 1

    def take(self, most: int) -> Sequence[Waiting]:
        """The oldest, so many at most; they are under way until they are `arrived` or `put_back`."""
        with self._lock:
            self._taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
            return self._taken

    def arrived(self) -> None:
        """Those under way needn't be sent again."""
        self._taken = []

    def put_back(self) -> None:
        """Let those under way wait again."""
        with self._lock:
            self._waiting.extendleft(reversed(self._taken))
            self._taken = []
            self._bound()

    def give_up(self) -> None:
        """Count all that wait as dropped."""
        with self._lock:
            self.dropped += len(self)
            self._waiting.clear()
            self._taken = []

    def forked(self) -> None:
        """In a new process: what waits is the parent's, and nobody holds the lock."""
        self._lock = threading.RLock()
        self._waiting.clear()
        self._taken = []

    def _bound(self) -> None:
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popleft()
            self.dropped += 1
