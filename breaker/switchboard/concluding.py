"""Counts decisions about runs, once each, behind the answers that tell them."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from breaker.done import Ruling
from breaker.errors import StoreError
from breaker.logged import STORE_TROUBLE
from breaker.store.contract import Conclusion, KeptRun, Note, Novel, RunStore
from breaker.switchboard import last_runs
from breaker.switchboard.listeners import Concluded, Listeners, tell

_log = logging.getLogger(__name__)

# For so long decisions gather, so that many are counted in one round trip.
_GATHER_S = 0.01
_TOGETHER = 16
# When the service stops, before what the store didn't take is tried again.
_AGAIN_S = 0.05
# So many may wait to be counted.
_MOST = 1_000


def mark_of(name: str) -> str:
    """The few letters by which a run is named to those who don't know its id."""
    return name[:8]


class _Made(NamedTuple):
    conclusion: Conclusion
    ruling: Ruling


class Concluding:
    """Lets each decision be counted once, however often and by whomever it is asked for, while nobody waits for that.

    What the store doesn't take is counted when somebody asks next, or at the end; of those that wait the newest
    thousand are.
    """

    def __init__(self, store: RunStore, listeners: Listeners) -> None:
        self._store = store
        self._listeners = listeners
        self._made: deque[_Made] = deque(maxlen=_MOST)
        self._notes: deque[Note] = deque(maxlen=_MOST)
        self._counting: asyncio.Task[None] | None = None

    async def conclude(self, name: str, kept: KeptRun, ruling: Ruling) -> None:
        """Let a decision be counted about a run of which the store has just told this."""
        last = ruling.last
        decided = f"{','.join(ruling.reasons)} {'' if last is None else last.id}"
        claimed = last.id if last is not None and ruling.claimed else ""
        if (kept.decided, kept.claimed) == (decided, claimed or kept.claimed):
            return
        if len(self._made) >= _MOST:
            await self.settled()
        self._made.append(_Made(Conclusion(name, decided, claimed), ruling))
        self.go_on()

    def go_on(self) -> None:
        """Count what waits; what the store took no note of before too."""
        if (self._made or self._notes) and self._counting is None:
            self._counting = asyncio.create_task(self._count_all(), name="counting decisions")

    async def settled(self) -> None:
        """Wait until what has been decided so far is counted, or can't be."""
        for _ in range(2):  # what came too late for the one that goes on is in the next
            if self._counting is not None:
                await asyncio.wait([self._counting])

    async def drain(self, within_s: float) -> None:
        """Count all that waits, for so long at most; what is left then is lost."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._count_in_the_end()
        if self._counting is not None:
            self._counting.cancel()
            await asyncio.wait([self._counting])
        if lost := len(self._made) + len(self._notes):
            _log.warning(
                "%d decisions about runs aren't counted, since the store didn't take them in time",
                lost,
                extra=STORE_TROUBLE(count=lost),
            )

    async def _count_in_the_end(self) -> None:
        self.go_on()
        while self._counting is not None:
            await asyncio.wait([self._counting])
            if self._counting is None and (self._made or self._notes):
                await asyncio.sleep(_AGAIN_S)
                self.go_on()

    async def _count_all(self) -> None:
        took = False
        try:
            await asyncio.sleep(_GATHER_S)
            for _ in range(0, max(len(self._made), 1), _TOGETHER):
                took = await self._count()
                if not took:
                    break
        finally:
            self._counting = None
        if took:
            self.go_on()

    async def _count(self) -> bool:
        """Count the oldest; False where the store hasn't taken all of them."""
        some = [self._made.popleft() for _ in range(min(len(self._made), _TOGETHER))]
        try:
            replies = await self._store.conclude([made.conclusion for made in some]) if some else []
        except BaseException:
            self._put_back(some)
            raise
        left, trouble = list[_Made](), None
        for made, new in zip(some, replies, strict=True):
            if isinstance(new, StoreError):
                left.append(made)
                trouble = new
            elif any(new):
                self._notes.append(self._tell(made, new))
        self._put_back(left)
        try:
            if self._notes:
                await self._store.note(self._notes)
                self._notes.clear()
        except StoreError as error:
            trouble = error
        if trouble is not None:
            _log.warning("decisions about runs aren't counted yet: %s", trouble, extra=STORE_TROUBLE())
        return trouble is None

    def _put_back(self, some: Sequence[_Made]) -> None:
        room = _MOST - len(self._made)
        self._made.extendleft(some[::-1][:room])  # the newest of them, since others came meanwhile

    def _tell(self, made: _Made, new: Novel) -> Note:
        """Tell the listeners; gives what is to be noted."""
        mark, ruling, last = mark_of(made.conclusion.name), made.ruling, made.ruling.last
        provider = None if last is None else last.target.partition("/")[0]
        concluded = Concluded(mark=mark, ruling=ruling, provider=provider, claim=new.claim)
        tell(self._listeners.concluded, concluded)
        line = last_runs.write(mark, ruling, provider)
        return Note(line, provider if new.claim else None, ruling.prevented)
