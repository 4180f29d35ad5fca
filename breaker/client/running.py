"""What runs in a client's own thread: its loop and its tasks."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from anyio.lowlevel import checkpoint

from breaker.client.asking import Asker
from breaker.client.forking import loading
from breaker.client.keeping import Kept
from breaker.client.link import Link
from breaker.client.moved import Shelf
from breaker.client.telling import Teller

if TYPE_CHECKING:
    from breaker.client.address import Address
    from breaker.client.keeping import Book
    from breaker.client.outbox import Outbox
    from breaker.client.said import Fallback
    from breaker.client.silence import Silence

_log = logging.getLogger(__name__)

# How long the first answer goes before all else.
_FIRST_S = 1.0
# After a fault of our own.
_AGAIN_S = 1.0


class Work(Protocol):
    """What there is to do, with what, and until when; any thread may ask for more."""

    address: Address
    book: Book
    outbox: Outbox
    silence: Silence
    fallback: Fallback
    session: str
    ending: bool
    flush_s: float

    def begin(self, running: Running) -> None:
        """From now on this does what is asked."""

    def end(self) -> None:
        """Nothing more is done."""

    def asked(self) -> Callable[[Running], None] | None:
        """What was asked first; None where nothing is left."""


def run(work: Work) -> None:
    """Do what is asked until it ends."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(_live(work))


async def _live(work: Work) -> None:
    with loading():
        await checkpoint()  # loads that by which httpx connects
        running = Running(work)
    await running.live()


class Running:
    """The tasks of one engine; all but `wake` is called in its thread alone."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._deliveries: set[asyncio.Task[None]] = set()
        self._streams: dict[Shelf, asyncio.Task[None]] = {}
        self._link = Link(work.address, work.silence)
        self._asker = Asker(self._link, work.book, work.session)
        self._teller = Teller(self._link, work.outbox)

    def wake(self) -> None:
        """Look at what is asked; any thread may call it while this is the engine's."""
        self._loop.call_soon_threadsafe(self._woken.set)

    def follow(self, kept: Kept) -> None:
        """Keep a route's decision fresh."""
        self._begin(lambda: self._asker.follow(kept), again=False)  # the next step begins anew

    def tell(self) -> None:
        """Send what waits."""
        self._teller.wake()

    def deliver(self, what: Callable[[Link], Coroutine[Any, Any, None]]) -> None:
        """Have something done by the way to the service, once; at the end it is waited for as reports are."""
        task = self._begin(lambda: what(self._link), again=False)
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    def stream(self, shelf: Shelf) -> None:
        """Put moves onto a shelf."""
        self._streams[shelf] = self._begin(lambda: self._follow(shelf), again=False)

    def end_stream(self, shelf: Shelf) -> None:
        """Nobody reads it any more."""
        if (task := self._streams.pop(shelf, None)) is not None:
            task.cancel()

    async def live(self) -> None:
        """Do what is asked until the end, then send what waits."""
        work = self._work
        work.begin(self)
        self._telling = self._begin(self._teller.tell)
        self._begin(self._learn)
        try:
            while not work.ending:
                self._woken.clear()
                while (what := work.asked()) is not None:
                    what(self)
                if not work.ending:
                    await self._woken.wait()
        finally:
            work.end()
            await self._end()

    async def _end(self) -> None:
        self._teller.end()
        await asyncio.wait([self._telling, *self._deliveries], timeout=self._work.flush_s)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._work.outbox.give_up()
        await self._link.aclose()

    async def _follow(self, shelf: Shelf) -> None:
        with loading():
            from breaker.client.following import follow  # here, since few need it

        await follow(self._link, shelf)

    async def _learn(self) -> None:
        try:
            async with asyncio.timeout(_FIRST_S):
                await self._asker.asked.wait()
        except TimeoutError:
            pass
        with loading():
            from breaker.client.alone import Alone  # here, since the first answer shall not wait for it
            from breaker.client.learning import learn

        alone = Alone(self._work.fallback, self._work.session)
        await learn(self._link, self._work.book, alone, self._asker.moved)

    def _begin(self, make: Callable[[], Coroutine[Any, Any, None]], *, again: bool = True) -> asyncio.Task[None]:
        task = self._loop.create_task(self._guarded(make, again=again))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, make: Callable[[], Coroutine[Any, Any, None]], *, again: bool) -> None:
        while True:
            try:
                return await make()
            except Exception:  # noqa: BLE001 # whatever breaks here must not reach an agent
                _log.exception("a fault of the client's own; it goes on")
            if not again:
                return None
            await asyncio.sleep(_AGAIN_S)


class _Loop(asyncio.SelectorEventLoop):
    """Looks names up by itself: no other thread is needed for it, and none has to be waited for at the end."""

    async def getaddrinfo(self, host: Any, port: Any, **of: Any) -> list[Any]:  # Any: whatever asyncio's own takes
        """The addresses of a host."""
        return socket.getaddrinfo(host, port, **of)
