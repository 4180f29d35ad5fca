"""Times every call to the store, from outside it."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from breaker.errors import StoreError
from breaker.store.call import Call
from breaker.store.link import Link
from breaker.store.servers import Servers


class Timed:
    """The servers of a store; `called` hears how many seconds each round trip took, None for one that failed."""

    def __init__(self, servers: Servers, called: Callable[[float | None], None]) -> None:
        self.place, self.database = servers.place, servers.database
        self._servers = servers
        self._called = called

    async def send(self, calls: Sequence[Call]) -> list[Any]:  # Any: what a reply is, the call alone says
        """A reply to each call."""
        began = time.perf_counter()
        replies = await self._servers.send(calls)
        failed = any(isinstance(reply, StoreError) for reply in replies)
        self._called(None if failed else time.perf_counter() - began)
        return replies

    def place_of(self, key: str) -> str:
        """Where the server of a key is."""
        return self._servers.place_of(key)

    def ahead_s(self, key: str) -> float:
        """How far the clock of a key's server is ahead."""
        return self._servers.ahead_s(key)

    async def any(self) -> Link:
        """A server of them."""
        return await self._servers.any()

    async def close(self) -> None:
        """Close all connections."""
        await self._servers.close()
