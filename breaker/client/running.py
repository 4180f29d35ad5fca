"""What runs in a client's own thread: its loop and its tasks."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from breaker.client.asking import Asker
from breaker.client.keeping import Kept
from breaker.client.line import Line
from breaker.client.moved import Shelf
from breaker.client.telling import Teller

if TYPE_CHECKING:
    from breaker.client.engine import Engine
    from breaker.client.run.box import Box

_log = logging.getLogger(__name__)

# How long the first answer goes before all else.
_FIRST_S = 1.0
# After a fault of our own.
_AGAIN_S = 1.0


def run(engine: Engine) -> None:
    """Do what an engine is asked, until it is stopped."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(_live(engine))


async def _live(engine: Engine) -> None:
    await Running(engine).live()


class Running:
    """The tasks of one engine; all but `wake` is called in its thread alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._deliveries: set[asyncio.Task[None]] = set()
        self._streams: dict[Shelf, asyncio.Task[None]] = {}
        self._line = Line(engine.address)
        self._asker = Asker(self._line, engine.book, engine.session)
        self._teller = Teller(self._line, engine.outbox)

    def wake(self) -> None:
        """Look at what is asked; any thread may call it while this is the engine's."""
        self._loop.call_soon_threadsafe(self._woken.set)

    def follow(self, kept: Kept) -> None:
        """Keep a route's decision fresh."""
        self._begin(lambda: self._asker.follow(kept), again=False)  # the next step begins anew

    def tell(self) -> None:
        """Send what waits."""
        self._teller.wake()

    def learn_run(self, box: Box) -> None:
        """Take over what the service knows of a run."""
        self._deliver(lambda courier: courier.learn(self._line, box))

    def tell_run(self, box: Box) -> None:
        """Tell what a run's box holds."""
        self._deliver(lambda courier: courier.tell(self._line, box))

    def ask_run(
        self,
        box: Box,
        params: Mapping[str, str],
        put: Callable[[dict[str, Any] | None], None],
        *,
        expected: Sequence[str],
    ) -> None:
        """Ask whether a run is done, and put down what the service says; None where it says nothing.

        `expected` are the client's own reasons.
        """

        async def ask(courier: Any) -> None:  # Any: the module
            said = None
            try:
                said = await courier.ask(self._line, box, params, expected=expected)
            finally:
                put(said)

        self._deliver(ask)

    def stream(self, shelf: Shelf) -> None:
        """Put moves onto a shelf."""
        self._streams[shelf] = self._begin(lambda: self._follow(shelf), again=False)

    def end_stream(self, shelf: Shelf) -> None:
        """Nobody reads it any more."""
        if (task := self._streams.pop(shelf, None)) is not None:
            task.cancel()

    async def live(self) -> None:
        """Do what is asked until the end, then send what waits."""
        engine = self._engine
        engine.begin(self)
        self._telling = self._begin(self._teller.tell)
        self._begin(self._learn)
        try:
            while not engine.ending:
                self._woken.clear()
                while (what := engine.asked()) is not None:
                    what(self)
                if not engine.ending:
                    await self._woken.wait()
        finally:
            engine.end()
            await self._end()

    async def _end(self) -> None:
        self._teller.end()
        await asyncio.wait([self._telling, *self._deliveries], timeout=self._engine.flush_s)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._engine.outbox.give_up()
        await self._line.aclose()

    def _deliver(self, what: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
        from breaker.client.run import courier  # here, since few need it

        task = self._begin(lambda: what(courier), again=False)
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    async def _follow(self, shelf: Shelf) -> None:
        from breaker.client.following import follow  # here, since few need it

        await follow(self._line, shelf)

    async def _learn(self) -> None:
        try:
            async with asyncio.timeout(_FIRST_S):
                await self._asker.asked.wait()
        except TimeoutError:
            pass
        from breaker.client.alone import Alone  # here, since the first answer shall not wait for it
        from breaker.client.learning import learn

        alone = Alone(self._engine.fallback, self._engine.session)
        await learn(self._line, self._engine.book, alone, self._asker.moved)

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
