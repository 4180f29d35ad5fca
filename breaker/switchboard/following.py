"""Keeps the snapshot true: hears of moves, and reads all circuits."""

import logging
import time
from collections.abc import Callable

from breaker.errors import StoreError, StoreGoneError
from breaker.logged import STORE_GONE
from breaker.store.contract import Store
from breaker.switchboard.listeners import tell
from breaker.switchboard.moving import Mover
from breaker.switchboard.roster import Roster
from breaker.switchboard.snapshot import Snapshot

_log = logging.getLogger(__name__)


class Follower:
    """Follows the circuits of some targets; `turned` are told when the store falls silent and when it is back."""

    def __init__(self, store: Store, snapshot: Snapshot, mover: Mover, roster: Roster) -> None:
        self._store = store
        self._snapshot = snapshot
        self._mover = mover
        self._roster = roster
        self.turned: list[Callable[[], None]] = []

    async def follow(self) -> None:
        """Take over each move that is announced. Raises StoreGoneError when the connection breaks or falls silent.

        All circuits are read once nothing that is announced can be missed.
        """
        async with self._store.announcements() as announced:
            await self.read()
            async for name, circuit in announced:
                self._mover.take(name, circuit)

    async def read(self) -> None:
        """Read all circuits that can be read, and put back what the store has forgotten.

        Raises StoreGoneError where none can be. Where a part of the store is gone, what lies there is older than the
        rest.
        """
        began, known = time.monotonic(), dict(self._snapshot.circuits)
        try:
            seen = await self._store.seen(list(self._roster.targets))
        except StoreError as error:
            if self._snapshot.not_read(error.trouble if isinstance(error, StoreGoneError) else "refuses"):
                tell(self.turned)
            raise
        ended, gone = time.monotonic(), {name: error.trouble for name, error in seen.gone.items()}
        if self._snapshot.was_read(began, ended, seen.now, gone):
            tell(self.turned)
        if seen.gone:
            why = next(iter(seen.gone.values()))
            _log.warning("%d circuits can't be read: %s", len(gone), why, extra=STORE_GONE())
        now = self._snapshot.now(ended) if seen.now is None else seen.now
        if now is None:
            return  # nobody has told the time yet
        for name, circuit in seen.circuits.items():
            moved = self._snapshot.circuits.get(name) is not known.get(name)  # then what was read is old
            if not moved and name in self._roster.targets:
                await self._mover.adopt(name, circuit, now)
