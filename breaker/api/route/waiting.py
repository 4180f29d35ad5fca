"""Holds answers back until there is something new to say, for thousands at once."""

import asyncio
import contextlib
import time
from itertools import islice
from typing import Protocol

from starlette.types import Receive, Scope

from breaker.api.access import gone
from breaker.api.route.asked import Asked
from breaker.api.route.prepared import Prepared, Said

# Further ones are answered at once; each costs the memory of an open connection.
MOST_WAITING = 20_000
MAX_WAIT_S = 60.0
# The most that are looked at and told in one turn of the loop, which then looks after others.
AT_ONCE = 500


class Waiter(Protocol):
    """Somebody who waits."""

    def wake(self) -> None:
        """Let it go on; it leaves by itself."""
        ...


class _Room:
    """Those who are told the same; `changes_at` is when that may be another answer."""

    __slots__ = ("changes_at", "waiters")

    def __init__(self) -> None:
        self.waiters: set[Waiter] = set()
        self.changes_at = 0.0


class Waiting:
    """Those who wait until their answer is another one. Needs a running loop only while somebody waits."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._rooms: dict[tuple[Asked, str], _Room] = {}  # by what they asked and the tag of what they know
        self._count = 0
        self._next: asyncio.TimerHandle | None = None
        self._next_at = 0.0  # monotonic; a handle of uvloop's doesn't know its own
        self._closed = False
        self._gone: dict[Waiter, None] = {}  # those that go on although their answer may be the same
        prepared.watch(self._moved)

    def __len__(self) -> int:
        """How many wait."""
        return self._count

    def enter(self, said: Said, waiter: Waiter) -> bool:
        """Wake this once the answer isn't this one any more; whoever enters also leaves.

        False where too many wait already, or the service is about to stop: then it hasn't entered.
        """
        if self._closed or self._count >= MOST_WAITING:
            return False
        room = self._rooms.setdefault((said.asked, said.etag), _Room())
        room.waiters.add(waiter)
        room.changes_at = said.changes_at
        self._count += 1
        self._arm(said.changes_at)
        return True

    def leave(self, said: Said, waiter: Waiter) -> None:
        """Wait no longer."""
        room = self._rooms[said.asked, said.etag]
        room.waiters.remove(waiter)
        self._gone.pop(waiter, None)
        self._count -= 1
        if not room.waiters:
            del self._rooms[said.asked, said.etag]

    async def wait(self, said: Said, seconds: float, scope: Scope, receive: Receive) -> None:
        """Return when this would be woken, the time is over, or the client of an ASGI app says no more or has gone."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds) as limit:
                sleeper = _Sleeper(limit)
                if not self.enter(said, sleeper):
                    return
                try:
                    await gone(scope, receive)
                finally:
                    self.leave(said, sleeper)

    def renew(self) -> None:
        """Let all who wait now go on: what they asked may mean something else from here on."""
        self._gone = {waiter: None for room in self._rooms.values() for waiter in room.waiters}
        if self._gone:
            self._arm(0.0)

    def close(self) -> None:
        """Let all go on, and nobody wait any more."""
        self._closed = True
        for room in list(self._rooms.values()):
            for waiter in list(room.waiters):
                waiter.wake()

    def _moved(self) -> None:
        """Look soon: what is read from the store may move several circuits at once."""
        for room in self._rooms.values():
            room.changes_at = 0.0
        if self._rooms:
            self._arm(0.0)

    def _look(self) -> None:
        """Wake those whose answer has changed, and look again when the clock may change one."""
        self._next = None
        if self._gone:
            self._let_go()
            return
        left, now = AT_ONCE, time.monotonic()
        due = [(key, room) for key, room in self._rooms.items() if room.changes_at <= now]
        for (asked, tag), room in due:
            if left <= 0:
                break
            said = self._prepared.answer(asked)
            left -= 1
            if said.etag == tag:
                room.changes_at = said.changes_at
                continue
            for waiter in list(islice(room.waiters, left)):
                waiter.wake()
                left -= 1
        if self._rooms:
            self._arm(min(room.changes_at for room in self._rooms.values()))

    def _let_go(self) -> None:
        """Wake some of those that are to go on, and come back for the others."""
        for waiter in list(islice(self._gone, AT_ONCE)):
            self._gone.pop(waiter, None)
            waiter.wake()
        if self._gone or self._rooms:
            self._arm(0.0)

    def _arm(self, at: float) -> None:
        """Look at this monotonic moment, unless it is sooner anyway."""
        if self._next is not None:
            if self._next_at <= at:
                return
            self._next.cancel()
        self._next_at = at
        self._next = asyncio.get_running_loop().call_later(max(at - time.monotonic(), 0.0), self._look)


class _Sleeper:
    """A task that waits, woken by the end of its time."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit = limit

    def wake(self) -> None:
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())
