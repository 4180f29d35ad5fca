"""Sends together what is asked at about the same time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from breaker.errors import StoreGoneError
from breaker.store.call import Call

_Asked = tuple[Call, asyncio.Future[Any]]

# Calls in one round trip; more would keep other callers waiting for too long.
_MOST = 16


class Together:
    """Sends the calls of one turn of the loop in one round trip, and those that come meanwhile in the next.

    What a round trip costs us is shared by them, and the server has never more than one of these to do. Where it gives
    no answer, those that came meanwhile fail with the others. A fault of ours is raised to those whose calls met it.
    """

    def __init__(self, send: Callable[[Sequence[Call]], Awaitable[list[Any]]]) -> None:
        self._send = send
        self._asked: deque[_Asked] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def ask(self, call: Call) -> Any:  # Any: what a reply is, the call alone says
        """What `send` gives for this call."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked.append((call, reply))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_all(), name="sending calls together")
        return await reply

    async def _send_all(self) -> None:
        """Begins in the next turn of the loop: until then others may ask."""
        try:
            while self._asked:
                await self._send_some([self._asked.popleft() for _ in range(min(len(self._asked), _MOST))])
        finally:
            self._sending = None

    async def _send_some(self, some: list[_Asked]) -> None:
        try:
            replies = await self._send([call for call, _ in some])
        except Exception as error:  # noqa: BLE001 # whatever it is, nobody may wait for ever
            for _, asker in some:
                if not asker.done():
                    asker.set_exception(error)
            return
        if all(isinstance(reply, StoreGoneError) for reply in replies):
            some += self._asked
            replies += [replies[0]] * len(self._asked)
            self._asked.clear()
        for (_, asker), reply in zip(some, replies, strict=True):
            if not asker.done():
                asker.set_result(reply)
