"""Measures how late our own event loop is, so that its lateness is never taken for a provider's."""

import asyncio
import contextlib
import time
from collections import deque
from types import TracebackType
from typing import NamedTuple, Self

# Looked at this often; a stall is known to within this.
EVERY_S = 0.05
# A loop that is later than this has stalled: what was timed meanwhile is suspect.
STALL_S = 0.25
# Stalls older than this are forgotten; no attempt is judged by them any more.
KEPT_S = 3600.0
KEPT = 10_000


class _Stall(NamedTuple):
    ended: float  # monotonic
    seconds: float


class LoopLag:
    """Watches the running loop between `start` and `stop`; also an asynchronous context manager.

    `now_s` is the latest lateness, `worst_s` the largest since somebody last took it with `take_worst_s`.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self._worst_s = 0.0
        self._stalls: deque[_Stall] = deque(maxlen=KEPT)
        self._due = time.monotonic()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch the running loop. May be called twice."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(), name="loop lag")

    async def stop(self) -> None:
        """End it. May be called twice."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def stalled_s(self, since: float) -> float:
        """For how many seconds the loop stood still since a moment (monotonic), in stalls longer than `STALL_S`.

        A stall that has just ended counts even if the watch itself hasn't had its turn yet.
        """
        now = time.monotonic()
        stalls = [*self._stalls, _Stall(now, self._late_s(now))]
        return sum(_overlap(stall, since) for stall in stalls if stall.seconds > STALL_S)

    def take_worst_s(self) -> float:
        """The largest lateness since the last call."""
        worst_s, self._worst_s = max(self._worst_s, self._late_s(time.monotonic())), 0.0
        return worst_s

    async def __aenter__(self) -> Self:
        """Start."""
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self.stop()

    def _late_s(self, now: float) -> float:
        return max(0.0, now - self._due) if self._task is not None else 0.0

    async def _watch(self) -> None:
        while True:
            self._due = time.monotonic() + EVERY_S
            await asyncio.sleep(EVERY_S)
            self._note(time.monotonic())

    def _note(self, now: float) -> None:
        self.now_s = self._late_s(now)
        self._worst_s = max(self._worst_s, self.now_s)
        if self.now_s > STALL_S:
            self._stalls.append(_Stall(now, self.now_s))
        while self._stalls and now - self._stalls[0].ended > KEPT_S:
            self._stalls.popleft()


def _overlap(stall: _Stall, since: float) -> float:
    """The part of a stall after a moment."""
    return max(0.0, min(stall.seconds, stall.ended - since))
