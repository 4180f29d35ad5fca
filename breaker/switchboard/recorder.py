"""Brings answers into the store, and does what follows from them."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from breaker import circuit as circuits
from breaker.answer import Answer, Ended, Source
from breaker.circuit import Circuit
from breaker.errors import StoreError
from breaker.history import Keep
from breaker.log import Entry, Log, Weight, weigh
from breaker.logged import STORE_TROUBLE
from breaker.store.contract import Reading, Store, Weighed
from breaker.switchboard.listeners import Judged, Listeners, tell
from breaker.switchboard.moving import Mover
from breaker.switchboard.roster import Roster
from breaker.switchboard.snapshot import Snapshot
from breaker.switchboard.turns import Turns
from breaker.switchboard.words import Network
from breaker.verdict import judge

_log = logging.getLogger(__name__)

# Answers in one call of the store at most, which keeps others waiting for a millisecond meanwhile.
BATCH = 100
# That bad reports can't open a circuit is known for so long: bins leave the window meanwhile.
_KNOWN_S = 1.0
# Looking up a member of an enumeration costs more than comparing it.
_GOOD, _THROTTLED, _REPORT = Weight.GOOD, Weight.THROTTLED, Source.REPORT


class Recorder:
    """Records answers, learns from them, has the moves made that are due after them, and tells the listeners."""

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        roster: Roster,
        listeners: Listeners,
        mover: Mover,
        network: Network | None,
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._roster = roster
        self._listeners = listeners
        self._mover = mover
        self._network = network
        self._turns = Turns()
        self._known: dict[str, tuple[Log, float, bool]] = {}

    def weighed(self, answer: Answer) -> Weighed:
        """An answer that has just been handed in, judged and weighed."""
        one = Weighed(answer=answer, judgement=judge(answer), since=time.monotonic())
        one.weight = weigh(one, self._roster.policies[answer.target])
        if self._network is not None and _may_be_ours(one) and self._network.was_down(answer.began_ago_s):
            self._excuse(one)
        return one

    def together(self, waiting: Iterable[Weighed], most: int) -> int:
        """How many of those that wait, all of one target, go into the store in one batch.

        A probe goes alone, and a batch of reports ends with each that may open the circuit: so it moves as it would if
        they came one by one.
        """
        number = 0
        for number, one in enumerate(islice(waiting, most), 1):
            if one.weight is _GOOD and one.answer.source is _REPORT:
                continue
            if one.answer.source is not _REPORT:
                return max(number - 1, 1)
            if self.may_move(one):
                break
        return number

    def may_move(self, one: Weighed) -> bool:
        """Whether it may move its circuit: a probe that tells anything, or a bad report where the circuit is closed."""
        if one.answer.source is not _REPORT:
            return True
        if not one.weight.bad and (one.weight is not _THROTTLED or self._roster.policies[one.answer.target].probing):
            return False
        circuit = self._snapshot.circuits.get(one.answer.target)
        if circuit is None or circuit.open_until is not None:
            return circuit is None
        return not self._withstands(one.answer.target, circuit)

    async def record(self, weighed: Sequence[Weighed]) -> list[Judged]:
        """What became of a batch. Raises StoreError, where nothing is known of it."""
        await self._excuse_ours(weighed)
        sent_at, target = time.monotonic(), weighed[0].answer.target
        keep = Keep.of(self._roster.policies[target], weighed[0].answer.source)
        reading = self._snapshot.remembered(target, await self._store.record(weighed, sent_at, keep))
        await self._turns.take(weighed, time.monotonic())
        if reading.counted[0]:
            reading = await self._learn(reading, weighed[0])
        # Also after a repeated answer: it may have come again because the first reply was lost, and the move with it.
        move = await self._mover.make_due(target, reading)
        self._snapshot.logs[target] = reading.log
        judged = [Judged(one.answer, one.judgement, reading, None, sent_at - one.since) for one in weighed]
        judged[-1] = judged[-1]._replace(move=move)
        for one, told, counted in zip(weighed, judged, reading.counted, strict=True):
            if counted or one.tried:  # what counted at the first try was told to nobody
                tell(self._listeners.judged, told)
        if move is not None:
            self._mover.announce(target, move)
        return judged

    # Inside

    def _withstands(self, target: str, circuit: Circuit) -> bool:
        """Whether as many bad reports as a batch may hold would leave a closed circuit as it is."""
        log, at = self._snapshot.logs.get(target), time.monotonic()
        now = self._snapshot.now(at)
        if log is None or now is None:
            return False
        known = self._known.get(target)
        if known is None or known[0] is not log or at >= known[1]:
            said = circuits.withstands(circuit, log, self._roster.policies[target], now, BATCH)
            known = self._known[target] = (log, at + _KNOWN_S, said)
        return known[2]

    async def _excuse_ours(self, weighed: Sequence[Weighed]) -> None:
        """Mark those that broke off while our own network is down."""
        broken_off = [one for one in weighed if _may_be_ours(one) and one.answer.ended is not Ended.COMPLETE]
        if broken_off and await self._mover.down(broken_off[0].answer.target):
            for one in broken_off:
                self._excuse(one)

    def _excuse(self, one: Weighed) -> None:
        one.answer = replace(one.answer, self_suspect=True)
        one.weight = weigh(one, self._roster.policies[one.answer.target])

    async def _learn(self, reading: Reading, weighed: Weighed) -> Reading:
        """The reading with what the answer teaches of the usual speed; two that learn at once may lose one lesson."""
        target, log = weighed.answer.target, reading.log
        entry = Entry(answer=weighed.answer, verdict=weighed.verdict, blame=weighed.blame, at=0.0, began=0.0)
        usual = circuits.learnt(reading.circuit, log, self._roster.policies[target], entry, reading.now)
        if usual is log.usual:
            return reading
        try:
            await self._store.learn(target, usual)
        except StoreError as error:  # a lesson lost is no answer lost
            _log.warning(
                "what is usual of %s is known here alone: %s", target, error, extra=STORE_TROUBLE(target=target)
            )
        return replace(reading, log=replace(log, usual=usual))


def _may_be_ours(one: Weighed) -> bool:
    """Whether it is a bad one that no word of the provider's has made so."""
    return one.weight is Weight.SLOW or (one.weight is Weight.FAILED and one.answer.ended is not Ended.COMPLETE)
