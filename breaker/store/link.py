"""The way to one server: some connections, and a limit on every call."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError

from breaker.errors import StoreGoneError
from breaker.store.call import Call, Word
from breaker.store.limit import within
from breaker.store.pool import Pool
from breaker.store.trouble import TROUBLES, translated

_T = TypeVar("_T")

# Calls under way at one time; further ones queue here. More wouldn't be quicker: they'd share our one processor, and
# each would spend its limit on the others' work.
CALLS = 8
# Further connections, for those that follow the announcements.
LISTENERS = 4


class Link:
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
        self._last_silence = StoreGoneError("")

    async def send(self, calls: Sequence[Call], *, limit_s: float | None = None, asking: bool = False) -> list[Any]:
        """A reply to each call, in one round trip; an error of the library's for each that the server refused.

        `limit_s` is what is left of the limit where some of it is used up, None the whole. `asking` is for a node of a
        cluster to which the keys are just moving. Raises StoreGoneError where no answer came; what was sent may have
        been done all the same.
        """
        return await self.ask(lambda: self._replies(calls, asking=asking), limit_s)

    async def one(self, call: Call) -> Any:  # Any: what a reply is, the call alone says
        """The reply to one call. Raises StoreGoneError, or StoreError where the server refuses."""
        (reply,) = await self.send([call])
        if isinstance(reply, RedisError):
            raise translated(reply, self.place)
        return reply

    async def ask(self, work: Callable[[], Awaitable[_T]], limit_s: float | None = None) -> _T:
        """What comes of work with `server`. Raises StoreGoneError, or StoreError where the server refuses."""
        silences = self._silences
        async with self._calls:
            if silences != self._silences:
                raise StoreGoneError(str(self._last_silence), self._last_silence.trouble)
            try:
                async with within(self._limit_s if limit_s is None else limit_s):
                    return await work()
            except TROUBLES as error:
                trouble = translated(error, self.place)
                if isinstance(trouble, StoreGoneError):
                    self._silences += 1
                    self._last_silence = trouble
                raise trouble from None

    async def close(self) -> None:
        """Close all connections, those in use too; waits for nobody, so that no stall and no cancelling leaves one."""
        await self._pool.close_at_once()

    async def _replies(self, calls: Sequence[Call], *, asking: bool) -> list[Any]:
        replies = await self._pipe([call.words for call in calls], asking=asking)
        unknown = [place for place, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:
            again = await self._pipe([calls[place].text or calls[place].words for place in unknown], asking=asking)
            for place, reply in zip(unknown, again, strict=True):
                replies[place] = reply
        return replies

    async def _pipe(self, commands: Sequence[tuple[Word, ...]], *, asking: bool) -> list[Any]:
        if len(commands) == 1 and not asking:  # a pipeline would cost a third more
            try:
                return [await self.server.execute_command(*commands[0])]  # type: ignore[no-untyped-call] # it is untyped
            except ResponseError as error:
                return [error]
        # No transaction: a server without memory refuses any, and a move judged on halves is refused by its generation.
        pipe = self.server.pipeline(transaction=False)
        for words in commands:
            if asking:  # it holds for one command
                pipe.execute_command("ASKING")
            pipe.execute_command(*words)
        replies: list[Any] = await pipe.execute(raise_on_error=False)
        return replies[1::2] if asking else replies
