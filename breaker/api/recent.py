"""Keeps the newest moves of all targets for those who look."""

import logging
import time
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice

from breaker.circuit import Move
from breaker.errors import StoreGoneError, UnknownNameError
from breaker.logged import STORE_GONE
from breaker.switchboard import LOOK_S, Switchboard

_log = logging.getLogger(__name__)

SHOWN = 12


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


async def newest_moves(switchboard: Switchboard, targets: Sequence[str], limit: int) -> list[tuple[str, Move]]:
    """The newest moves of these targets together, newest first; of one that isn't there any more none."""
    return _newest({name: await _moves(switchboard, name, limit) for name in targets}, limit)


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
