"""A cluster: each call goes to the node that has its key's slot, and after it where the slot moves."""

import asyncio
import logging
import random
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from breaker.errors import StoreError, StoreGoneError
from breaker.logged import STORE_CLOCK, STORE_FOUND
from breaker.store.address import Address, Host
from breaker.store.call import TIME, Call
from breaker.store.finder import LEAST, NOT_FOUND, Finder, not_found
from breaker.store.link import CALLS, LISTENERS, Link
from breaker.store.pool import Pool
from breaker.store.servers import CLOCK
from breaker.store.slots import SLOTS, Range, named, read_ranges, slot_of
from breaker.store.trouble import translated

_log = logging.getLogger(__name__)

# How often one call is sent on to another node.
_HOPS = 5
# A slot's keys move within milliseconds; where a call's keys are on both sides meanwhile, it is sent again.
_MOVING_S = 0.01
# Clocks that NTP keeps are nearer to each other than this.
_APART_S = 1.0
# Nodes that are asked at once where the slots are; of a large cluster not all.
_ASKED = 8
# How a server says that it is alone; it has no code of its own.
_ALONE = "cluster support disabled"


@dataclass(frozen=True, slots=True)
class _Step:
    """A call on its way: its place among the others, where it goes, and how often it was sent on."""

    place: int
    call: Call
    host: Host
    hops: int = 0
    asking: bool = False


