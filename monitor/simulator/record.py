"""What a simulated target was asked, and when it really sent what."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

KEPT = 10_000


class End(StrEnum):
    """How an answer ended, as its sender saw it."""

    COMPLETE = "complete"
    CUT = "cut"
    RESET = "reset"
    CLIENT_GONE = "client_gone"


@dataclass(kw_only=True)
class Attempt:
    """One request to a target; `_s` are real seconds since it had arrived, None means not (yet) sent."""

    behaviour: str
    """The name of the behaviour that it met; `exchange` for a recorded one."""
    stream: bool
    prompt_tokens: int
    connection: int
    """Which of the provider's connections it came by, counted from 1."""
    asked_at: float = field(default_factory=time.monotonic)
    """When it had arrived, on the monotonic clock."""
    asked_time: float = field(default_factory=time.time)
    """When it had arrived, in seconds since 1970."""
    headers_s: float | None = None
    first_event_s: float | None = None
    """When the first piece of the body went out, whatever it was."""
    first_byte_s: float | None = None
    """When the first piece that carries a part of the model's answer went out."""
    end_s: float | None = None
    end: End | None = None

    def elapsed(self) -> float:
        """Return the real seconds since the request had arrived."""
        return time.monotonic() - self.asked_at


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How often a target was asked, by behaviour too, with its last attempts, oldest first."""

    count: int
    behaviours: Mapping[str, int]
    attempts: tuple[Attempt, ...]

    def told(self, *, attempts: bool) -> dict[str, object]:
        """Return it as a JSON object, with the attempts or without."""
        counts: dict[str, object] = {"count": self.count, "behaviours": dict(self.behaviours)}
        return {**counts, "attempts": [asdict(attempt) for attempt in self.attempts]} if attempts else counts


class Record:
    """Counts all attempts at one target and keeps the last 10,000."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._attempts: deque[Attempt] = deque(maxlen=KEPT)
        self._changed = asyncio.Event()

    def add(self, attempt: Attempt) -> None:
        """Note an attempt that begins."""
        self._counts[attempt.behaviour] += 1
        self._attempts.append(attempt)
        self.change()

    def change(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        """Wait until an attempt begins or ends."""
        await self._changed.wait()

    def asked(self) -> Asked:
        """Return what has been noted so far."""
        return Asked(count=self._counts.total(), behaviours=dict(self._counts), attempts=tuple(self._attempts))
