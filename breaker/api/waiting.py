"""Holds answers back until there is something new to say, for thousands at once."""

import asyncio
import contextlib
import time
from itertools import islice
from typing import Protocol

from starlette.types import Receive

from breaker.api.prepared import LASTS_S, Prepared

# Further ones are answered at once; each costs the memory of an open connection.
MOST_WAITING = 20_000
MAX_WAIT_S = 60.0
# So many are told in one turn of the loop, which then looks after others.
AT_ONCE = 500


class Place(Protocol):
    """Somebody who waits."""

    def wake(self) -> None:
        """Let it go on; it leaves by itself."""
        ...


class Waiting:
    """Those who wait until the answer of their route is another one. Needs a running loop only while somebody waits."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._places: dict[tuple[str, str], set[Place]] = {}  # by route and the tag that all of them know
        self._count = 0
        self._next: asyncio.Handle | None = None
        self._closed = False
        prepared.watch(self._moved)

    def __len__(self) -> int:
        """How many wait."""
        return self._count

    def enter(self, route: str, tag: str, place: Place) -> bool:
        """Wake this once the route's answer isn't the one with this tag any more; whoever enters also leaves.

        False where too many wait already, or the service is about to stop: then it hasn't entered.
        """
        if self._closed or self._count >= MOST_WAITING:
            return False
        self._places.setdefault((route, tag), set()).add(place)
        self._count += 1
        if self._next is None:
            self._look()
        return True

    def leave(self, route: str, tag: str, place: Place) -> None:
        """Wait no longer."""
        places = self._places[route, tag]
        places.remove(place)
        self._count -= 1
        if not places:
            del self._places[route, tag]

    async def wait(self, route: str, tag: str, seconds: float, receive: Receive) -> None:
        """Return when this would be woken, the time is over, or the client of an ASGI app has gone."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds) as limit:
                sleeper = _Sleeper(limit)
                if not self.enter(route, tag, sleeper):
                    return
                try:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                finally:
                    self.leave(route, tag, sleeper)

    def close(self) -> None:
        """Let all go on, and nobody wait any more."""
        self._closed = True
        for places in list(self._places.values()):
            for place in list(places):
                place.wake()

    def _moved(self) -> None:
        """Look soon: what is read from the store may move several circuits at once."""
        if self._count:
            self._arm(0.0)

    def _look(self) -> None:
        """Wake those whose answer has changed, and look again when the clock may change one."""
        self._next = None
        if not self._count or self._closed:
            return
        changes_at = time.monotonic() + LASTS_S
        for (route, tag), places in list(self._places.items()):
            said = self._prepared.answer(route)
            changes_at = min(changes_at, said.changes_at)
            if said.etag != tag:
                for place in list(islice(places, AT_ONCE)):
                    place.wake()
                changes_at = 0.0  # the others of them
        self._arm(max(changes_at - time.monotonic(), 0.0))

    def _arm(self, seconds: float) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(seconds, self._look)


class _Sleeper:
    """A task that waits, woken by the end of its time."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit = limit

    def wake(self) -> None:
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())
