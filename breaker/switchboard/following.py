"""Keeps the snapshot true: hears of moves, and reads all circuits."""

import contextlib
import logging
import math
import time
from collections.abc import Callable, Sequence

from breaker.circuit import Circuit
from breaker.errors import StoreError, StoreGoneError
from breaker.logged import STORE_GONE
from breaker.store.contract import Circuits, Store
from breaker.switchboard.listeners import tell
from breaker.switchboard.moving import Mover
from breaker.switchboard.roster import Roster
from breaker.switchboard.snapshot import Snapshot

_log = logging.getLogger(__name__)

# Circuits that are read in one round trip: of some thousands none would be read within the limit of a call.
AT_ONCE = 250


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
            pieces = [await self._read_piece(names) for names in in_pieces(list(self._roster.targets))]
        except StoreError as error:
            if self._snapshot.not_read(error.trouble if isinstance(error, StoreGoneError) else "refuses"):
                tell(self.turned)
            raise
        ended, gone = time.monotonic(), {name: error for piece in pieces for name, error in piece.gone.items()}
        if self._snapshot.was_read(began, ended, {name: error.trouble for name, error in gone.items()}):
            tell(self.turned)
        if gone:
            _log.warning("%d circuits can't be read: %s", len(gone), next(iter(gone.values())), extra=STORE_GONE())
        now = next((piece.now for piece in reversed(pieces) if piece.now is not None), self._snapshot.now(ended))
        if now is None:
            return  # nobody has told the time yet
        for name, circuit in ((name, circuit) for piece in pieces for name, circuit in piece.circuits.items()):
            if name not in self._roster.targets:
                continue
            if self._snapshot.circuits.get(name) is known.get(name):
                await self._mover.adopt(name, circuit, now)
            elif circuit.epoch:  # what was heard meanwhile is newer, or has waited since we stood still
                self._mover.take(name, circuit)

    async def first(self, names: Sequence[str]) -> dict[str, Circuit]:
        """The circuits of other targets, as far as they can be read."""
        found: dict[str, Circuit] = {}
        with contextlib.suppress(StoreError):
            for piece in in_pieces(names):
                found |= (await self._read_piece(piece)).circuits
        return found

    async def _read_piece(self, names: Sequence[str]) -> Circuits:
        began = time.monotonic()
        seen = await self._store.seen(names)
        if seen.now is not None:
            self._snapshot.told_time(began, time.monotonic(), seen.now)
        return seen


def in_pieces(names: Sequence[str]) -> list[Sequence[str]]:
    """The names in pieces of about the same length, AT_ONCE at most; one empty piece of none."""
    pieces = max(1, math.ceil(len(names) / AT_ONCE))
    return [names[len(names) * part // pieces : len(names) * (part + 1) // pieces] for part in range(pieces)]
