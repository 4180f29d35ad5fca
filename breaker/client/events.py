"""Iterators over the moves of circuits, for callers that block and for those that don't."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Self

from breaker.client.moved import Moved, Shelf


class _Stream:
    """What both kinds have in common."""

    def __init__(self, shelf: Shelf, begin: Callable[[Shelf], bool], stop: Callable[[Shelf], None]) -> None:
        self._shelf = shelf
        self._finalizer = weakref.finalize(self, stop, shelf)
        self._finalizer.atexit = False
        if not begin(shelf):
            shelf.end()

    @property
    def after(self) -> str | None:
        """The id after which a new stream would go on; None where nothing has been told yet."""
        return self._shelf.after

    def close(self) -> None:
        """End the stream, also for one who waits in it; safe to call twice."""
        self._shelf.end()
        self._finalizer()


class Events(_Stream):
    """The moves of circuits, each once, as they happen, for as long as the client lives or until it is closed.

    Where the service goes away the stream waits until it is back, and goes on where it was. Raises DoorRefusedError
    where the service can't serve it: an unknown route or target, or an id that is none.
    """

    def __init__(
        self,
        query: dict[str, str],
        after: str | None,
        begin: Callable[[Shelf], bool],
        stop: Callable[[Shelf], None],
    ) -> None:
        self._arrived = threading.Event()
        super().__init__(Shelf(query, after, self._arrived.set), begin, stop)

    def __iter__(self) -> Self:
        """Itself."""
        return self

    def __next__(self) -> Moved:
        """The next move."""
        while True:
            self._arrived.clear()
            if (moved := self._shelf.take()) is not None:
                return moved
            if self._shelf.ended:
                raise self._shelf.error or StopIteration
            self._arrived.wait()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


class AsyncEvents(_Stream):
    """The same for asyncio; make it in the loop that reads it."""

    def __init__(
        self,
        query: dict[str, str],
        after: str | None,
        begin: Callable[[Shelf], bool],
        stop: Callable[[Shelf], None],
    ) -> None:
        import asyncio  # here, so that who needs no loop needn't load it

        self._arrived = asyncio.Event()
        call, arrived = asyncio.get_running_loop().call_soon_threadsafe, self._arrived.set

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # its loop has been closed
                call(arrived)

        super().__init__(Shelf(query, after, wake), begin, stop)

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> Moved:
        """The next move."""
        while True:
            self._arrived.clear()
            if (moved := self._shelf.take()) is not None:
                return moved
            if self._shelf.ended:
                raise self._shelf.error or StopAsyncIteration
            await self._arrived.wait()

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
