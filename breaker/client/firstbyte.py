"""What an agent holds: where to go before a step, and whom to tell after it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection
from types import TracebackType
from typing import TYPE_CHECKING, Self

from breaker.client.common import Client, monotonic
from breaker.client.events import AsyncEvents, Events
from breaker.client.keeping import Kept
from breaker.client.said import Decision

if TYPE_CHECKING:
    from breaker.client.run.run import AwaitedRun, BlockingRun
    from breaker.run.results import Rule


class Firstbyte(Client):
    """Where to go before each step, and whom to tell after it. Any number of threads may share one.

    Without `url` and `token`: what FIRSTBYTE_URL and FIRSTBYTE_TOKEN say, else the default address and no token.
    `fallback` are the targets to go on with where the service has never been reached, the preferred one first: for
    all routes, or for each by its name. With one, no call takes longer than 50 ms and none raises; without one the
    first `route` may wait for 5 s, and raises DoorGoneError where even then nothing is known; as long as the service
    doesn't answer, no other one waits. With `strict` `route`
    raises a DoorError for all that isn't the service's own word, `report` for facts that are none. `session` names
    whose steps these are (made up when left out): when a circuit has closed, sessions return to its target over a
    minute.

    Use it as a context manager, or close it; else what waits is sent when the interpreter ends.
    """

    def __enter__(self) -> Self:
        """Itself; what it will need is being loaded."""
        self._engine.warm()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Send what waits, for a second at most, and end; safe to call twice."""
        self._engine.join(self._close())

    def route(self, name: str | None = None, *, needs: Collection[str] = (), input_tokens: int = 0) -> Decision:
        """Where the next step should go; without a name: the route `default`, or the only one.

        With `needs` (`tools`, `vision`, …) and `input_tokens`: to a target that can take the step, where one is known.
        """
        kept = self._kept.get(name)
        if kept is not None and (now := monotonic()) < kept.until and kept.decision is not None:
            kept.asked_at = now
            decision = kept.decision
        else:
            decision = self._decided(self._settled(name, patient=True))
        return self._fit(name, decision, needs, input_tokens) if needs or input_tokens else decision

    def run(
        self, run: str | None = None, *, steps: int = 50, hand_backs: int = 2, rules: Collection[Rule] = ()
    ) -> BlockingRun:
        """A task to follow, whose steps, tools and checks are told by themselves; use it as a context manager.

        `run` is its name, made up when left out: 1 to 128 letters, digits or any of `_ . : @ ~ -`. It may take `steps`
        answers, and is handed back to its model `hand_backs` times. `rules` say besides ours how an error looks like in
        a tool's result. Raises BadFactError for a name, or a number, that can be none.
        """
        from breaker.client.run.run import BlockingRun  # here, since few need it
        from breaker.done import Bounds

        return BlockingRun(self, run, bounds=Bounds(steps=steps, hand_backs=hand_backs), rules=rules)

    def events(self, *, target: str | None = None, route: str | None = None, after: str | None = None) -> Events:
        """The moves of all circuits as they happen, or of one target's, or of a route's; `after` is an id of one."""
        return Events(*self._streaming(target, route, after))

    def known(self, name: str | None = None) -> Decision | None:
        """The same within 50 ms in any case; None where nothing is known."""
        return self._decide(self._settled(name, patient=False))

    def _settled(self, name: str | None, *, patient: bool) -> Kept:
        kept, wait_s = self._ask(name, patient=patient)
        if wait_s > 0:
            arrived = threading.Event()
            if self._book.wait(kept, arrived.set):
                arrived.wait(wait_s)
        return kept


class AsyncFirstbyte(Client):
    """The same for asyncio: `route` is awaited, `report` isn't, since it never waits. Several loops may share one."""

    async def __aenter__(self) -> Self:
        """Itself; what it will need is being loaded."""
        self._engine.warm()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """Send what waits, for a second at most, and end; safe to call twice."""
        import asyncio  # here, so that who needs no loop needn't load it

        await asyncio.to_thread(self._engine.join, self._close())

    async def route(self, name: str | None = None, *, needs: Collection[str] = (), input_tokens: int = 0) -> Decision:
        """Where the next step should go; see `Firstbyte.route`."""
        kept = self._kept.get(name)
        if kept is not None and (now := monotonic()) < kept.until and kept.decision is not None:
            kept.asked_at = now
            decision = kept.decision
        else:
            decision = self._decided(await self._settled(name, patient=True))
        return self._fit(name, decision, needs, input_tokens) if needs or input_tokens else decision

    def run(
        self, run: str | None = None, *, steps: int = 50, hand_backs: int = 2, rules: Collection[Rule] = ()
    ) -> AwaitedRun:
        """A task to follow; see `Firstbyte.run`."""
        from breaker.client.run.run import AwaitedRun  # here, since few need it
        from breaker.done import Bounds

        return AwaitedRun(self, run, bounds=Bounds(steps=steps, hand_backs=hand_backs), rules=rules)

    def events(self, *, target: str | None = None, route: str | None = None, after: str | None = None) -> AsyncEvents:
        """The moves of all circuits as they happen, or of one target's, or of a route's; `after` is an id of one."""
        return AsyncEvents(*self._streaming(target, route, after))

    async def known(self, name: str | None = None) -> Decision | None:
        """The same within 50 ms in any case; None where nothing is known."""
        return self._decide(await self._settled(name, patient=False))

    async def _settled(self, name: str | None, *, patient: bool) -> Kept:
        kept, wait_s = self._ask(name, patient=patient)
        if wait_s > 0:
            await self._until_settled(kept, wait_s)
        return kept

    async def _until_settled(self, kept: Kept, wait_s: float) -> None:
        import asyncio  # here, so that who needs no loop needn't load it

        loop, arrived = asyncio.get_running_loop(), asyncio.Event()
        if self._book.wait(kept, _in_loop(loop.call_soon_threadsafe, arrived.set)):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await arrived.wait()


def _in_loop(call: Callable[[Callable[[], None]], object], what: Callable[[], None]) -> Callable[[], None]:
    """Has something called in a loop, from any thread; nothing where the loop has been closed."""

    def wake() -> None:
        with contextlib.suppress(RuntimeError):
            call(what)

    return wake
