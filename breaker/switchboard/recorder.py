"""Brings answers into the store, and does what follows from them."""

import logging
from collections.abc import Mapping
from dataclasses import replace

from breaker import circuit as circuits
from breaker.answer import Answer, Ended
from breaker.errors import StoreError
from breaker.log import Entry, Weight, weigh
from breaker.policy import Policy
from breaker.store.contract import Reading, Store
from breaker.switchboard.listeners import Judged, Listeners, tell
from breaker.switchboard.moving import Mover
from breaker.switchboard.snapshot import Snapshot
from breaker.switchboard.words import Network
from breaker.verdict import Judgement

_log = logging.getLogger(__name__)


class Recorder:
    """Records each answer, learns from it, has the move made that is due after it, and tells the listeners."""

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        policies: Mapping[str, Policy],
        listeners: Listeners,
        mover: Mover,
        network: Network | None,
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._policies = policies
        self._listeners = listeners
        self._mover = mover
        self._network = network

    async def ours(self, answer: Answer, judgement: Judgement) -> Answer:
        """The answer, marked where our own network was down while it was waited for, and it broke off or came late."""
        network = self._network
        if network is None or not self._may_be_ours(answer, judgement):
            return answer
        down = network.was_down(answer.began_ago_s)
        if not down and answer.ended is not Ended.COMPLETE:
            down = await self._mover.down(answer.target)
        return replace(answer, self_suspect=True) if down else answer

    async def record(self, answer: Answer, judgement: Judgement, *, tried: bool = False) -> Judged:
        """What became of an answer. `tried`: it was sent before, and may have counted without a reply.

        Raises StoreError.
        """
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

    def _may_be_ours(self, answer: Answer, judgement: Judgement) -> bool:
        """Whether it is a bad one that no word of the provider's has made so."""
        weight = weigh(_entry(answer, judgement), self._policies[answer.target])
        return weight is Weight.SLOW or (weight is Weight.FAILED and answer.ended is not Ended.COMPLETE)

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


def _entry(answer: Answer, judgement: Judgement) -> Entry:
    """An entry that no store has given its times."""
    return Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=0.0, began=0.0)
