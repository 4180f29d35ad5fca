"""The queue between those who hand answers in and the store: bounded, never waited for, in order for each target."""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from breaker.answer import Answer
from breaker.errors import StoreError, StoreGoneError
from breaker.logged import ANSWERS_LOST, ANSWERS_WAIT, FAULT, Event
from breaker.store.contract import Weighed
from breaker.switchboard.listeners import Judged
from breaker.switchboard.recorder import BATCH, Recorder
from breaker.verdict import Judgement

_log = logging.getLogger(__name__)

# Answers that wait for the store; about 0.7 KB each.
MAX_WAITING = 50_000
# After a call that the store didn't answer in time, before the next; each time twice as long, up to the second one.
AGAIN_S = (0.05, 0.5)
# A report waits so long at most after the last batch for others to go with; whatever may move a circuit goes at once.
LINGER_S = 0.05
# One trouble is logged at most this often.
_SAY_S = 60.0


class Dropped(StrEnum):
    """Why an answer never came into the store."""

    FULL = "full"  # more waited than may, and it was the oldest
    REFUSED = "refused"  # the store will never take it
    STOPPED = "stopped"  # the service ended before the store was back


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """The answers that are on their way into the store: how many, the oldest's wait, and how many never came there.

    `trouble` is what is wrong with the store where some of them wait for that, without saying where it is.
    """

    waiting: int
    oldest_s: float
    dropped: Mapping[Dropped, int]
    trouble: str | None = None

    @property
    def full(self) -> bool:
        """Whether the next one pushes out the oldest."""
        return self.waiting >= MAX_WAITING


@dataclass(slots=True)
class _Lane:
    """What waits of one target, and who sends it."""

    waiting: deque[Weighed] = field(default_factory=deque)
    sending: asyncio.Task[None] | None = None
    resting: bool = False  # the store gave no answer just now
    sent_at: float = float("-inf")
    hurry: asyncio.Event | None = None  # while more are waited for


