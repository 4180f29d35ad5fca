"""Holds answers back until there is something new to say, for thousands at once."""

import asyncio
import contextlib
import time
from collections.abc import Iterator

from starlette.types import Receive

from breaker.api.prepared import LASTS_S, Prepared

# Further ones are answered at once; each costs the memory of an open connection and its request.
MOST_WAITING = 20_000
MAX_WAIT_S = 60.0


class Waiting:
    """Those who wait until the answer of their route is another one. Needs a running loop only while somebody waits."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._places: dict[tuple[str, str], set[asyncio.Timeout]] = {}  # by route and the tag that all of them know
        self._count = 0
        self._next: asyncio.Handle | None = None
        self._closed = False
        prepared.watch(self._moved)

    def __len__(self) -> int:
        """How many wait."""
        return self._count

    async def wait(self, route: str, tag: str, seconds: float, receive: Receive) -> None:
        """Return when the route's answer isn't the one with this tag any more, the time is over or the client has gone.

        Returns at once where too many wait already, or the service is about to stop.
        """
        if self._closed or self._count >= MOST_WAITING:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds) as place:
                with self._taken(place, route, tag):
                    while (await receive())["type"] != "http.disconnect":
                        pass

    def close(self) -> None:
        """Let all go on, and nobody wait any more."""
        self._closed = True
        for places in self._places.values():
            _wake(places)

    @contextlib.contextmanager
    def _taken(self, place: asyncio.Timeout, route: str, tag: str) -> Iterator[None]:
        places = self._places.setdefault((route, tag), set())
        places.add(place)
        self._count += 1
        if self._next is None:
            self._look()
        try:
            yield
        finally:
            self._count -= 1
            places.discard(place)
            if not places:
                self._places.pop((route, tag), None)

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
        for (route, tag), places in self._places.items():
            said = self._prepared.answer(route)
            changes_at = min(changes_at, said.changes_at)
            if said.etag != tag:
                _wake(places)
        self._arm(max(changes_at - time.monotonic(), 0.0))

    def _arm(self, seconds: float) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(seconds, self._look)


def _wake(places: set[asyncio.Timeout]) -> None:
    now = asyncio.get_running_loop().time()
    for place in places:
        if not place.expired():
            place.reschedule(now)
