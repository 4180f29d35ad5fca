"""Streams the moves of circuits as server-sent events, from the moment they are known here."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Collection
from heapq import merge
from itertools import takewhile
from typing import NamedTuple

from breaker.api import shaping
from breaker.api.reader import DISORDER_S, REMEMBERED, Cursor, Event, Reader
from breaker.api.replies import encoded
from breaker.circuit import Move
from breaker.errors import StoreError, UnknownNameError
from breaker.logged import MOVE_UNTOLD
from breaker.store.contract import LEDGER
from breaker.switchboard import Switchboard

_log = logging.getLogger(__name__)

MOST_STREAMS = 1_000
# After a ledger that couldn't be read.
_AGAIN_S = 0.2


class Kept(NamedTuple):
    """A move of the ledger's, and how it is sent."""

    move: Move
    event: Event


class Feed:
    """The moves of all targets, made here or elsewhere. Reads the ledger only once somebody has listened.

    `dropped` is how many readers were too far behind.
    """

    def __init__(self, board: Switchboard) -> None:
        self.dropped = 0
        self._board = board
        self._readers: set[Reader] = set()
        # Up to where each target's moves were told; of one that nothing is known of, since when (monotonic) they are.
        self._told: dict[str, Cursor | float] = {}
        self._recent: deque[Event] = deque(maxlen=REMEMBERED)
        self._moved: dict[str, None] = {}  # targets whose ledger is to be read, in order
        self._late: set[str] = set()  # those whose ledger couldn't be read when it was to be
        # Readers come by the hundred when the service is back: a ledger is read once for all who want it meanwhile.
        self._wanted: dict[str, asyncio.Task[list[Kept]]] = {}
        self._turns = asyncio.Lock()
        self._something = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None
        self._closed = False
        board.watch(self._heard)

    def __len__(self) -> int:
        """How many read."""
        return len(self._readers)

    async def reader(self, wanted: Callable[[], Collection[str]], cursor: Cursor | None) -> Reader:
        """Somebody who reads the moves of some targets, from now or from `cursor` on, until `leave` is called.

        `wanted` names the targets, and is asked again when there are others. Raises UnknownNameError where it does, and
        StoreError where the ledger is needed and can't be read.
        """
        self._listen()
        made = Reader(wanted, self._readers.discard)
        self._readers.add(made)
        if self._closed:
            made.leave()
        elif cursor is not None:
            try:
                told = self._since(cursor)
                made.begin(await self._missed(wanted(), cursor) if told is None else told)
            except BaseException:
                made.leave()
                raise
        return made

    def renew(self) -> None:
        """Follow the switchboard to other targets."""
        for reader in list(self._readers):
            reader.renew()
        if self._telling is not None:
            known = self._cursors()
            self._told = {name: self._told.get(name, cursor) for name, cursor in known.items()}

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for reader in list(self._readers):
            reader.leave()
        if self._telling is not None:
            self._telling.cancel()

    def _since(self, cursor: Cursor) -> list[Event] | None:
        """What was told here since, in the very order; None where that isn't remembered."""
        told = list(self._recent)
        known = next((i for i, event in enumerate(told) if event.id == str(cursor)), None)
        return None if known is None else told[known + 1 :]

    async def _missed(self, targets: Collection[str], cursor: Cursor) -> list[Event]:
        """What a reader that was at `cursor` may not know yet, by the ledger, oldest first."""
        found = [[kept for kept in await self._ledger(name) if cursor.before(kept.move)] for name in targets]
        async with self._turns:
            await asyncio.sleep(0)  # one in each turn of the loop, which looks after others between them
            # Merged, not sorted: where a clock was set back, a target's moves stay in their own order.
            merged = merge(*(reversed(moves) for moves in found), key=lambda kept: kept.move.at)
            return [kept.event for kept in merged]

    async def _ledger(self, target: str) -> list[Kept]:
        """A target's newest moves, newest first, as they stand now or later."""
        reading = self._wanted.get(target)
        if reading is None:
            reading = self._wanted[target] = asyncio.create_task(self._read(target))
            reading.add_done_callback(lambda done: done.cancelled() or done.exception())  # all may have gone
        return await asyncio.shield(reading)

    async def _read(self, target: str) -> list[Kept]:
        async with self._turns:
            del self._wanted[target]  # what moves from here on isn't in it, so who comes from here on reads anew
            return [Kept(move, self._event(target, move)) for move in await self._board.moves(target, LEDGER)]

    def _listen(self) -> None:
        if self._telling is None:
            self._told = self._cursors()
            self._telling = asyncio.create_task(self._tell())

    def _cursors(self) -> dict[str, Cursor | float]:
        circuits = {standing.target.name: standing.circuit for standing in self._board.standings()}
        cursors = {name: Cursor(0, circuit.epoch, circuit.generation) for name, circuit in circuits.items()}
        return {**cursors, **dict.fromkeys(self._board.unread(), time.monotonic())}

    def _heard(self, target: str) -> None:
        if self._telling is not None:
            self._moved[target] = None
            self._something.set()

    async def _tell(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            for target in list(self._moved):
                await self._tell_of(target)

    async def _tell_of(self, target: str) -> None:
        self._moved.pop(target, None)  # what moves from here on is looked for again
        try:
            ledger = await self._board.moves(target, LEDGER)
        except UnknownNameError:  # it isn't there any more
            return
        except StoreError as error:
            if target not in self._late:  # once, not at each try
                _log.warning("moves of %s are told later: %s", target, error, extra=MOVE_UNTOLD(target=target))
            self._late.add(target)
            asyncio.get_running_loop().call_later(_AGAIN_S, self._heard, target)
            return
        self._late.discard(target)
        if (told := self._told.get(target)) is None:  # it went meanwhile
            return
        new = list(takewhile(lambda move: self._is_new(move, told), ledger))
        if new or (ledger and not isinstance(told, Cursor)):
            self._told[target] = Cursor.of(ledger[0])
        for move in reversed(new):
            self._publish(self._event(target, move))

    def _is_new(self, move: Move, told: Cursor | float) -> bool:
        if isinstance(told, Cursor):
            return not told.is_or_is_after(move)
        return move.at > self._board.now() - (time.monotonic() - told) - DISORDER_S

    def _publish(self, event: Event) -> None:
        self._recent.append(event)
        for reader in list(self._readers):
            self.dropped += not reader.tell(event)

    def _event(self, target: str, move: Move) -> Event:
        named, shape = str(Cursor.of(move)), shaping.of_move(target, move, self._board.now())
        return Event(target, named, b"id: %s\nevent: move\ndata: %s\n\n" % (named.encode(), encoded(shape)))
