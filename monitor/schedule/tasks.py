"""Runs tasks that survive each other, and tells where one of them broke."""

import asyncio
import logging
import traceback
from collections.abc import Coroutine, Iterable
from typing import Any

from breaker.logged import FAULT
from monitor.metrics import Metrics

_log = logging.getLogger(__name__)


class Tasks:
    """Tasks of which none ends another; a fault in one is counted and logged."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, what: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin one; `what` is how the log calls it."""

        def done(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                self.crashed(what, error)

        task = asyncio.create_task(work, name=what)
        self._running.add(task)
        task.add_done_callback(done)

    def crashed(self, what: str, error: BaseException) -> None:
        """Count and log a fault of ours: where it happened, not what it says, which may be the key or the prompt."""
        self._metrics.crashed()
        _log.error("%s failed by a fault of ours: %s", what, "; ".join(_places(error)), extra=FAULT())

    async def stop(self, within_s: float) -> None:
        """Cancel all, and wait so long for them at most. May be called twice."""
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=within_s)


def _places(error: BaseException) -> Iterable[str]:
    """Each error's kind and the line that it comes from, those of a group one by one."""
    if isinstance(error, BaseExceptionGroup):
        return [place for part in error.exceptions for place in _places(part)]
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{type(error).__name__} at {frames[-1].filename}:{frames[-1].lineno}" if frames else type(error).__name__]
