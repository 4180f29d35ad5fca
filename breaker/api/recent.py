"""Gives the newest moves of all targets to those who look."""

import logging
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import islice

from breaker.api.ledgers import Extract, Ledgers
from breaker.circuit import Move
from breaker.errors import StoreGoneError
from breaker.logged import STORE_GONE, STORE_TROUBLE
from breaker.store.contract import LEDGER
from breaker.switchboard import Switchboard

_log = logging.getLogger(__name__)

SHOWN = 12
READ = (50, LEDGER)


class Recent:
    """The newest moves of all targets with their targets, newest first; read once a second, and anew after a move."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._shown = Ledgers(switchboard, SHOWN, self._there)
        self._told = {size: Ledgers(switchboard, size, switchboard.targets) for size in READ}
        self._seen: Extract | None = None
        self._known: dict[str, Sequence[Move]] = {}

    async def last_known(self) -> list[tuple[str, Move]]:
        """A dozen; of targets whose ledger can't be read those that were read before."""
        extract = await self._shown.read()
        if extract is not self._seen:
            self._see(extract)
        return self._newest(self._known, SHOWN)

    async def moves(self, limit: int) -> list[tuple[str, Move]]:
        """So many as they stand in the store. Raises StoreError where one ledger can't be read."""
        extract = await self._told[next(size for size in READ if size >= limit)].read()
        if extract.error is not None:
            raise extract.error.with_traceback(None)
        return self._newest(extract.moves, limit)

    def forget(self) -> None:
        """Read all anew the next time that somebody looks."""
        for ledgers in (self._shown, *self._told.values()):
            ledgers.forget()

    def _there(self) -> list[str]:
        """All targets but those in a part of the store that is gone."""
        behind = self._switchboard.behind()
        return [name for name in self._switchboard.targets() if name not in behind]

    def _see(self, extract: Extract) -> None:
        known = {name: self._known[name] for name in self._switchboard.targets() if name in self._known}
        self._seen, self._known = extract, {**known, **extract.moves}
        if extract.error is not None:
            event = STORE_GONE if isinstance(extract.error, StoreGoneError) else STORE_TROUBLE
            _log.warning("showing the moves last known: %s", extract.error, extra=event())

    def _newest(self, moves: Mapping[str, Sequence[Move]], limit: int) -> list[tuple[str, Move]]:
        found = [[(name, move) for move in moves.get(name, ())] for name in self._switchboard.targets()]
        # Merged, not sorted: where a clock was set back, a target's moves stay in their own order.
        merged = merge(*found, key=lambda pair: pair[1].at, reverse=True)
        return list(islice(merged, limit))