class Intake:
    """Takes answers in at once and brings them into the store in batches, several targets at a time.

    Answers of one target keep their order. What the store gave no answer to is sent again, as the same: it counts
    once. Of more than MAX_WAITING the oldest are dropped.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._order: OrderedDict[Weighed, None] = OrderedDict()  # all that wait, oldest first
        self._lanes: dict[str, _Lane] = {}  # the same, by target
        self._under_way = 0
        self._askers: dict[Weighed, asyncio.Future[Judged | None]] = {}
        self._departure: asyncio.TimerHandle | None = None  # of those that linger
        self._trouble = ""  # why those rest
        self._said: dict[str, float] = {}
        self._dropped = dict.fromkeys(Dropped, 0)

    def __len__(self) -> int:
        """How many wait, or are under way."""
        return len(self._order) + self._under_way

    def queue(self) -> Queue:
        """How it stands."""
        oldest_s = time.monotonic() - next(iter(self._order)).since if self._order else 0.0
        trouble = self._trouble if any(lane.resting for lane in self._lanes.values()) else None
        return Queue(waiting=len(self), oldest_s=oldest_s, dropped=dict(self._dropped), trouble=trouble)

    def put(self, answer: Answer) -> Judgement:
        """Judge an answer and let it wait for its turn."""
        weighed = self._recorder.weighed(answer)
        self._enter(weighed)
        return weighed.judgement

    async def take(self, answer: Answer) -> Judged | None:
        """The same, and wait until it counts; None where the store is gone."""
        weighed = self._recorder.weighed(answer)
        lane = self._enter(weighed)
        if lane.resting:
            return None
        _hasten(lane)
        asker: asyncio.Future[Judged | None] = asyncio.get_running_loop().create_future()
        self._askers[weighed] = asker
        return await asker

    async def drain(self, within_s: float) -> None:
        """Send all that waits, for so long at most; what is left then is dropped."""
        if sending := self._sending():
            await asyncio.wait(sending, timeout=within_s)
        left = self._sending()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if lost := list(self._order):
            _log.warning(
                "%d answers are lost, since the store didn't take them in time",
                len(lost),
                extra=ANSWERS_LOST(count=len(lost)),
            )
            self._order.clear()
            self._lanes.clear()
            self._drop(lost, Dropped.STOPPED)

    # Inside

    def _sending(self) -> list[asyncio.Task[None]]:
        return [lane.sending for lane in self._lanes.values() if lane.sending is not None]

    def _enter(self, weighed: Weighed) -> _Lane:
        target = weighed.answer.target
        lane = self._lanes.get(target)
        if lane is None:
            lane = self._lanes[target] = _Lane()
        lane.waiting.append(weighed)
        self._order[weighed] = None
        if len(self._order) > MAX_WAITING:
            self._keep_the_newest()
        if lane.sending is None:
            lane.sending = asyncio.create_task(self._send(lane), name=f"sending answers of {target}")
        elif lane.hurry is not None and (len(lane.waiting) >= BATCH or self._recorder.may_move(weighed)):
            lane.hurry.set()
        return lane

    def _keep_the_newest(self) -> None:
        while len(self._order) > MAX_WAITING:
            oldest, _ = self._order.popitem(last=False)
            self._lanes[oldest.answer.target].waiting.popleft()
            self._drop([oldest], Dropped.FULL)
            self._say(ANSWERS_LOST, "%d answers wait for the store, and more come: the oldest are dropped", MAX_WAITING)

    async def _send(self, lane: _Lane) -> None:
        """Send what waits of a target, until nothing does."""
        most, (pause_s, longest_s) = BATCH, AGAIN_S
        try:
            while lane.waiting:
                await self._linger(lane)
                if await self._send_batch(lane, most):
                    lane.resting = False
                    most, pause_s = min(2 * most, BATCH), AGAIN_S[0]
                else:
                    lane.resting = True
                    self._dismiss(lane.waiting)
                    await asyncio.sleep(pause_s)
                    most, pause_s = max(most // 4, 1), min(2 * pause_s, longest_s)
        finally:
            lane.resting, lane.sending = False, None

    async def _linger(self, lane: _Lane) -> None:
        """Wait for more to go with what waits, unless that may move the circuit or is waited for.

        All lanes that wait go on at the same moment, so that their calls share a round trip.
        """
        urgent = len(lane.waiting) >= BATCH or self._askers or any(map(self._recorder.may_move, lane.waiting))
        if time.monotonic() - lane.sent_at < LINGER_S and not urgent:
            lane.hurry = asyncio.Event()
            if self._departure is None:
                self._departure = asyncio.get_running_loop().call_later(LINGER_S, self._depart)
            await lane.hurry.wait()
            lane.hurry = None
        lane.sent_at = time.monotonic()

    def _depart(self) -> None:
        self._departure = None
        for lane in self._lanes.values():
            _hasten(lane)

    async def _send_batch(self, lane: _Lane, most: int) -> bool:
        """Whether the batch is done with; else it waits again, where it did."""
        batch = [lane.waiting.popleft() for _ in range(self._recorder.together(lane.waiting, most))]
        for one in batch:
            del self._order[one]
        self._under_way += len(batch)
        done = False
        try:
            done = await self._bring(batch)
        finally:
            self._under_way -= len(batch)
            if not done:
                self._wait_again(lane, batch)
        return done

    async def _bring(self, batch: list[Weighed]) -> bool:
        """Whether the store has decided on them."""
        try:
            judged = await self._recorder.record(batch) if batch else []
        except StoreGoneError as error:
            self._say(ANSWERS_WAIT, "answers wait, since the store can't take them: %s", error)
            self._trouble = error.trouble
            for one in batch:
                one.tried = True
            return False
        except StoreError as error:
            self._say(ANSWERS_LOST, "answers are dropped, since the store refuses them for good: %s", error)
            self._drop(batch, Dropped.REFUSED)
        except Exception:  # noqa: BLE001 # a fault of ours must not stop those that come after
            _log.exception("%d answers are dropped", len(batch), extra=FAULT(count=len(batch)))
            self._drop(batch, Dropped.REFUSED)
        else:
            for one, what in zip(batch, judged, strict=True):
                self._answer(one, what)
        return True

    def _wait_again(self, lane: _Lane, batch: list[Weighed]) -> None:
        for one in reversed(batch):
            lane.waiting.appendleft(one)
            self._order[one] = None
            self._order.move_to_end(one, last=False)
        self._keep_the_newest()

    def _drop(self, lost: Sequence[Weighed], why: Dropped) -> None:
        self._dropped[why] += len(lost)
        self._dismiss(lost)

    def _dismiss(self, waiting: Iterable[Weighed]) -> None:
        """Let nobody wait for these any longer."""
        for one in list(waiting) if self._askers else ():
            self._answer(one, None)

    def _answer(self, one: Weighed, what: Judged | None) -> None:
        asker = self._askers.pop(one, None)
        if asker is not None and not asker.done():
            asker.set_result(what)

    def _say(self, event: Event, words: str, *more: object) -> None:
        now = time.monotonic()
        if now - self._said.get(words, float("-inf")) >= _SAY_S:
            self._said[words] = now
            _log.warning(words, *more, extra=event())


def _hasten(lane: _Lane) -> None:
    if lane.hurry is not None:
        lane.hurry.set()
