"""A time limit that counts the other side's time, not our own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# Later than this, a timer tells of our own loop standing still; what has arrived meanwhile deserves to be read.
_STALL_S = 0.02


class _Watch:
    def __init__(self, scope: asyncio.Timeout, limit_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._scope = scope
        self._limit_s = limit_s
        self._excused = False
        self._set()

    def _set(self) -> None:
        self._due = self._loop.time() + self._limit_s
        self.timer = self._loop.call_at(self._due, self._fire)

    def _fire(self) -> None:
        if not self._excused and self._loop.time() - self._due > _STALL_S:
            self._excused = True
            self._set()
        else:
            self._scope.reschedule(self._loop.time())


@asynccontextmanager
async def within(limit_s: float) -> AsyncIterator[None]:
    """Raise TimeoutError after this many seconds; once, if our own loop stood still, after as many again."""
    async with asyncio.timeout(None) as scope:
        watch = _Watch(scope, limit_s)
        try:
            yield
        finally:
            watch.timer.cancel()
