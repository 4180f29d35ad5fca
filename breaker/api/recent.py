"""Keeps the newest moves of all targets for those who look."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import NamedTuple

from breaker.circuit import Move
from breaker.errors import StoreError, StoreGoneError, UnknownNameError
from breaker.logged import STORE_GONE
from breaker.switchboard import LOOK_S, Switchboard

_log = logging.getLogger(__name__)

SHOWN = 12
# The last is all that a ledger holds.
READ = (50, 200)


class Recent:
    """The newest moves of all targets, read at most once a second however many look."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._known: dict[str, list[Move]] = {}
        self._read_at: float | None = None

    async def moves(self) -> list[tuple[str, Move]]:
        """The newest moves with their targets, newest first; the last known ones where the store is gone."""
        names = list(self._switchboard.targets())
        if self._read_at is None or time.monotonic() - self._read_at >= LOOK_S:
            self._read_at = time.monotonic()
            try:
                await self._read(names)
            except StoreGoneError as error:
                _log.warning("store gone, showing the moves last known: %s", error, extra=STORE_GONE())
        return _newest({name: self._known.get(name, []) for name in names}, SHOWN)

    def forget(self) -> None:
        """Read them anew the next time that somebody looks."""
        self._read_at = None

    async def _read(self, names: Sequence[str]) -> None:
        self._known = {name: moves for name, moves in self._known.items() if name in names}
        behind = self._switchboard.behind()
        for name in names:
            if name not in behind:
                self._known[name] = await _moves(self._switchboard, name, SHOWN)


class Ledgers:
    """The newest moves of all targets as they stand in the store, or nothing at all.

    However many ask, all ledgers are read once a second for each of the sizes in `READ`, and anew after a move.
    """

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._reading = asyncio.Lock()
        self._read: dict[int, _Reading] = {}
        self._changes = 0

    async def moves(self, limit: int) -> list[tuple[str, Move]]:
        """So many with their targets, newest first. Raises StoreError where one can't be read."""
        size = next(size for size in READ if size >= limit)
        async with self._reading:
            found = self._read.get(size)
            if found is None or time.monotonic() - found.at >= LOOK_S:
                changes, found = self._changes, await self._look(size)
                if changes == self._changes:
                    self._read[size] = found
        if found.error is not None:
            raise found.error.with_traceback(None)
        return _newest({name: found.moves.get(name, []) for name in self._switchboard.targets()}, limit)

    def forget(self) -> None:
        """Read them anew the next time that somebody asks."""
        self._changes += 1
        self._read = {}

    async def _look(self, size: int) -> "_Reading":
        began, board = time.monotonic(), self._switchboard
        try:
            return _Reading(began, {name: await _moves(board, name, size) for name in list(board.targets())})
        except StoreError as error:
            return _Reading(began, {}, error)


class _Reading(NamedTuple):
    """What was read at a monotonic moment, or why it wasn't."""

    at: float
    moves: Mapping[str, Sequence[Move]]
    error: StoreError | None = None


def _newest(moves: Mapping[str, Sequence[Move]], limit: int) -> list[tuple[str, Move]]:
    found = [[(name, move) for move in of_target] for name, of_target in moves.items()]
    # Merged, not sorted: where a clock was set back, a target's moves stay in their own order.
    merged = merge(*found, key=lambda pair: pair[1].at, reverse=True)
    return list(islice(merged, limit))


async def _moves(switchboard: Switchboard, target: str, limit: int) -> list[Move]:
    try:
        return await switchboard.moves(target, limit)
    except UnknownNameError:  # another configuration came while others were read
        return []
