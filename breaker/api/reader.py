"""What a reader of moves is sent: each as an event, from where it was."""

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from dataclasses import dataclass

from breaker.api.problems import ProblemError
from breaker.circuit import Move
from breaker.errors import UnknownNameError

# A reader that is so many events behind is dropped; it resumes where it was.
MOST_BEHIND = 256
# What a resuming reader is told without the store's ledger.
REMEMBERED = 1_000
PING_S = 15.0
# Moves of two targets may become known in another order than they were made in, by this much; and the store's time is
# known no better where it stood still.
DISORDER_S = 3.0

_ID = re.compile(r"(\d{1,15})-([0-9A-Za-z]{1,64})-(\d{1,15})", re.ASCII)
OPENING = b"retry: 1000\n\n"
_PING = b": ping\n\n"


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reader was, as an event's id tells: the move's moment (ms), its circuit's epoch and generation."""

    at_ms: int
    epoch: str
    generation: int

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        """The cursor that an id tells of; None where it is no id of ours."""
        found = _ID.fullmatch(text.strip())
        return found and cls(int(found[1]), found[2], int(found[3]))

    @classmethod
    def of(cls, move: Move) -> "Cursor":
        """The cursor of a move."""
        return cls(round(move.at * 1000), move.circuit.epoch, move.circuit.generation)

    def __str__(self) -> str:
        return f"{self.at_ms}-{self.epoch}-{self.generation}"

    def before(self, move: Move) -> bool:
        """Whether a reader that was here may not know this move yet."""
        if move.circuit.epoch == self.epoch:
            return move.circuit.generation > self.generation
        return move.at * 1000 > self.at_ms - DISORDER_S * 1000

    def is_or_is_after(self, move: Move) -> bool:
        """Whether a move of the same target was told when this was."""
        return move.circuit.epoch == self.epoch and move.circuit.generation <= self.generation


@dataclass(frozen=True, slots=True)
class Event:
    """A move as it is sent."""

    target: str
    id: str
    text: bytes


class Reader:
    """Somebody who reads the moves of some targets, in a stream that is iterated once."""

    def __init__(self, wanted: Callable[[], Collection[str]], leave: Callable[["Reader"], None]) -> None:
        self._wanted = wanted
        self._targets = wanted()
        self._leave = leave
        self._missed: list[Event] = []
        self._queue: deque[Event] = deque()
        self._woken = asyncio.Event()
        self._ended = False

    def renew(self) -> None:
        """Hear of the targets that are wanted now; where there is nothing of the kind any more the stream ends."""
        try:
            self._targets = self._wanted()
        except (UnknownNameError, ProblemError):
            self.leave()

    def begin(self, missed: list[Event]) -> None:
        """Let the stream begin with these."""
        self._missed = [event for event in missed if event.target in self._targets][-REMEMBERED:]

    def tell(self, event: Event) -> bool:
        """Send an event, if it concerns this reader; False where the reader is too far behind, and is dropped."""
        if event.target not in self._targets:
            return True
        self._queue.append(event)
        self._woken.set()
        if len(self._queue) <= MOST_BEHIND:
            return True
        self.leave()
        return False

    def leave(self) -> None:
        """End the stream; what wasn't sent yet is forgotten."""
        self._queue.clear()
        self._ended = True
        self._woken.set()
        self._leave(self)

    async def stream(self) -> AsyncIterator[bytes]:
        """The events as they are sent."""
        known = {event.id for event in self._missed}
        yield OPENING + _texts(self._missed)
        self._missed = []
        while not self._ended:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_S):
                    await self._woken.wait()
            self._woken.clear()
            new = [event for event in self._queue if event.id not in known]
            self._queue.clear()
            yield _texts(new) or _PING


def _texts(events: Iterable[Event]) -> bytes:
    return b"".join(event.text for event in events)
