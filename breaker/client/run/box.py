"""What a client knows of a run, and what of it the service hasn't been told yet."""

from __future__ import annotations

import itertools
import time
from typing import Any

from breaker.client.outbox import Waiting
from breaker.client.run.arrival import Arrival
from breaker.run import Fact, Run, fold

# The most facts that are remembered: as many as the service keeps.
MOST_FACTS = 1_000
STEPS, OPERATIONS, CHECKS = "steps", "operations", "checks"


class Entry:
    """A fact, and how it is told; `answer` is there for a step, whose age is that of when it is told.

    `told` comes when the service knows it, or doesn't answer.
    """

    __slots__ = ("answer", "fact", "kind", "said", "sent", "told")

    def __init__(
        self, kind: str, fact: Fact, said: dict[str, Any], answer: Waiting | None = None, *, sent: bool = False
    ) -> None:
        self.kind = kind
        self.fact = fact
        self.said = said
        self.answer = answer
        self.sent = sent
        self.told = Arrival()

    def telling(self, now: float) -> dict[str, Any]:
        """What is sent at a monotonic moment."""
        return self.said if self.answer is None else {**self.answer.facts(now), **self.said}


class Box:
    """All facts of one run that this client knows. Any thread may add; lists grow in one step, so there is no lock."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.began = time.monotonic()
        self.overfull = False
        self.known = Arrival()  # what the service knew of the run before
        self.refused = False  # the service wouldn't take, or keep, something: it knows less than there is to know
        self.away = False  # the service didn't answer when it was told something last
        self.telling: object = None  # by which line it is told just now; the client's thread alone looks
        self._entries: list[Entry] = []
        # Facts of a process that goes on with a run come behind those of the one before.
        self._seqs = itertools.count(time.time_ns() // 1_000_000)

    def seq(self) -> int:
        """The next place in the run."""
        return next(self._seqs)

    def behind(self, seq: int) -> None:
        """From now on places come after this one, whatever the clock of the process said that went on to there."""
        self._seqs = itertools.count(max(next(self._seqs), seq + MOST_FACTS))

    def add(self, entry: Entry) -> None:
        """One more fact."""
        if len(self._entries) < MOST_FACTS:
            self._entries.append(entry)
        else:
            self.overfull = True

    def unsent(self, *kinds: str) -> list[Entry]:
        """What the service hasn't been told of these kinds, in its order."""
        return [entry for entry in list(self._entries) if not entry.sent and entry.kind in kinds]

    def own(self) -> list[Entry]:
        """All that was not learnt from the service."""
        return [entry for entry in list(self._entries) if entry.said]

    def folded(self) -> Run:
        """The run, as far as it is known here."""
        return fold((entry.fact for entry in list(self._entries)), overfull=self.overfull)
