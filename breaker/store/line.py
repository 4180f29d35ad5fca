"""The way to one server: some connections, and a limit on every call."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from breaker.errors import StoreGoneError
from breaker.store.call import Call, Word
from breaker.store.limit import within
from breaker.store.pool import Pool
from breaker.store.trouble import translated

_T = TypeVar("_T")

# Calls under way at one time; further ones queue here. More wouldn't be quicker: they'd share our one processor, and
# each would spend its limit on the others' work.
CALLS = 8
# Further connections, for those that follow the announcements.
LISTENERS = 4


class Line:
    """The way to one server; `place` is where it is, as an error may show it.

    The limit counts from the moment when something is sent, connecting included; there are no retries. What is beyond
    eight at one time queues; when the server gives no answer to one, those that queue behind it fail with it.
    """

    def __init__(self, pool: Pool, place: str, limit_s: float) -> None:
        self.server = Redis(connection_pool=pool)
        self.place = place
        self._pool = pool
        self._limit_s = limit_s
        self._calls = asyncio.Semaphore(CALLS)
        self._silences = 0
        self._last_silence = ""

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """A reply to each call, in one round trip; an error of the library's for each that the server refused.

        Raises StoreGoneError where no answer came; what was sent may have been done all the same.
        """
        return await self.ask(lambda: self._replies(calls))

    async def ask(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """What comes of work with `server`. Raises StoreGoneError, or StoreError where the server refuses."""
        silences = self._silences
        async with self._calls:
            if silences != self._silences:
                raise StoreGoneError(self._last_silence)
            try:
                async with within(self._limit_s):
                    return await work()
            except (RedisError, OSError, TimeoutError) as error:
                trouble = translated(error, self.place)
                if isinstance(trouble, StoreGoneError):
                    self._silences += 1
                    self._last_silence = str(trouble)
                raise trouble from None

    async def close(self) -> None:
        """Close all connections, those in use too; waits for nobody, so that no stall and no cancelling leaves one."""
        await self._pool.close_at_once()

    async def _replies(self, calls: Sequence[Call]) -> list[Any]:
        replies = await self._pipe([call.words for call in calls])
        unknown = [place for place, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:
            again = await self._pipe([calls[place].text or calls[place].words for place in unknown])
            for place, reply in zip(unknown, again, strict=True):
                replies[place] = reply
        return replies

    async def _pipe(self, commands: Sequence[tuple[Word, ...]]) -> list[Any]:
        # No transaction: a server without memory refuses any, and a move judged on halves is refused by its generation.
        pipe = self.server.pipeline(transaction=False)
        for words in commands:
            pipe.execute_command(*words)
        replies: list[Any] = await pipe.execute(raise_on_error=False)
        return replies
