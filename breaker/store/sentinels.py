"""One server behind Sentinel: the master of a service, looked for again whenever it fails and once a second besides."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError, ResponseError

from breaker.errors import StoreGoneError
from breaker.logged import STORE_FOUND
from breaker.store.address import Address, Host
from breaker.store.call import Call
from breaker.store.finder import LEAST, NOT_FOUND, Finder, not_found
from breaker.store.link import CALLS, LISTENERS, Link
from breaker.store.pool import Pool
from breaker.store.servers import answers
from breaker.store.trouble import translated

_log = logging.getLogger(__name__)

# A master that was cut off from its sentinels but not from us goes on answering.
_STEADY_S = 1.0
# How a sentinel says that it has never heard of a service; it has no code of its own.
_UNKNOWN = "No such master"
# And how a server says that it is none.
_OTHER = "unknown command"


class Known(NamedTuple):
    """What a sentinel knows: a master, since a failover of this number."""

    epoch: int
    master: Host


class Sentinels:
    """The master of a service; connects with the first call.

    All sentinels are asked at once, and the newest knowledge holds as soon as most agree, so that dead ones cost
    nothing.
    """

    def __init__(self, address: Address, limit_s: float) -> None:
        self.place = address.place
        self._address = address
        self._limit_s = limit_s
        self._pattern = Pool.at(address.url_of(address.hosts[0]), connections=1, limit_s=limit_s)
        self.database = self._pattern.database
        self._sentinels = [self._sentinel(host) for host in address.hosts]
        self._master: Host | None = None
        self._link: Link | None = None
        self._answers = True
        self._why = f"the store at {self.place} hasn't been found yet"
        self._trouble = NOT_FOUND
        self._finder = Finder(self._look)

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """A reply to each call; a StoreError for each that failed."""
        began = time.monotonic()
        try:
            link = await self.any()
        except StoreGoneError as error:
            return [error] * len(calls)
        left_s = self._limit_s - (time.monotonic() - began)
        replies = await answers(link, calls, max(self._limit_s * LEAST, left_s))
        self._answers = not any(isinstance(said, StoreGoneError) for said in replies)
        if not self._answers:
            self._finder.begin()
        return replies

    def place_of(self, key: str) -> str:
        """Where the service is."""
        return self.place

    def ahead_s(self, key: str) -> float:
        """Not at all."""
        return 0.0

    async def any(self) -> Link:
        """The master. Raises StoreGoneError where none is known."""
        # One that was gone may have come back as the master that it was, while the sentinels have long chosen another:
        # until it follows that one it takes answers and forgets them.
        if self._link is None or not self._answers:
            await self._finder.wait(self._limit_s * (1 - LEAST))
        else:
            self._finder.begin(unless_within_s=_STEADY_S)
        if self._link is None:
            raise StoreGoneError(self._why, self._trouble)
        return self._link

    async def close(self) -> None:
        """Close all connections."""
        await self._finder.close()
        links = [*self._sentinels, *([self._link] if self._link else [])]
        await asyncio.gather(*(link.close() for link in links))

    async def _look(self) -> None:
        known, refused = await self._finder.most([self._ask(link) for link in self._sentinels])
        named = {one: count for one, count in known.items() if one is not None}
        if named:
            await self._take(newest(named))
        elif known:
            self._why = f"the sentinels of the store at {self.place} know no master named {self._address.service!r}"
            self._trouble = f"{NOT_FOUND}, its sentinels know no such service"
        else:
            self._trouble = not_found(refused, "a sentinel")
            self._why = f"no sentinel of the store at {self.place} says where it is: {refused[0]}"

    async def _ask(self, link: Link) -> Known | None:
        """What a sentinel knows; None where it knows no master of that name."""
        (reply,) = await link.send([Call(key="", words=("SENTINEL", "MASTER", self._address.service))])
        if isinstance(reply, ResponseError) and _UNKNOWN in str(reply):
            return None
        if isinstance(reply, ResponseError) and _OTHER in str(reply):
            raise _no_sentinel(link.place)
        if isinstance(reply, RedisError):
            raise translated(reply, link.place)
        return read_known(reply, link.place)

    async def _take(self, master: Host) -> None:
        if master == self._master:
            return
        pool = Pool.at(
            self._address.url_of(master),
            connections=CALLS + LISTENERS,
            limit_s=self._limit_s,
            like=self._pattern,
        )
        _log.info("the store at %s is at %s", self.place, master, extra=STORE_FOUND(place=self.place))
        before, self._link = self._link, Link(pool, self._address.place_of(master), self._limit_s)
        self._master = master
        if before is not None:  # those that listen there have to hear of it
            await before.close()

    def _sentinel(self, host: Host) -> Link:
        url = self._address.url_of_sentinel(host)
        pool = Pool.at(url, connections=CALLS, limit_s=self._limit_s, like=self._pattern)
        return Link(pool, f"{self._address.place_of(host)} (a sentinel)", self._limit_s)


def read_known(reply: Any, place: str) -> Known:  # whatever a server says
    """What a sentinel's reply tells. Raises StoreGoneError for what isn't one's."""
    try:
        said = dict(zip(reply[::2], reply[1::2], strict=False))
        return Known(int(said["config-epoch"]), Host(said["ip"], int(said["port"])))
    except (KeyError, TypeError, ValueError):
        raise _no_sentinel(place) from None


def newest(known: Mapping[Known, int]) -> Host:
    """The master that the newest knowledge names; of the same age, what most say."""
    return max(known, key=lambda one: (one.epoch, known[one])).master


def _no_sentinel(place: str) -> StoreGoneError:
    trouble = "talks as no sentinel does"
    return StoreGoneError(f"the server at {place} {trouble}", trouble)
