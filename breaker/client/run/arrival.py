"""Something that comes once, and how threads and event loops wait for it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable


class Arrival:
    """Something that comes once, or never: any thread may set it and wait for it."""

    def __init__(self) -> None:
        self.come = False
        self._waiting: list[Callable[[], None]] = []

    def set(self) -> None:
        """It has come, or won't."""
        self.come = True
        while self._waiting:
            self._waiting.pop()()

    def wait(self, wake: Callable[[], None]) -> None:
        """Have something called when it has come, at once if it has."""
        self._waiting.append(wake)
        if self.come:
            self.set()


def waited(arrival: Arrival, within_s: float) -> bool:
    """Whether something comes within so long."""
    arrived = threading.Event()
    arrival.wait(arrived.set)
    return arrived.wait(within_s)


async def awaited(wait: Callable[[Callable[[], None]], None], within_s: float) -> None:
    """Until something that any thread may call is called, or so long."""
    import asyncio  # here, so that who needs no loop needn't load it

    loop, arrived = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(arrived.set)

    wait(wake)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await arrived.wait()
