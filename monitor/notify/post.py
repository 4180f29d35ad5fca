"""Sends what lies in one receiver's box; of several replicas one at a time does."""

import asyncio
import contextlib
import heapq
import logging
import random
import secrets
import time
from collections.abc import Callable
from typing import Protocol

import httpx

from breaker.errors import StoreError
from breaker.logged import FAULT, NOTICE_DROPPED, NOTICE_FAILED
from monitor.notify.counts import Sent
from monitor.notify.message import Message
from monitor.notify.sending import LIMIT_S, Refused, client, send
from monitor.settings import Receiver

_log = logging.getLogger(__name__)

# Who sends holds a claim for so long; where it dies, another goes on after that.
LEASE_S = 3 * LIMIT_S
# A box is looked into so often although nobody says that something is in it: another replica may have died.
LOOK_S = 5.0
# Between two tries, doubled each time up to the second.
BACKOFF_S = (1.0, 60.0)
# While none is taken, so many are tried in turn, one each time: what a receiver takes amiss about one message doesn't
# hold up all others.
ABREAST = 5
# A message that nobody took for so long says nothing any more.
GIVE_UP_S = 3600.0


class Boxes(Protocol):
    """The part of a store that keeps messages until they are sent."""

    async def pending(self, box: str) -> dict[str, str]:
        """The messages in a box by their names, in no order."""
        ...

    async def take_out(self, box: str, name: str) -> None:
        """Take a message out of its box."""
        ...

    async def claim(self, target: str, holder: str, for_s: float) -> bool:
        """Take the one claim on a box, or renew it; False while another has it. It lapses by itself."""
        ...

    async def unclaim(self, target: str, holder: str) -> None:
        """Give a claim back."""
        ...


class Post:
    """Sends one receiver's messages until it is stopped, the oldest first as long as they are taken.

    `nudge` says that there is one. `clock` is the store's, by which messages have their age.
    """

    def __init__(
        self, receiver: Receiver, store: Boxes, counts: Sent, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.receiver = receiver
        self.box = f"notify:{receiver.name}"
        self._store = store
        self._counts = counts
        self._clock = clock
        self._holder = secrets.token_hex(8)
        self._tries = 0
        self._done: set[str] = set()
        self._client: httpx.AsyncClient | None = None
        self._nudged = asyncio.Event()
        self._nudged.set()
        self._task = asyncio.create_task(self._work(), name=f"telling {receiver.name}")

    def nudge(self) -> None:
        """Look into the box."""
        self._nudged.set()

    def stop(self) -> asyncio.Task[None]:
        """End it; gives the task that ends."""
        self._task.cancel()
        self._counts.pending.pop(self.receiver.name, None)
        return self._task

    def count_dropped(self, cause: str) -> None:
        """A message is given up."""
        form = self.receiver.form
        self._counts.dropped[form] += 1
        about = NOTICE_DROPPED(receiver=self.receiver.name, form=form.value, cause=cause)
        _log.warning("a message to %s is given up: %s", self.receiver.name, cause, extra=about)

    # Inside

    async def _work(self) -> None:
        async with contextlib.AsyncExitStack() as self._stack:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self._nudged.wait()
                self._nudged.clear()
                try:
                    await self._empty()
                except StoreError:
                    continue  # it is said elsewhere that the store is gone
                except Exception:  # noqa: BLE001 # a fault of ours must not end all telling
                    _log.exception("telling %s failed by a fault of ours", self.receiver.name, extra=FAULT())

    async def _empty(self) -> None:
        """Send all that is in the box, if nobody else does."""
        while await self._waiting():
            if not await self._store.claim(self.box, self._holder, LEASE_S):
                return
            try:
                # Read again, since what lay there may have been sent by whoever had the claim until now.
                if waiting := await self._waiting():
                    oldest = heapq.nsmallest(ABREAST, waiting.items(), key=_age)
                    await self._send(oldest[self._tries % len(oldest)])
            finally:
                await self._unclaim()

    async def _unclaim(self) -> None:
        """Let another go on, unless the store doesn't know yet what was sent: the other would send it again."""
        if not self._done:
            with contextlib.suppress(StoreError):
                await self._store.unclaim(self.box, self._holder)

    async def _waiting(self) -> dict[str, str]:
        waiting = await self._store.pending(self.box)
        self._counts.pending[self.receiver.name] = (self.receiver.form, len(waiting))
        return waiting

    async def _send(self, item: tuple[str, str]) -> None:
        """Send one, and take it out once it is done with; rests where it wasn't taken."""
        name, text = item
        if name in self._done:  # it was sent, and the store didn't hear of it
            await self._store.take_out(self.box, name)
            self._done.discard(name)
            return
        message = Message.read(text)
        if message is None or self._clock() - message.at > GIVE_UP_S:
            await self._store.take_out(self.box, name)
            self.count_dropped("too old" if message else "another version's")
            return
        try:
            if self._client is None:
                self._client = await self._stack.enter_async_context(client())
            await send(self._client, self.receiver, message)
        except Refused as refused:
            await self._refused(name, refused)
            return
        self._tries = 0
        self._counts.sent[self.receiver.form] += 1
        await self._finish(name)

    async def _finish(self, name: str) -> None:
        self._done.add(name)
        await self._store.take_out(self.box, name)
        self._done.discard(name)

    async def _refused(self, name: str, refused: Refused) -> None:
        receiver, form = self.receiver.name, self.receiver.form
        self._counts.failed[form] += 1
        if refused.for_good:
            self.count_dropped(refused.cause)
            await self._finish(name)
            return
        about = NOTICE_FAILED(receiver=receiver, form=form.value, cause=refused.cause)
        _log.warning("%s took no message, it is tried again: %s", receiver, refused.cause, extra=about)
        await self._rest(refused.after_s)

    async def _rest(self, after_s: float | None) -> None:
        """Wait before the next try, and keep the claim meanwhile, so that no other replica tries sooner."""
        wait_s = _backoff_s(self._tries) if after_s is None else after_s
        self._tries += 1
        while wait_s > 0:
            step_s = min(wait_s, LEASE_S / 3)
            with contextlib.suppress(StoreError):
                await self._store.claim(self.box, self._holder, LEASE_S)
            await asyncio.sleep(step_s)
            wait_s -= step_s


def _backoff_s(tries: int) -> float:
    """How long to wait after so many tries in a row."""
    least, most = BACKOFF_S
    doubled = least * 2.0 ** min(tries, 30)  # a receiver may be gone for weeks, and a float has an end
    return min(doubled, most) * random.uniform(0.8, 1.2)  # noqa: S311


def _age(item: tuple[str, str]) -> tuple[float, str]:
    """What sorts the oldest first; what can't be read comes before all."""
    message = Message.read(item[1])
    return (message.at if message else 0.0, item[0])
