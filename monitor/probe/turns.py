"""Spreads work that can wait over the turns of the event loop, so that what can't is done in time."""

import asyncio
from collections import deque

# How many begin in one turn. Each has some 0.1 ms to do; in between the loop sees whose bytes have come.
ABREAST = 4


class Turns:
    """Lets a few in each turn of the loop go on; the others wait in the order in which they came."""

    def __init__(self, abreast: int = ABREAST) -> None:
        self._abreast = abreast
        self._free = abreast
        self._next_comes = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Go on at once if few have done so in this turn of the loop, or else in a later one."""
        if not self._next_comes:
            self._next_comes = True
            asyncio.get_running_loop().call_soon(self._next)
        if self._free:
            self._free -= 1
            return
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        await mine

    def _next(self) -> None:
        self._free = self._abreast
        while self._free and self._waiting:
            one = self._waiting.popleft()
            if not one.done():
                one.set_result(None)
                self._free -= 1
        self._next_comes = self._free < self._abreast
        if self._next_comes:
            asyncio.get_running_loop().call_soon(self._next)
