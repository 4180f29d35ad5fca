"""One process's view of all circuits, and the one road for every answer."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from breaker import circuit as circuits
from breaker.answer import Answer
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError, UnknownNameError
from breaker.history import NOTHING, History
from breaker.log import Log
from breaker.logged import STORE_GONE, STORE_TROUBLE
from breaker.policy import Policy
from breaker.route import Decision, Route, Unable, choose
from breaker.store.contract import Store
from breaker.switchboard.following import Follower
from breaker.switchboard.intake import Intake, Queue
from breaker.switchboard.listeners import NOBODY, Judged, Listeners
from breaker.switchboard.moving import Mover
from breaker.switchboard.recorder import Recorder
from breaker.switchboard.roster import Roster
from breaker.switchboard.runs import Runs
from breaker.switchboard.snapshot import Snapshot
from breaker.switchboard.words import Network, Standing
from breaker.target import Target
from breaker.verdict import Judgement

_log = logging.getLogger(__name__)

# Whoever looks sees last answers and moves that are no older than this.
LOOK_S = 1.0
# Histories read at one time: reading all at once would hold up everything else.
_TOGETHER = 8


class Switchboard:
    """One process's view of all circuits, and the one road for every answer.

    `route` and `standings` read memory; everything else asks the store. While the store is gone, answers wait
    and routes come from the last snapshot.
    """

    def __init__(
        self,
        store: Store,
        routes: Sequence[Route],
        policies: Mapping[str, Policy],
        listeners: Listeners = NOBODY,
        network: Network | None = None,
    ) -> None:
        self._store = store
        self._roster = Roster(routes, policies)
        self._snapshot = Snapshot()
        self._mover = Mover(store, self._snapshot, self._roster, listeners, network)
        self._follower = Follower(store, self._snapshot, self._mover, self._roster)
        self._looked_at: float | None = None  # monotonic
        self._looked_back_at: float | None = None
        recorder = Recorder(store, self._snapshot, self._roster, listeners, self._mover, network)
        self._intake = Intake(recorder)
        self.runs = Runs(store.runs, listeners)

    # Reading memory

    @property
    def routes(self) -> Sequence[Route]:
        """The routes there are, in the configuration's order."""
        return tuple(self._roster.routes.values())

    def now(self) -> float:
        """The store's time as far as it is known here; the monotonic clock carries it on between two reads."""
        now = self._snapshot.now(time.monotonic())
        return time.time() if now is None else now

    def age_s(self, targets: Collection[str] | None = None) -> float | None:
        """How old what is known of these targets is at most, or of all; None before the first read.

        Of no target at all: how long ago any part of the store has answered.
        """
        return self._snapshot.age_s(time.monotonic(), targets)

    def stale(self) -> bool:
        """Whether the store, or a part of it, hasn't answered lately."""
        return self.fresh_s() == 0

    def silent(self) -> bool:
        """Whether no part of the store has answered lately."""
        return self._snapshot.fresh_s(time.monotonic(), ()) == 0

    def trouble(self) -> str:
        """What is wrong with the store, without saying where it is: "doesn't answer in time"; empty for nothing."""
        return self._snapshot.trouble or self._snapshot.part_trouble

    def behind(self) -> Collection[str]:
        """The targets whose circuits weren't read with the others, since a part of the store is gone."""
        return self._snapshot.behind

    def fresh_s(self, route: str | None = None) -> float:
        """For how long the snapshot will be fresh if the store says nothing more; 0 where it is stale.

        Of a route: what is known of its targets, which may be in a part of the store that answers.
        """
        names = None if route is None else [target.name for target in self._roster.routes[route].targets]
        return self._snapshot.fresh_s(time.monotonic(), names)

    def self_suspect_s(self) -> float | None:
        """For how long our own network has been down; None while it isn't. Until it is back, no circuit moves."""
        return self._mover.suspect_s()

    def waiting(self) -> int:
        """How many answers wait for the store, or are on their way."""
        return len(self._intake)

    def queue(self) -> Queue:
        """What waits for the store, and what never came there."""
        return self._intake.queue()

    def route(
        self, name: str | None = None, *, unable: tuple[Unable, ...] = (), turn_s: float | None = None
    ) -> Decision:
        """Where a step of this route should go. Without a name: the route `default`, or the only one.

        `unable` are its targets that can't take the step, `turn_s` is how long after a circuit's close the step's
        session returns (None: at once). Raises UnknownNameError with the names there are.
        """
        found = self._roster.routes.get(name if name is not None else self._default())
        if found is None:
            raise UnknownNameError("route", name, self._roster.routes)
        known, now, stale = self._snapshot.circuits, self.now(), self.fresh_s(found.name) == 0
        age_s = self._snapshot.age_s(time.monotonic(), [target.name for target in found.targets])
        return choose(found, known, now, unable=unable, turn_s=turn_s, stale=stale, age_s=age_s)

    def standing(self, target: str) -> Standing:
        """A target's circuit and last answers. Raises UnknownNameError."""
        self._check(target)
        return self._standing(self._roster.targets[target])

    def standings(self) -> list[Standing]:
        """All targets, in the order in which the routes name them."""
        return [self._standing(target) for target in self._roster.targets.values()]

    def targets(self) -> Collection[str]:
        """The names of all targets, in that order."""
        return self._roster.targets

    def unread(self) -> Collection[str]:
        """The targets whose circuits haven't been read yet, since the store was gone or a part of it."""
        return [name for name in self._roster.targets if name not in self._snapshot.circuits]

    def history(self, target: str) -> History:
        """What `look_back` has found of a target's last day. Raises UnknownNameError."""
        self._check(target)
        return self._snapshot.histories.get(target, NOTHING)

    # The road of every answer

    async def report(self, answer: Answer) -> Judged | None:
        """Judge an answer, record it and make the move that is due; None while it waits for a store that is gone.

        Those of a target keep their order, also beside those that were taken in. Raises UnknownNameError.
        """
        self._check(answer.target)
        return await self._intake.take(answer)

    def take_in(self, answer: Answer) -> Judgement:
        """Judge an answer at once, and record it as soon as may be. Raises UnknownNameError."""
        self._check(answer.target)
        return self._intake.put(answer)

    async def drain(self, within_s: float) -> None:
        """Record all that waits, for so long at most; what is left then is dropped and counted."""
        await asyncio.gather(self.runs.drain(within_s), self._intake.drain(within_s))

    async def settle(self) -> float | None:
        """Make the moves that the clock alone decides; gives the seconds until the next one, None if there is none.

        Raises StoreGoneError.
        """
        moment = await self._mover.settle()
        return None if moment is None else moment - self.now()

    # By hand

    async def hold(self, target: str, *, opened: bool, who: str, why: str, for_s: float) -> Move:
        """Hold a circuit open or closed by hand for `for_s` seconds. Raises UnknownNameError or StoreError."""
        self._check(target)

        def wanted(circuit: Circuit, now: float) -> Move:
            return circuits.hold(circuit, now, opened=opened, who=who, why=why, until=now + for_s)

        move = await self._mover.by_hand(target, wanted)
        assert move is not None
        return move

    async def release(self, target: str, *, who: str, why: str) -> Move | None:
        """End a hold by hand; None where there is none. Raises UnknownNameError or StoreError."""
        self._check(target)
        return await self._mover.by_hand(target, lambda circuit, now: circuits.release(circuit, now, who=who, why=why))

    async def moves(self, target: str, limit: int = 50) -> list[Move]:
        """The newest moves of a target with the answers behind each, newest first.

        Raises UnknownNameError or StoreError.
        """
        self._check(target)
        return await self._store.moves(target, limit)

    # Another configuration

    async def circuits(self, targets: Collection[str]) -> dict[str, Circuit]:
        """The circuits of targets that aren't known here yet, as far as the store says anything of them."""
        wanted = [name for name in dict.fromkeys(targets) if name not in self._roster.targets]
        return await self._follower.first(wanted) if wanted else {}

    def renew(self, routes: Sequence[Route], policies: Mapping[str, Policy], circuits: Mapping[str, Circuit]) -> None:
        """Take other routes and policies at once. What is known of targets that stay is kept; of others it is dropped.

        `circuits` are those of the new ones. Whoever holds answers prepared makes them anew afterwards.
        """
        self._roster.renew(routes, policies)
        self._snapshot.forget_all_but(self._roster.targets)
        for name, circuit in circuits.items():
            self._mover.take(name, circuit)

    # The snapshot

    async def refresh(self) -> None:
        """Read all circuits, and put back what the store has forgotten. Raises StoreError where none can be read."""
        await self._follower.read()
        await self._mover.make_sure()

    async def look_again(self) -> None:
        """Read the last answers for those who look, at most once a second; a store that is gone changes nothing."""
        if self._looked_at is not None and time.monotonic() - self._looked_at < LOOK_S:
            return
        self._looked_at = time.monotonic()
        for name in [name for name in self._roster.targets if name not in self._snapshot.behind]:
            try:
                self._snapshot.logs[name] = (await self._mover.look(name)).log
            except StoreGoneError as error:
                _log.warning("store gone, showing what was last known: %s", error, extra=STORE_GONE())
                return
            except StoreError as error:
                _log.warning("showing what was last known of %s: %s", name, error, extra=STORE_TROUBLE(target=name))

    async def look_back(self) -> None:
        """Read the last day of all targets, at most once a second; a store that is gone changes nothing."""
        if self._looked_back_at is not None and time.monotonic() - self._looked_back_at < LOOK_S:
            return
        self._looked_back_at = time.monotonic()
        names = [name for name in self._roster.targets if name not in self._snapshot.behind]
        try:
            for first in range(0, len(names), _TOGETHER):
                self._snapshot.histories |= await self._store.histories(names[first : first + _TOGETHER])
        except StoreError as error:
            _log.warning("showing the last day as far as it is known: %s", error, extra=STORE_GONE())

    def watch(self, seen: Callable[[str], None]) -> None:
        """Call this with the name of each target whose circuit is another from now on, wherever it moved."""
        self._mover.watching.append(seen)

    def watch_store(self, turned: Callable[[], None]) -> None:
        """Call this when the store falls silent, which ends in a stale snapshot, and when it answers again."""
        self._follower.turned.append(turned)

    async def follow(self) -> None:
        """Take over each move that is announced, until the connection breaks; then the caller calls again.

        Raises StoreError then.
        """
        await self._follower.follow()

    # Inside

    def _standing(self, target: Target) -> Standing:
        circuit, now = self._snapshot.circuits.get(target.name, Circuit()), self.now()
        return Standing(
            target=target,
            policy=self._roster.policies[target.name],
            circuit=circuit,
            state=circuits.state(circuit, now),
            until=circuits.until(circuit, now),
            log=self._snapshot.logs.get(target.name, Log()),
            stale=self._snapshot.fresh_s(time.monotonic(), [target.name]) == 0,
        )

    def _default(self) -> str:
        return next(iter(self._roster.routes)) if len(self._roster.routes) == 1 else "default"

    def _check(self, target: str) -> None:
        if target not in self._roster.targets:
            raise UnknownNameError("target", target, self._roster.targets)
