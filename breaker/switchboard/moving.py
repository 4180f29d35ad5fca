"""Makes moves in the store, so that each is made once and whoever made it tells of it."""

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from breaker import circuit as circuits
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError
from breaker.logged import MOVE_UNTOLD, STORE_TROUBLE
from breaker.store.contract import LEDGER, Reading, Store
from breaker.switchboard.listeners import Listeners, tell
from breaker.switchboard.roster import Roster
from breaker.switchboard.snapshot import Snapshot
from breaker.switchboard.words import Network

_log = logging.getLogger(__name__)

# Moves that may have been made without a reply; more wouldn't come together while a store is gone.
_MAX_UNSURE = 1000
# Whoever finds that another was faster looks again and judges anew, this often at most.
_TRIES = 5
# Of those who move a circuit by hand at one moment each must get its turn, one in each round: a tool may ask many
# replicas at once.
_HANDS = 60


class Mover:
    """The one way by which circuits move here: by an answer, by the clock, by hand, or because the store forgot them.

    What has moved, here or elsewhere, is kept in the snapshot and told to `watching`.
    """

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        roster: Roster,
        listeners: Listeners,
        network: Network | None,
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._roster = roster
        self._listeners = listeners
        self._network = network
        self._blind_until = 0.0  # the store's time until which our own network was down
        self._unsure: deque[tuple[str, Move]] = deque(maxlen=_MAX_UNSURE)
        self._resting: deque[str] = deque()  # whose turn it is to be looked at
        self.watching: list[Callable[[str], None]] = []

    # What it knows

    def suspect_s(self) -> float | None:
        """For how long our own network has been down; None while it isn't. Until it is back, no circuit moves."""
        since = self._network.suspect_since if self._network else None
        return None if since is None else time.monotonic() - since

    async def down(self, target: str) -> bool:
        """Whether our own network is down, now that something asked of a target has broken off."""
        return self._network is not None and await self._network.down(target)

    async def look(self, target: str) -> Reading:
        """What the store knows of a target, and where it has lost the usual speed, what is known here."""
        return self._snapshot.remembered(target, await self._store.look(target))

    def take(self, name: str, circuit: Circuit) -> None:
        """Keep the newer of what is known and what was heard; of a target that there is no more, nothing."""
        if name in self._roster.targets and self._snapshot.news(name, circuit):
            self.keep(name, circuit)

    def keep(self, name: str, circuit: Circuit) -> None:
        """Keep this circuit, and say that there is another."""
        self._snapshot.keep(name, circuit)
        tell(self.watching, name)

    def announce(self, target: str, move: Move) -> None:
        """Tell the listeners of a move that was made here."""
        tell(self._listeners.moved, target, move)

    # Moves

    async def make_due(self, target: str, reading: Reading) -> Move | None:
        """The move that is due, if we were the one to make it; whoever calls announces it."""
        for _ in range(_TRIES):
            if self.suspect_s() is not None:
                self._blind_until = reading.now
                return None
            reading = await self._whole(target, reading)
            policy, blind = self._roster.policies[target], self._blind_until
            move = circuits.due(reading.circuit, reading.log, policy, reading.now, blind_until=blind)
            if move is not None and move.cause is circuits.Cause.UNVERIFIED and await self.down(target):
                continue  # that no probe told anything is our own fault; with no probes here nobody has noticed yet
            if move is None or (made := await self._apply(target, move, reading.circuit)) is not None:
                return move and made
            reading = await self.look(target)  # another moved it, perhaps for a reason that leaves ours as it was
        return None

    async def settle(self) -> float | None:
        """Make the moves that the clock alone decides; gives the store's time of the next one, None if there is none.

        One more target each time is looked at in turn: whoever counted its last answer may have died before it moved.
        """
        if not self._resting:
            self._resting.extend(self._roster.targets)
        resting = [self._resting.popleft()] if self._resting else []
        known = self._snapshot.circuits.items()
        restless = [name for name, circuit in known if circuit.open_until is not None or circuit.held]
        # What lies in a part of the store that is gone keeps nothing else waiting; what another configuration has taken
        # away is left to those who still have it.
        there = [name for name in dict.fromkeys([*restless, *resting]) if name in self._roster.targets]
        names = [name for name in there if name not in self._snapshot.behind]
        moments = [await self._settle_one(name) for name in names]
        return min((moment for moment in moments if moment is not None), default=None)

    async def by_hand(self, target: str, wanted: Callable[[Circuit, float], Move | None]) -> Move | None:
        """Make and announce the move that is wanted of a circuit at a moment; None where none is wanted.

        What is known here is tried first, which spares a look: the store moves nothing that is no longer so. While the
        store may be gone it is looked at first: one that is frozen would make the move when nobody waits any more.
        """
        known = self._known(target)
        for _ in range(_HANDS):
            circuit, now = known or await self._there(target)
            move = wanted(circuit, now)
            if move is None and known is None:
                return None
            if move is not None and (made := await self._make(target, move, circuit)) is not None:
                return made
            known = None
        raise StoreError(f"the circuit of {target!r} moved {_HANDS} times while it was being moved by hand; try again")

    async def adopt(self, name: str, found: Circuit, now: float) -> None:
        """Keep what was read, or put back what the store has forgotten."""
        known = self._snapshot.circuits.get(name)
        back = circuits.restored(known, found, now) if known else None
        if back is not None:
            await self._put_back(name, found, back, now)
        elif self._snapshot.differs(name, found):
            self.keep(name, found)

    async def make_sure(self) -> None:
        """Announce the moves that were made though no reply came; the ledger knows them."""
        while self._unsure:
            target, move = self._unsure[0]
            try:
                ledger = await self._store.moves(target, LEDGER)
            except StoreGoneError:
                raise
            except StoreError as error:
                _log.warning("nobody is told of a move of %s: %s", target, error, extra=MOVE_UNTOLD(target=target))
                ledger = []
            self._unsure.popleft()
            for made in (m for m in ledger if replace(m, circuit=replace(m.circuit, epoch=move.circuit.epoch)) == move):
                self.take(target, made.circuit)
                self.announce(target, made)

    # Inside

    def _known(self, target: str) -> tuple[Circuit, float] | None:
        """A circuit and the store's time as far as they are known here; None where one of them isn't."""
        at = time.monotonic()
        circuit, now = self._snapshot.circuits.get(target), self._snapshot.now(at)
        if circuit is None or not circuit.epoch or now is None or not self._snapshot.answered(at, target):
            return None
        return circuit, now + self._store.ahead_s(target)

    async def _there(self, target: str) -> tuple[Circuit, float]:
        """A circuit and the store's time as the store says."""
        reading = await self._whole(target, await self.look(target))
        return reading.circuit, reading.now

    async def _settle_one(self, name: str) -> float | None:
        try:
            reading = await self.look(name)
            move = await self.make_due(name, reading)
        except StoreGoneError:
            raise
        except StoreError as error:  # it concerns this target alone
            _log.warning("the circuit of %s can't be read: %s", name, error, extra=STORE_TROUBLE(target=name))
            return None
        if move is not None:
            self.announce(name, move)
            reading = replace(reading, circuit=move.circuit)
        policy, blind = self._roster.policies[name], self._blind_until
        return circuits.next_due(reading.circuit, reading.log, policy, reading.now, blind_until=blind)

    async def _whole(self, target: str, reading: Reading) -> Reading:
        """The reading, with what the store has forgotten and is known here put back: else it'd be judged without."""
        known = self._snapshot.circuits.get(target)
        back = circuits.restored(known, reading.circuit, reading.now) if known else None
        if back is None:
            return reading
        made = await self._put_back(target, reading.circuit, back, reading.now)
        return replace(reading, circuit=made.circuit) if made else await self.look(target)

    async def _put_back(self, name: str, found: Circuit, back: Circuit, now: float) -> Move | None:
        move = Move(
            at=now,
            before=circuits.state(found, now),
            after=circuits.state(back, now),
            cause=circuits.Cause.RESTORED,
            why="the store had forgotten this circuit; put back as it was",
            circuit=back,
        )
        try:
            return await self._make(name, move, found)
        except StoreGoneError:
            raise
        except StoreError as error:  # it concerns this target alone
            _log.warning("the circuit of %s can't be put back: %s", name, error, extra=STORE_TROUBLE(target=name))
            return None

    async def _make(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """Make a move and announce it; None if another was faster."""
        made = await self._apply(target, move, judged)
        if made is not None:
            self.announce(target, made)
        return made

    async def _apply(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """The move as it was made; None if another was faster."""
        try:
            made = await self._store.apply(target, move, judged)
        except StoreGoneError:
            self._unsure.append((target, move))
            raise
        if made is not None:
            self.take(target, made.circuit)
        return made
