"""Looks for servers in the background: a caller's limit ends its waiting, not the looking."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, TypeVar

from breaker.errors import StoreError, StoreGoneError
from breaker.store.limit import within

_T = TypeVar("_T")

# Between the end of one look and the begin of the next, where each call would like one.
AGAIN_S = 0.05
# This share of a call's limit is left to the server: with less, one that is well would seem to be silent.
LEAST = 0.3
# What is wrong with a store of which it isn't known where it is.
NOT_FOUND = "can't be found"


class Finder:
    """One look at a time, begun by whoever needs it."""

    def __init__(self, look: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._look = look
        self._looking: asyncio.Task[None] | None = None
        self._looked_at = float("-inf")
        self._asking: set[asyncio.Task[Any]] = set()
        self._closed = False

    def begin(self, *, unless_within_s: float = AGAIN_S) -> None:
        """Begin a look unless one is under way, or has ended within so many seconds."""
        if not self._closed and self._looking is None and time.monotonic() - self._looked_at >= unless_within_s:
            self._looking = asyncio.create_task(self._run())

    async def wait(self, limit_s: float) -> None:
        """Wait for the look that is under way or is due now, for so many seconds at most."""
        self.begin()
        if self._looking is not None:
            with contextlib.suppress(TimeoutError):
                async with within(limit_s):
                    await asyncio.shield(self._looking)

    async def most(self, asking: Collection[Coroutine[Any, Any, _T]]) -> tuple[Counter[_T], list[StoreError]]:
        """What is answered and how often, and what is refused, as soon as more than half say the same.

        All are asked at once; those that haven't answered by then are left to finish.
        """
        tasks = [asyncio.create_task(one) for one in asking]
        for task in tasks:
            self._asking.add(task)
            task.add_done_callback(self._done)
        said, refused = Counter[_T](), list[StoreError]()
        for done in asyncio.as_completed(tasks):
            try:
                said[await done] += 1
            except StoreError as error:
                refused.append(error)
            if said and 2 * max(said.values()) > len(tasks):
                break
        return said, sorted(refused, key=str)  # whoever logs each new trouble once mustn't see one in every order

    async def close(self) -> None:
        """End all that is under way, for good."""
        self._closed = True
        tasks = [*self._asking, *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._asking.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else may ask for it

    async def _run(self) -> None:
        try:
            await self._look()
        finally:
            self._looked_at, self._looking = time.monotonic(), None


def not_found(refused: Sequence[StoreError], who: str) -> str:
    """What is wrong with a store that can't be found: what those that were asked said, without where they are."""
    said = dict.fromkeys(one.trouble for one in refused if isinstance(one, StoreGoneError))
    return ", ".join([NOT_FOUND, *(f"{who} {trouble}" for trouble in said)])
