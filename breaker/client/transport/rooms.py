"""How many requests are under way at each provider, and who waits until there is room for one more."""

import threading
from typing import Any

from breaker.attempt.crowd import Crowd


class Rooms:
    """For callers that block. Safe to use from any thread."""

    def __init__(self) -> None:
        self._crowds: dict[str, Crowd] = {}
        self._freed = threading.Condition()

    def enter(self, provider: str, limit_s: float) -> None:
        """Begin one more, once there is room; what was learnt is a guess, so nobody waits longer than the limit."""
        with self._freed:
            crowd = self._crowds.setdefault(provider, Crowd())
            if not crowd.has_room:
                self._freed.wait_for(lambda: crowd.has_room, timeout=limit_s)
            crowd.enter()

    def leave(self, provider: str, *, refused: bool) -> None:
        """One has ended; `refused` says that it was one too many."""
        with self._freed:
            self._crowds[provider].leave(refused=refused)
            self._freed.notify_all()


class AsyncRooms:
    """For callers that await."""

    def __init__(self) -> None:
        self._crowds: dict[str, Crowd] = {}
        self._freed: Any = None  # an event of anyio's, which is there only once somebody waits

    async def enter(self, provider: str, limit_s: float) -> None:
        """Begin one more, once there is room; what was learnt is a guess, so nobody waits longer than the limit."""
        crowd = self._crowds.setdefault(provider, Crowd())
        if not crowd.has_room:
            await self._wait(crowd, limit_s)
        crowd.enter()

    def leave(self, provider: str, *, refused: bool) -> None:
        """One has ended; `refused` says that it was one too many."""
        self._crowds[provider].leave(refused=refused)
        freed, self._freed = self._freed, None
        if freed is not None:
            freed.set()

    async def _wait(self, crowd: Crowd, limit_s: float) -> None:
        import anyio  # here, so that who blocks needn't load it

        with anyio.move_on_after(limit_s):
            while not crowd.has_room:
                self._freed = self._freed or anyio.Event()
                await self._freed.wait()
