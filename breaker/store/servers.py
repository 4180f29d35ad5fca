"""What a store asks of the servers behind it, and the simplest case: one."""

from collections.abc import Sequence
from typing import Any, Protocol

from redis.exceptions import MovedError, RedisError

from breaker.errors import StoreError, StoreGoneError
from breaker.store.call import Call
from breaker.store.link import CALLS, LISTENERS, Link
from breaker.store.pool import Pool, place_of
from breaker.store.trouble import translated

# The time of the server that has this key's place is the store's, where one time is told for all circuits.
CLOCK = "firstbyte:clock"


class Servers(Protocol):
    """The servers behind a store's URL; `place` is where they are, as an error may show it.

    `database` is the number of the database that is used there.
    """

    place: str
    database: int

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """A reply to each call; a StoreError for each that failed, StoreGoneError where its server gave no answer."""
        ...

    def place_of(self, key: str) -> str:
        """Where the server of a key is, as far as it is known."""
        ...

    def ahead_s(self, key: str) -> float:
        """How far the clock of a key's server is ahead of the one that has CLOCK, as far as it is known."""
        ...

    async def any(self) -> Link:
        """A server of them: for what concerns no key. Raises StoreGoneError where none is known."""
        ...

    async def close(self) -> None:
        """Close all connections; waits for nobody."""
        ...


class Single:
    """One server at a redis://, rediss:// or unix:// URL; connects with the first call."""

    def __init__(self, url: str, limit_s: float) -> None:
        pool = Pool.at(url, connections=CALLS + LISTENERS, limit_s=limit_s)
        self.place = place_of(url)
        self.database = pool.database
        self._link = Link(pool, self.place, limit_s)

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """A reply to each call; a StoreError for each that failed."""
        return await answers(self._link, calls)

    def place_of(self, key: str) -> str:
        """Where the one server is."""
        return self.place

    def ahead_s(self, key: str) -> float:
        """Not at all."""
        return 0.0

    async def any(self) -> Link:
        """The one server."""
        return self._link

    async def close(self) -> None:
        """Close all connections."""
        await self._link.close()


async def answers(link: Link, calls: Sequence[Call], limit_s: float | None = None) -> list[Any]:
    """One server's reply to each call; a StoreError for each that failed."""
    try:
        replies = await link.send(calls, limit_s=limit_s)
    except StoreError as error:
        return [error] * len(calls)
    return [_plain(said, link.place) for said in replies]


def _plain(said: Any, place: str) -> Any:
    if isinstance(said, MovedError):
        trouble = "is one node of a cluster; write its URL with redis+cluster://"
        return StoreGoneError(f"the store at {place} {trouble}", trouble)
    return translated(said, place) if isinstance(said, RedisError) else said
