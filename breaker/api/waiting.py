"""Holds answers back until there is something new to say, for thousands at once."""

import asyncio
import contextlib
import time
from itertools import islice
from typing import Protocol

from starlette.types import Receive

from breaker.api.asked import Asked
from breaker.api.prepared import Prepared, Said

# Further ones are answered at once; each costs the memory of an open connection.
MOST_WAITING = 20_000
MAX_WAIT_S = 60.0
# So many are looked at and told in one turn of the loop, which then looks after others.
AT_ONCE = 500


class Place(Protocol):
    """Somebody who waits."""

    def wake(self) -> None:
        """Let it go on; it leaves by itself."""
        ...


class _Room:
    """Those who are told the same; `changes_at` is when that may be another answer."""

    __slots__ = ("changes_at", "places")

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.changes_at = 0.0


class Waiting:
    """Those who wait until their answer is another one. Needs a running loop only while somebody waits."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._rooms: dict[tuple[Asked, str], _Room] = {}  # by what they asked and the tag of what they know
        self._count = 0
        self._next: asyncio.TimerHandle | None = None
        self._closed = False
        prepared.watch(self._moved)

    def __len__(self) -> int:
        """How many wait."""
        return self._count

    def enter(self, said: Said, place: Place) -> bool:
        """Wake this once the answer isn't this one any more; whoever enters also leaves.

        False where too many wait already, or the service is about to stop: then it hasn't entered.
        """
        if self._closed or self._count >= MOST_WAITING:
            return False
        room = self._rooms.setdefault((said.asked, said.etag), _Room())
        room.places.add(place)
        room.changes_at = said.changes_at
        self._count += 1
        self._arm(said.changes_at)
        return True

    def leave(self, said: Said, place: Place) -> None:
        """Wait no longer."""
        room = self._rooms[said.asked, said.etag]
        room.places.remove(place)
        self._count -= 1
        if not room.places:
            del self._rooms[said.asked, said.etag]

    async def wait(self, said: Said, seconds: float, receive: Receive) -> None:
        """Return when this would be woken, the time is over, or the client of an ASGI app has gone."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds) as limit:
                sleeper = _Sleeper(limit)
                if not self.enter(said, sleeper):
                    return
                try:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                finally:
                    self.leave(said, sleeper)

    def close(self) -> None:
        """Let all go on, and nobody wait any more."""
        self._closed = True
        for room in list(self._rooms.values()):
            for place in list(room.places):
                place.wake()

    def _moved(self) -> None:
        """Look soon: what is read from the store may move several circuits at once."""
        for room in self._rooms.values():
            room.changes_at = 0.0
        if self._rooms:
            self._arm(0.0)

    def _look(self) -> None:
        """Wake those whose answer has changed, and look again when the clock may change one."""
        self._next = None
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
            for place in list(islice(room.places, left)):
                place.wake()
                left -= 1
        if self._rooms:
            self._arm(min(room.changes_at for room in self._rooms.values()))

    def _arm(self, at: float) -> None:
        """Look at this monotonic moment, unless it is sooner anyway."""
        loop = asyncio.get_running_loop()
        when = loop.time() + max(at - time.monotonic(), 0.0)
        if self._next is not None:
            if self._next.when() <= when:
                return
            self._next.cancel()
        self._next = loop.call_at(when, self._look)


class _Sleeper:
    """A task that waits, woken by the end of its time."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit = limit

    def wake(self) -> None:
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())
