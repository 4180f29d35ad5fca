"""One process's view of all circuits, and the one road for every answer."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from breaker import circuit as circuits
from breaker.answer import Answer, Ended
from breaker.circuit import Circuit, Move
from breaker.errors import StoreError, StoreGoneError, UnknownNameError
from breaker.log import Entry, Log, Weight, weigh
from breaker.policy import Policy
from breaker.route import Decision, Route, choose
from breaker.store.contract import Reading, Store
from breaker.switchboard.words import NOBODY, Judged, Listeners, Network, Standing
from breaker.usual import UNKNOWN
from breaker.verdict import Judgement, judge

_log = logging.getLogger(__name__)

# Between two reads of all circuits; a lost announcement is noticed within this.
REFRESH_S = 1.0
# A snapshot older than this is served as stale.
STALE_AFTER_S = 2.5
# Answers that wait for a store that is gone.
MAX_WAITING = 10_000
# Moves that may have been made without a reply; more wouldn't come together while a store is gone.
_MAX_UNSURE = 1000
# Whoever finds that another was faster looks again and judges anew, this often at most.
_TRIES = 5


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
        self._blind_until = 0.0  # the store's time until which our own network was down
        self._circuits: dict[str, Circuit] = {}
        self._logs: dict[str, Log] = {}
        self._offset_s = 0.0  # the store's clock minus our monotonic one
        self._read_at: float | None = None  # monotonic, as is the next
        self._looked_at: float | None = None
        self._waiting: deque[_Waiting] = deque()
        self._unsure: deque[tuple[str, Move]] = deque(maxlen=_MAX_UNSURE)
        self._resting: deque[str] = deque(self._targets)  # whose turn it is to be looked at
        self._watching: list[Callable[[str], None]] = []
        self.dropped = 0
        self.woken = asyncio.Event()  # set whenever a circuit has moved here or elsewhere

    # Reading memory

    @property
    def routes(self) -> Sequence[Route]:
        """The routes there are, in the configuration's order."""
        return tuple(self._routes.values())

    def now(self) -> float:
        """The store's time as far as it is known here; the monotonic clock carries it on between two reads."""
        return time.monotonic() + self._offset_s if self._read_at is not None else time.time()

    def age_s(self) -> float | None:
        """How old the snapshot is; None before the first read."""
        return None if self._read_at is None else time.monotonic() - self._read_at

    def stale(self) -> bool:
        """Whether the store hasn't answered lately."""
        age = self.age_s()
        return age is None or age > STALE_AFTER_S

    def self_suspect_s(self) -> float | None:
        """For how long our own network has been down; None while it isn't. Until it is back, no circuit moves."""
        since = self._network.suspect_since if self._network else None
        return None if since is None else time.monotonic() - since

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
        return choose(found, self._circuits, self.now(), stale=self.stale())

    def standing(self, target: str) -> Standing:
        """A target's circuit and last answers. Raises UnknownNameError."""
        self._check(target)
        circuit, now = self._circuits.get(target, Circuit()), self.now()
        return Standing(
            target=self._targets[target],
            policy=self._policies[target],
            circuit=circuit,
            state=circuits.state(circuit, now),
            until=circuits.until(circuit, now),
            log=self._logs.get(target, Log()),
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
        """Make the moves that the clock alone decides; gives the seconds until the next one, None if there is none.

        One more target each time is looked at in turn: whoever counted its last answer may have died before it moved.
        """
        self._resting.rotate(-1)
        restless = [name for name, c in self._circuits.items() if c.open_until is not None or c.held]
        moments = [await self._settle_one(name) for name in dict.fromkeys([*restless, *list(self._resting)[:1]])]
        return min((m - self.now() for m in moments if m is not None), default=None)

    # By hand

    async def hold(self, target: str, *, opened: bool, who: str, why: str, for_s: float) -> Move:
        """Hold a circuit open or closed by hand for a while."""
        self._check(target)

        def wanted(reading: Reading) -> Move:
            until = reading.now + for_s
            return circuits.hold(reading.circuit, reading.now, opened=opened, who=who, why=why, until=until)

        move = await self._by_hand(target, wanted)
        assert move is not None
        return move

    async def release(self, target: str, *, who: str, why: str) -> Move | None:
        """End a hold by hand; None where there is none."""
        self._check(target)
        return await self._by_hand(target, lambda r: circuits.release(r.circuit, r.now, who=who, why=why))

    async def moves(self, target: str, limit: int = 50) -> list[Move]:
        """The newest moves of a target with the answers behind each, newest first."""
        self._check(target)
        return await self._store.moves(target, limit)

    # The snapshot

    async def refresh(self) -> None:
        """Read all circuits, put back what the store has forgotten, and send what waits."""
        began, known = time.monotonic(), dict(self._circuits)
        found, now = await self._store.circuits(list(self._targets))
        self._offset_s = now - began
        self._read_at = time.monotonic()
        for name, circuit in found.items():
            if self._circuits.get(name) is known.get(name):  # else it moved while we read, and what we read is old
                await self._adopt(name, circuit, now)
        await self._make_sure()
        await self._send_waiting()

    async def look_again(self) -> None:
        """Read the last answers for those who look, at most once a second; a store that is gone changes nothing."""
        if self._looked_at is not None and time.monotonic() - self._looked_at < REFRESH_S:
            return
        self._looked_at = time.monotonic()
        for name in self._targets:
            try:
                self._logs[name] = (await self._look(name)).log
            except StoreGoneError as error:
                _log.warning("store gone, showing what was last known: %s", error)
                return
            except StoreError as error:
                _log.warning("showing what was last known of %s: %s", name, error)

    def watch(self, seen: Callable[[str], None]) -> None:
        """Call this with the name of each target whose circuit is another from now on, wherever it moved."""
        self._watching.append(seen)

    async def follow(self) -> None:
        """Take over each announced move, until the connection breaks; then the caller calls again."""
        async for name, circuit in self._store.announcements():
            if name in self._targets:
                self._take(name, circuit)

    # Inside

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
            down = await self._down(answer.target)
        return replace(answer, self_suspect=True) if down else answer

    def _may_be_ours(self, answer: Answer, judgement: Judgement) -> bool:
        """Whether it is a bad one that no word of the provider's has made so."""
        weight = weigh(_entry(answer, judgement), self._policies[answer.target])
        return weight is Weight.SLOW or (weight is Weight.FAILED and answer.ended is not Ended.COMPLETE)

    async def _record(self, answer: Answer, judgement: Judgement, *, tried: bool = False) -> Judged:
        entry = _entry(answer, judgement)
        weight = weigh(entry, self._policies[answer.target])
        reading = self._remembered(answer.target, await self._store.record(answer, judgement, weight))
        if reading.counted:
            reading = await self._learn(reading, entry)
        # Also after a repeated answer: it may have come again because the first reply was lost, and the move with it.
        move = await self._make_due(answer.target, reading)
        judged = Judged(answer=answer, judgement=judgement, reading=reading, move=move)
        self._logs[answer.target] = reading.log
        if reading.counted or tried:  # what counted at the first try was told to nobody
            _tell(self._listeners.judged, judged)
        if move is not None:
            self._announce(answer.target, move)
        return judged

    def _remembered(self, target: str, reading: Reading) -> Reading:
        """The reading, with the usual speed that is known here where the store has lost it."""
        known = self._logs.get(target, Log()).usual
        lost = reading.log.usual == UNKNOWN != known
        return replace(reading, log=replace(reading.log, usual=known)) if lost else reading

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

    async def _look(self, target: str) -> Reading:
        return self._remembered(target, await self._store.look(target))

    async def _make_due(self, target: str, reading: Reading) -> Move | None:
        """The move that is due, if we were the one to make it; whoever calls announces it."""
        for _ in range(_TRIES):
            if self.self_suspect_s() is not None:
                self._blind_until = reading.now
                return None
            reading = await self._whole(target, reading)
            policy, blind = self._policies[target], self._blind_until
            move = circuits.due(reading.circuit, reading.log, policy, reading.now, blind_until=blind)
            if move is not None and move.cause is circuits.Cause.UNVERIFIED and await self._down(target):
                continue  # that no probe told anything is our own fault; with no probes here nobody has noticed yet
            if move is None or (made := await self._apply(target, move, reading.circuit)) is not None:
                return move and made
            reading = await self._look(target)  # another moved it, perhaps for a reason that leaves ours as it was
        return None

    async def _down(self, target: str) -> bool:
        return self._network is not None and await self._network.down(target)

    async def _whole(self, target: str, reading: Reading) -> Reading:
        """The reading, with what the store has forgotten and is known here put back: else it'd be judged without."""
        known = self._circuits.get(target)
        back = circuits.restored(known, reading.circuit, reading.now) if known else None
        if back is None:
            return reading
        made = await self._put_back(target, reading.circuit, back, reading.now)
        return replace(reading, circuit=made.circuit) if made else await self._look(target)

    async def _apply(self, target: str, move: Move, judged: Circuit) -> Move | None:
        """The move as it was made; None if another was faster."""
        try:
            made = await self._store.apply(target, move, judged)
        except StoreGoneError:
            self._unsure.append((target, move))
            raise
        if made is not None:
            self._take(target, made.circuit)
        return made

    async def _make_sure(self) -> None:
        """Announce the moves that were made though no reply came; the ledger knows them."""
        while self._unsure:
            target, move = self._unsure[0]
            try:
                ledger = await self._store.moves(target, _MAX_UNSURE)
            except StoreGoneError:
                raise
            except StoreError as error:
                _log.warning("nobody is told of a move of %s: %s", target, error)
                ledger = []
            self._unsure.popleft()
            for made in (m for m in ledger if replace(m, circuit=replace(m.circuit, epoch=move.circuit.epoch)) == move):
                self._take(target, made.circuit)
                self._announce(target, made)

    def _announce(self, target: str, move: Move) -> None:
        _tell(self._listeners.moved, target, move)

    async def _settle_one(self, name: str) -> float | None:
        try:
            reading = await self._look(name)
            move = await self._make_due(name, reading)
        except StoreGoneError:
            raise
        except StoreError as error:  # it concerns this target alone
            _log.warning("the circuit of %s can't be read: %s", name, error)
            return None
        if move is not None:
            self._announce(name, move)
            reading = replace(reading, circuit=move.circuit)
        policy, blind = self._policies[name], self._blind_until
        return circuits.next_due(reading.circuit, reading.log, policy, reading.now, blind_until=blind)

    async def _by_hand(self, target: str, wanted: Callable[[Reading], Move | None]) -> Move | None:
        for _ in range(_TRIES):
            reading = await self._whole(target, await self._look(target))
            move = wanted(reading)
            if move is None:
                return None
            if (made := await self._apply(target, move, reading.circuit)) is not None:
                self._announce(target, made)
                return made
        raise StoreError(f"the circuit of {target!r} moved five times while it was being moved by hand; try again")

    def _take(self, name: str, circuit: Circuit) -> None:
        """Keep the newer of what is known and what was heard."""
        known = self._circuits.get(name)
        if known and known.epoch == circuit.epoch and known.generation >= circuit.generation:
            return
        self._keep(name, circuit)

    def _keep(self, name: str, circuit: Circuit) -> None:
        self._circuits[name] = circuit
        self.woken.set()
        _tell(self._watching, name)

    async def _adopt(self, name: str, found: Circuit, now: float) -> None:
        known = self._circuits.get(name)
        back = circuits.restored(known, found, now) if known else None
        if back is not None:
            await self._put_back(name, found, back, now)
        elif known is None or (known.epoch, known.generation) != (found.epoch, found.generation):
            self._keep(name, found)

    async def _put_back(self, name: str, found: Circuit, back: Circuit, now: float) -> Move | None:
        move = Move(
            at=now,
            before=circuits.state(found, now),
            after=circuits.state(back, now),
            cause=circuits.Cause.RESTORED,
            why="the store had forgotten this circuit; put back with its old end",
            circuit=back,
        )
        try:
            made = await self._apply(name, move, found)
        except StoreGoneError:
            raise
        except StoreError as error:  # it concerns this target alone
            _log.warning("the circuit of %s can't be put back: %s", name, error)
            return None
        if made is not None:
            self._announce(name, made)
        return made

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


def _tell(listeners: Iterable[Callable[..., None]], *what: object) -> None:
    """Tell each listener; a fault in one concerns neither the others nor the answer."""
    for listener in listeners:
        try:
            listener(*what)
        except Exception:  # noqa: BLE001 # whatever a listener does wrong
            _log.exception("a listener failed")
