"""Reads the ledgers of all targets, at most once a second however many look."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from breaker.circuit import Move
from breaker.errors import StoreError, StoreGoneError, UnknownNameError
from breaker.switchboard import LOOK_S, Switchboard


class Extract(NamedTuple):
    """The newest moves by target, as they stood at a monotonic moment; `error` is why some targets' are missing."""

    at: float
    moves: Mapping[str, Sequence[Move]]
    error: StoreError | None = None


class Ledgers:
    """The `size` newest moves of each of some targets, as they are in the store.

    They are read once a second at most, and anew after `forget`; a failure holds as long.
    """

    def __init__(self, switchboard: Switchboard, size: int, targets: Callable[[], Collection[str]]) -> None:
        self._switchboard = switchboard
        self._size = size
        self._targets = targets
        self._looking = asyncio.Lock()
        self._last: Extract | None = None
        self._changes = 0

    async def read(self) -> Extract:
        """What they say; the same object as long as none has been read since."""
        async with self._looking:
            if self._last is not None and time.monotonic() - self._last.at < LOOK_S:
                return self._last
            changes, found = self._changes, await self._look()
            if changes == self._changes:
                self._last = found
            return found

    def forget(self) -> None:
        """Read them anew the next time that somebody looks."""
        self._changes += 1
        self._last = None

    async def _look(self) -> Extract:
        began, moves, wrong = time.monotonic(), dict[str, Sequence[Move]](), None
        for target in list(self._targets()):
            try:
                moves[target] = await self._switchboard.moves(target, self._size)
            except UnknownNameError:  # another configuration came while others were read
                continue
            except StoreGoneError as error:  # each of the others would wait as long for nothing
                return Extract(began, moves, error)
            except StoreError as error:
                wrong = wrong or error
        return Extract(began, moves, wrong)
