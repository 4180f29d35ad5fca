"""One process's view of all circuits, and the one road for every answer."""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from breaker import circuit as circuits
from breaker.answer import Answer, Ended
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError, UnknownNameError
from breaker.log import Entry, Log, Weight, weigh
from breaker.policy import Policy
from breaker.route import Decision, Route, choose
from breaker.store.contract import Reading, Store
from breaker.switchboard.listeners import NOBODY, Judged, Listeners, tell
from breaker.switchboard.moving import Mover
from breaker.switchboard.snapshot import Snapshot
from breaker.switchboard.words import Network, Standing
from breaker.verdict import Judgement, judge

_log = logging.getLogger(__name__)

# Between two reads of all circuits; a lost announcement is noticed within this.
REFRESH_S = 1.0
# Answers that wait for a store that is gone.
MAX_WAITING = 10_000


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An answer that waits since a monotonic moment; `tried`: it was sent, and may have counted without a reply."""

    since: float
    answer: Answer
    tried: bool


class Switchboard:
    """One process's view of all circuits, and the one road for every answer.

    `route` and `standings` read memory; everything else asks the store. While the store is gone, answers wait
    (at most MAX_WAITING) and routes come from the last snapshot. `dropped` counts those that were one too many, and
    those that the store refuses for good.
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
        self._routes = {route.name: route for route in routes}
        self._targets = {target.name: target for route in routes for target in route.targets}
        self._policies = dict(policies)
        self._listeners = listeners
        self._network = network
        self._snapshot = Snapshot()
        self._mover = Mover(store, self._snapshot, self._policies, listeners, network)
        self._looked_at: float | None = None  # monotonic
        self._waiting: deque[_Waiting] = deque()
        self.dropped = 0

    # Reading memory

    @property
    def routes(self) -> Sequence[Route]:
        """The routes there are, in the configuration's order."""
        return tuple(self._routes.values())

    def now(self) -> float:
        """The store's time as far as it is known here; the monotonic clock carries it on between two reads."""
        now = self._snapshot.now(time.monotonic())
        return time.time() if now is None else now

    def age_s(self) -> float | None:
        """How old the snapshot is; None before the first read."""
        return self._snapshot.age_s(time.monotonic())

    def stale(self) -> bool:
        """Whether the store hasn't answered lately."""
        return self._snapshot.stale(time.monotonic())

    def self_suspect_s(self) -> float | None:
        """For how long our own network has been down; None while it isn't. Until it is back, no circuit moves."""
        return self._mover.suspect_s()

    def waiting(self) -> int:
        """How many answers wait for the store."""
        return len(self._waiting)

    def route(self, name: str | None = None) -> Decision:
        """Where a step of this route should go. Without a name: the route `default`, or the only one.

        Raises UnknownNameError with the names there are.
        """
        found = self._routes.get(name if name is not None else self._default())
        if found is None:
            raise UnknownNameError("route", name or "default", self._routes)
        return choose(found, self._snapshot.circuits, self.now(), stale=self.stale())

    def standing(self, target: str) -> Standing:
        """A target's circuit and last answers. Raises UnknownNameError."""
        self._check(target)
        circuit, now = self._snapshot.circuits.get(target, Circuit()), self.now()
        return Standing(
            target=self._targets[target],
            policy=self._policies[target],
            circuit=circuit,
            state=circuits.state(circuit, now),
            until=circuits.until(circuit, now),
            log=self._snapshot.logs.get(target, Log()),
        )

    def standings(self) -> list[Standing]:
        """All targets, in the order in which the routes name them."""
        return [self.standing(name) for name in self._targets]

    # The road of every answer

    async def report(self, answer: Answer) -> Judged | None:
        """Judge an answer, record it and make the move that is due; None while it waits for a store that is gone.

        Raises UnknownNameError for a target that isn't configured.
        """
        self._check(answer.target)
        judgement = judge(answer)
        answer = await self._ours(answer, judgement)
        if self._waiting:  # what is gone would cost each answer of many its full limit
            self._wait(answer, tried=False)
            return None
        try:
            return await self._record(answer, judgement)
        except StoreError as error:
            _log.warning("the answer waits, since the store can't take it: %s", error)
            self._wait(answer, tried=True)
            return None

    async def settle(self) -> float | None:
        """Make the moves that the clock alone decides; gives the seconds until the next one, None if there is none."""
        moment = await self._mover.settle()
        return None if moment is None else moment - self.now()

    # By hand

    async def hold(self, target: str, *, opened: bool, who: str, why: str, for_s: float) -> Move:
        """Hold a circuit open or closed by hand for a while."""
        self._check(target)

        def wanted(reading: Reading) -> Move:
            until = reading.now + for_s
            return circuits.hold(reading.circuit, reading.now, opened=opened, who=who, why=why, until=until)

        move = await self._mover.by_hand(target, wanted)
        assert move is not None
        return move

    async def release(self, target: str, *, who: str, why: str) -> Move | None:
        """End a hold by hand; None where there is none."""
        self._check(target)
        return await self._mover.by_hand(target, lambda r: circuits.release(r.circuit, r.now, who=who, why=why))

    async def moves(self, target: str, limit: int = 50) -> list[Move]:
        """The newest moves of a target with the answers behind each, newest first."""
        self._check(target)
        return await self._store.moves(target, limit)

    # The snapshot

    async def refresh(self) -> None:
        """Read all circuits, put back what the store has forgotten, and send what waits."""
        await self._read()
        await self._mover.make_sure()
        await self._send_waiting()

    async def look_again(self) -> None:
        """Read the last answers for those who look, at most once a second; a store that is gone changes nothing."""
        if self._looked_at is not None and time.monotonic() - self._looked_at < REFRESH_S:
            return
        self._looked_at = time.monotonic()
        for name in self._targets:
            try:
                self._snapshot.logs[name] = (await self._mover.look(name)).log
            except StoreGoneError as error:
                _log.warning("store gone, showing what was last known: %s", error)
                return
            except StoreError as error:
                _log.warning("showing what was last known of %s: %s", name, error)

    def watch(self, seen: Callable[[str], None]) -> None:
        """Call this with the name of each target whose circuit is another from now on, wherever it moved."""
        self._mover.watching.append(seen)

    async def follow(self) -> None:
        """Take over each announced move, until the connection breaks; then the caller calls again."""
        async for name, circuit in self._store.announcements():
            if name in self._targets:
                self._mover.take(name, circuit)

    # Inside

    async def _read(self) -> None:
        began, known = time.monotonic(), dict(self._snapshot.circuits)
        found, now = await self._store.circuits(list(self._targets))
        self._snapshot.was_read(began, time.monotonic(), now)
        for name, circuit in found.items():
            if self._snapshot.circuits.get(name) is known.get(name):  # else it moved while we read: what we read is old
                await self._mover.adopt(name, circuit, now)

    def _default(self) -> str:
        return next(iter(self._routes)) if len(self._routes) == 1 else "default"

    def _check(self, target: str) -> None:
        if target not in self._targets:
            raise UnknownNameError("target", target, self._targets)

    async def _ours(self, answer: Answer, judgement: Judgement) -> Answer:
        """The answer, marked where our own network was down while it was waited for, and it broke off or came late."""
        network = self._network
        if network is None or not self._may_be_ours(answer, judgement):
            return answer
        down = network.was_down(answer.began_ago_s)
        if not down and answer.ended is not Ended.COMPLETE:
            down = await self._mover.down(answer.target)
        return replace(answer, self_suspect=True) if down else answer

    def _may_be_ours(self, answer: Answer, judgement: Judgement) -> bool:
        """Whether it is a bad one that no word of the provider's has made so."""
        weight = weigh(_entry(answer, judgement), self._policies[answer.target])
        return weight is Weight.SLOW or (weight is Weight.FAILED and answer.ended is not Ended.COMPLETE)

    async def _record(self, answer: Answer, judgement: Judgement, *, tried: bool = False) -> Judged:
        entry = _entry(answer, judgement)
        weight = weigh(entry, self._policies[answer.target])
        reading = self._snapshot.remembered(answer.target, await self._store.record(answer, judgement, weight))
        if reading.counted:
            reading = await self._learn(reading, entry)
        # Also after a repeated answer: it may have come again because the first reply was lost, and the move with it.
        move = await self._mover.make_due(answer.target, reading)
        judged = Judged(answer=answer, judgement=judgement, reading=reading, move=move)
        self._snapshot.logs[answer.target] = reading.log
        if reading.counted or tried:  # what counted at the first try was told to nobody
            tell(self._listeners.judged, judged)
        if move is not None:
            self._mover.announce(answer.target, move)
        return judged

    async def _learn(self, reading: Reading, entry: Entry) -> Reading:
        """The reading with what the answer teaches of the usual speed; two that learn at once may lose one lesson."""
        target, log = entry.answer.target, reading.log
        usual = circuits.learnt(reading.circuit, log, self._policies[target], entry, reading.now)
        if usual is log.usual:
            return reading
        try:
            await self._store.learn(target, usual)
        except StoreError as error:  # a lesson lost is no answer lost
            _log.warning("what is usual of %s is known here alone: %s", target, error)
        return replace(reading, log=replace(log, usual=usual))

    def _wait(self, answer: Answer, *, tried: bool) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(_Waiting(time.monotonic(), answer, tried))

    async def _send_waiting(self) -> None:
        """Send what waits, oldest first; its age keeps it honest. What the store refuses for good is dropped.

        Stops in time for the next read: the more waits, the more circuits may be about to move.
        """
        ends = time.monotonic() + REFRESH_S
        while self._waiting and time.monotonic() < ends:
            waits = self._waiting.popleft()
            answer = waits.answer
            aged = replace(answer, age_s=answer.began_ago_s + time.monotonic() - waits.since)
            try:
                await self._record(aged, judge(aged), tried=waits.tried)
            except StoreGoneError:
                self._waiting.appendleft(replace(waits, tried=True))
                raise
            except StoreError as error:
                self.dropped += 1
                _log.warning("an answer of %s is dropped: %s", answer.target, error)


def _entry(answer: Answer, judgement: Judgement) -> Entry:
    """An entry that no store has given its times."""
    return Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=0.0, began=0.0)
