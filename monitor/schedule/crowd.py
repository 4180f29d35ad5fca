"""Keeps few probes talking at once, so that the lateness of our own loop stays small."""

import asyncio

# The most that listen at once; more would bring more than one core parses.
LIMIT = 64
# Nobody waits for a place longer than this: a crowd makes timings a little worse, but no target goes unwatched.
WAIT_S = 0.5
# How many enter in one turn of the loop: to build a prompt takes 4 ms, and fifty in a row would be a stall.
ABREAST = 4


class Place:
    """A place in the crowd, or none where it was too full for too long."""

    def __init__(self, crowd: asyncio.Semaphore | None) -> None:
        self._crowd = crowd

    def leave(self) -> None:
        """Give the place free; a silent probe does so too, since it costs our loop nothing. May be called twice."""
        crowd, self._crowd = self._crowd, None
        if crowd is not None:
            crowd.release()


class Crowd:
    """A bounded number of places."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._places = asyncio.Semaphore(limit)
        self._abreast = 0

    async def enter(self) -> Place:
        """A place as soon as one is free, after `WAIT_S` in any case."""
        place = await self._place()
        try:
            while self._abreast >= ABREAST:  # noqa: ASYNC110 # what is waited for is the loop's next turn
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            place.leave()
            raise
        if not self._abreast:
            asyncio.get_running_loop().call_soon(self._let_more_in)
        self._abreast += 1
        return place

    def _let_more_in(self) -> None:
        self._abreast = 0

    async def _place(self) -> Place:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._places.acquire()
        except TimeoutError:
            return Place(None)
        return Place(self._places)