class Cluster:
    """All nodes of a cluster; connects with the first call.

    Several nodes are asked at once where the slots are, and what most of them say holds, so that dead ones, and ones
    that were cut off from the others, cost nothing.
    """

    def __init__(self, address: Address, limit_s: float) -> None:
        self.place = address.place
        self.database = 0  # a cluster has no other
        self._address = address
        self._limit_s = limit_s
        self._pattern = Pool.at(address.url_of(address.hosts[0]), connections=1, limit_s=limit_s)
        self._links: dict[Host, Link] = {}
        self._owners: list[Host | None] = [None] * SLOTS
        self._primaries: tuple[Host, ...] = ()
        self._why = f"the store at {self.place} hasn't been found yet"
        self._trouble = NOT_FOUND
        self._finder = Finder(self._look)
        self._closed = False
        self._clocks: dict[Host | None, float] = {}  # each node's, minus our monotonic one
        self._told: set[Host] = set()  # whose clock is apart

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """A reply to each call; a StoreError for each that failed."""
        ends = time.monotonic() + self._limit_s
        if not self._primaries:
            await self._finder.wait(self._limit_s * (1 - LEAST))
        replies: list[Any] = [None] * len(calls)
        steps = [step for place, call in enumerate(calls) if (step := self._first(place, call, replies))]
        while steps:
            await self._visit(steps, replies, ends)
            steps = self._next(steps, replies, ends)
            if any(step.hops == 0 for step in steps):
                await asyncio.sleep(_MOVING_S)
        return replies

    def place_of(self, key: str) -> str:
        """Where the node of a key is; the cluster where that isn't known."""
        host = self._owners[slot_of(key)]
        return self._address.place_of(host) if host else self.place

    def ahead_s(self, key: str) -> float:
        """How far the clock of a key's node is ahead of the one that has CLOCK, as far as both have told their time."""
        own, common = (self._clocks.get(self._owners[slot_of(one)]) for one in (key, CLOCK))
        return own - common if own is not None and common is not None else 0.0

    async def any(self) -> Link:
        """One of the nodes that have slots. Raises StoreGoneError where none is known."""
        if not self._primaries:
            await self._finder.wait(self._limit_s)
        if not self._primaries:
            raise StoreGoneError(self._why, self._trouble)
        return self._link(random.choice(self._primaries))  # noqa: S311 # to spread listeners, no secret

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        await self._finder.close()
        await asyncio.gather(*(link.close() for link in self._links.values()))

    # The way of a call

    def _first(self, place: int, call: Call, replies: list[Any]) -> _Step | None:
        host = self._owners[slot_of(call.key)]
        if host is None:
            self._finder.begin()
            replies[place] = StoreGoneError(self._why, self._trouble)
            return None
        return _Step(place, call, host)

    async def _visit(self, steps: Collection[_Step], replies: list[Any], ends: float) -> None:
        """Send each call to where it goes, those that go to the same node together."""
        groups = defaultdict[tuple[Host, bool], list[_Step]](list)
        for step in steps:
            groups[step.host, step.asking].append(step)
        await asyncio.gather(*(self._send(*to, group, replies, ends) for to, group in groups.items()))

    async def _send(self, host: Host, asking: bool, steps: list[_Step], replies: list[Any], ends: float) -> None:
        # Never less than its share: that our own loop has stood still is no fault of the node's.
        calls, limit_s = [step.call for step in steps], max(self._limit_s * LEAST, ends - time.monotonic())
        try:
            said = await self._link(host).send(calls, limit_s=limit_s, asking=asking)
        except StoreError as error:
            said = [error] * len(steps)
        for step, reply in zip(steps, said, strict=True):
            replies[step.place] = reply
            if step.call.words == TIME and not isinstance(reply, Exception):
                self._hear_time(host, reply)

    def _hear_time(self, host: Host, time_there: tuple[int, int]) -> None:
        self._clocks[host] = time_there[0] + time_there[1] / 1e6 - time.monotonic()
        common = self._clocks.get(self._owners[slot_of(CLOCK)])
        apart_s = 0.0 if common is None else abs(self._clocks[host] - common)
        if apart_s > _APART_S and host not in self._told:
            self._told.add(host)
            _log.warning(
                "the clock of %s is %.1f s apart from others of its cluster; let NTP keep them",
                host,
                apart_s,
                extra=STORE_CLOCK(seconds=round(apart_s, 1)),
            )

    def _next(self, steps: Collection[_Step], replies: list[Any], ends: float) -> list[_Step]:
        """Where calls go on to; the others have their replies."""
        onward = []
        for step in steps:
            reply = replies[step.place]
            on = self._onward(step, reply)
            if on is not None and ends - time.monotonic() > self._limit_s * LEAST:
                onward.append(on)
            elif isinstance(reply, RedisError):
                replies[step.place] = translated(reply, self._address.place_of(step.host))
        return onward

    def _onward(self, step: _Step, reply: Any) -> _Step | None:
        """The next step of a call, if there is one."""
        if isinstance(reply, TryAgainError):
            return _Step(step.place, step.call, self._owners[slot_of(step.call.key)] or step.host)
        if isinstance(reply, AskError) and step.hops < _HOPS:
            host = Host(named(reply.host, step.host), reply.port)
            moved = isinstance(reply, MovedError)
            if moved:
                self._owners[reply.slot_id] = host
                self._finder.begin()
            return replace(step, host=host, hops=step.hops + 1, asking=not moved)
        if _lost(reply):
            self._finder.begin()
        return None

    # Where the slots are

    async def _look(self) -> None:
        known = random.sample(self._primaries, min(len(self._primaries), _ASKED))
        hosts = dict.fromkeys([*known, *self._address.hosts])
        said, refused = await self._finder.most([self._ask(host) for host in hosts])
        if said:
            await self._take(said.most_common(1)[0][0])
        else:
            self._trouble = not_found(refused, "a node")
            self._why = f"no node of the store at {self.place} says where it is: {refused[0]}"

    async def _ask(self, host: Host) -> tuple[Range, ...]:
        link = self._link(host)
        (reply,) = await link.send([Call(key="", words=("CLUSTER", "SLOTS"))])
        if isinstance(reply, ResponseError) and _ALONE in str(reply):
            trouble = "is no node of a cluster"
            raise StoreGoneError(f"the server at {link.place} {trouble}; write its URL with redis://", trouble)
        if isinstance(reply, RedisError):
            raise translated(reply, link.place)
        return read_ranges(reply, host, link.place)

    async def _take(self, ranges: tuple[Range, ...]) -> None:
        owners: list[Host | None] = [None] * SLOTS
        for one in ranges:
            owners[one.first : one.last + 1] = [one.host] * (one.last + 1 - one.first)
        primaries = tuple(dict.fromkeys(one.host for one in ranges))
        self._why = f"no node of the store at {self.place} has the slot of this key"
        self._trouble = f"{NOT_FOUND}, no node has the slot of this key"
        if set(primaries) != set(self._primaries):
            at = ", ".join(map(str, primaries))
            _log.info("the store at %s is at %s", self.place, at, extra=STORE_FOUND(place=self.place))
        self._owners, self._primaries = owners, primaries
        # Those that listen there have to hear of it.
        gone = [host for host in self._links if host not in primaries]
        await asyncio.gather(*(self._links.pop(host).close() for host in gone))

    def _link(self, host: Host) -> Link:
        """The link to a node. Raises StoreGoneError for a new one once all are closed."""
        if host not in self._links:
            if self._closed:
                raise StoreGoneError(f"the store at {self.place} is closed", "is closed")
            url, connections = self._address.url_of(host), CALLS + LISTENERS
            pool = Pool.at(url, connections=connections, limit_s=self._limit_s, like=self._pattern)
            self._links[host] = Link(pool, self._address.place_of(host), self._limit_s)
        return self._links[host]


def _lost(reply: Any) -> bool:
    """Whether a node gave no answer, or isn't what it was."""
    return isinstance(reply, StoreGoneError | ClusterDownError | ReadOnlyError | BusyLoadingError)
