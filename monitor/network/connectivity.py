"""Finds out whether our own network is down, so that no target is blamed for it."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from breaker.logged import CONTROL_SILENT, NETWORK_BACK, NETWORK_DOWN
from monitor.network.reaching import Reach
from monitor.network.ways import Proxies, Way, ways_out
from monitor.settings import Settings

_log = logging.getLogger(__name__)

# To open a connection may take so long.
LIMIT_S = 1.0
# One way is looked at no more often than this, however many answers fail.
PAUSE_S = 0.25
# While our network is down it is looked at again so often, whether anybody asks or not.
AGAIN_S = 2.0
# Of more addresses than this only so many are named.
_NAMED = 5


class _Outlook:
    """What is known of one way; those who ask while it is being looked at share what is found."""

    def __init__(self, way: Way, reach: Reach) -> None:
        self.way = way
        self.down = False
        self._reach = reach
        self._began_at = float("-inf")
        self._up_at = float("-inf")  # when the last look began that found it up
        self._looking: asyncio.Task[None] | None = None

    async def find_out(self) -> bool:
        """Whether it is down. Only a look that began after the question can say that it isn't."""
        asked_at = time.monotonic()
        while not self.down and self._up_at < asked_at:
            await self.look()
        return self.down

    async def look(self) -> None:
        """Look now, or share the look that is under way."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="looking at the network")
        await asyncio.shield(self._looking)

    async def stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> None:
        await asyncio.sleep(max(0.0, self._began_at + PAUSE_S - time.monotonic()))
        self._began_at = began_at = time.monotonic()
        self.down = not await self._reach.any(self.way, LIMIT_S)
        if not self.down:
            self._up_at = began_at


class Connectivity:
    """The switchboard's network: says "down" where nobody that stands for our way out takes a TCP connection.

    Who that is, `monitor.network.ways` says. `again_s` is how often it looks again by itself while the network is
    down. Use it as an asynchronous context manager.
    """

    def __init__(self, settings: Settings, proxies: Proxies | None = None, *, again_s: float = AGAIN_S) -> None:
        self._proxies = proxies or Proxies()
        self._reach = Reach()
        self._outlooks: list[_Outlook] = []
        self._again_s = again_s
        self._since: float | None = None
        self._back_at = float("-inf")
        self._tasks: set[asyncio.Task[None]] = set()
        self.renew(settings)

    def renew(self, settings: Settings) -> None:
        """Go by other targets and control addresses; what is known of ways that stay is kept."""
        found = ways_out(settings.targets, settings.control, self._proxies)
        known = {outlook.way: outlook for outlook in self._outlooks}
        ways = dict.fromkeys(way for ways in found.values() for way in ways)
        outlooks = {way: known.get(way) or _Outlook(way, self._reach) for way in ways}
        for gone in (outlook for way, outlook in known.items() if way not in outlooks):
            self._spawn(gone.stop())
        self._outlooks = list(outlooks.values())
        self._of = {name: [outlooks[way] for way in ways] for name, ways in found.items()}
        self._control = outlooks.get(frozenset(settings.control))

    async def __aenter__(self) -> Self:
        """See whether the control addresses can be reached at all, without waiting for that."""
        if self._control is not None:
            self._spawn(self._try(self._control))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all looking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *(o.stop() for o in self._outlooks), return_exceptions=True)

    @property
    def suspect_since(self) -> float | None:
        """Since when (monotonic) it has been down; None while it isn't."""
        return self._since

    def was_down(self, seconds: float) -> bool:
        """Whether it has been down at any time within so many seconds."""
        return self._since is not None or time.monotonic() - seconds < self._back_at

    async def down(self, target: str) -> bool:
        """Whether it is down, now that something that was asked of a target has broken off; within 2.5 s.

        Mostly that takes milliseconds: one that takes a connection is enough.
        """
        for outlook in self._of.get(target, ()):
            if await outlook.find_out():
                self._suspect(outlook.way)
                return True
        return False

    # Inside

    def _suspect(self, way: Way) -> None:
        if self._since is None:
            self._since = time.monotonic()
            _log.warning(
                "our own network seems to be down: nothing answers at %s; no circuit moves by itself until it does",
                _named(way),
                extra=NETWORK_DOWN(),
            )
            self._spawn(self._until_back())

    async def _until_back(self) -> None:
        while any(outlook.down for outlook in self._outlooks):
            await asyncio.sleep(self._again_s)
            await asyncio.gather(*(outlook.look() for outlook in self._outlooks if outlook.down))
        assert self._since is not None
        self._back_at = time.monotonic()
        lasted_s, self._since = self._back_at - self._since, None
        _log.warning(
            "our own network is back after %.0f s; circuits move again",
            lasted_s,
            extra=NETWORK_BACK(seconds=round(lasted_s, 1)),
        )

    async def _try(self, control: _Outlook) -> None:
        await control.look()
        if control.down and self._since is None:
            control.down = False  # no answer has failed yet
            _log.warning(
                "no control address answers (%s): from the first failure on, our own network counts as down until one"
                " does",
                _named(control.way),
                extra=CONTROL_SILENT(),
            )

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _named(way: Way) -> str:
    names = sorted(str(address) for address in way)
    more = len(names) - _NAMED
    return ", ".join([*names[:_NAMED], f"{more} more"] if more > 0 else names)
