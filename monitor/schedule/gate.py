"""Keeps few probes talking at once, so that the lateness of our own loop stays small."""

import asyncio

# The most that listen at once; more would bring more than one core parses.
LIMIT = 64
# Nobody waits for a permit longer than this: a crowd makes timings a little worse, but no target goes unwatched.
WAIT_S = 0.5
# How many enter in one turn of the loop: to build a prompt takes 4 ms, and fifty in a row would be a stall.
ABREAST = 4


class Permit:
    """To be one of those that talk, or one more where it was too full for too long."""

    def __init__(self, semaphore: asyncio.Semaphore | None) -> None:
        self._semaphore = semaphore

    def leave(self) -> None:
        """Give it back; a silent probe does so too, since it costs our loop nothing. May be called twice."""
        semaphore, self._semaphore = self._semaphore, None
        if semaphore is not None:
            semaphore.release()


class Gate:
    """A bounded number of permits."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._permits = asyncio.Semaphore(limit)
        self._abreast = 0

    async def enter(self) -> Permit:
        """A permit as soon as one is free, after `WAIT_S` in any case."""
        permit = await self._permit()
        try:
            while self._abreast >= ABREAST:  # noqa: ASYNC110 # what is waited for is the loop's next turn
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            permit.leave()
            raise
        if not self._abreast:
            asyncio.get_running_loop().call_soon(self._let_more_in)
        self._abreast += 1
        return permit

    def _let_more_in(self) -> None:
        self._abreast = 0

    async def _permit(self) -> Permit:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._permits.acquire()
        except TimeoutError:
            return Permit(None)
        return Permit(self._permits)
