"""httpx and httpx2: two families with the same names, whose classes know nothing of each other."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache, partial
from typing import Any

from breaker.answer import Ended
from breaker.errors import AnswerError

_NAMES = ("httpx", "httpx2")
# What went wrong on our own side of the line.
_OURS = ("PoolTimeout", "LocalProtocolError", "UnsupportedProtocol")


class _Stream:
    """What a response's body is read from. Whoever reads it a second time goes on where the first has stopped.

    One that is neither read nor closed by whoever has it is `left` when it is collected.
    """

    def __init__(self, pieces: Any, close: Callable[[], Any], left: Callable[[], None]) -> None:
        self._pieces = pieces
        self._close = close
        self._left = left

    def __del__(self) -> None:
        self._left()


class _SyncStream(_Stream):
    def __iter__(self) -> Iterator[bytes]:
        pieces: Iterator[bytes] = self._pieces
        return pieces

    def close(self) -> None:
        self._close()


class _AsyncStream(_Stream):
    def __aiter__(self) -> AsyncIterator[bytes]:
        pieces: AsyncIterator[bytes] = self._pieces
        return pieces

    async def aclose(self) -> None:
        await self._close()


class Family:
    """The classes of one of the two."""

    def __init__(self, name: str) -> None:
        # Any: the same code serves the classes of both.
        module: Any = sys.modules[name]
        self.name = name
        self.request: Any = module.Request
        self.response: Any = module.Response
        self.url: Any = module.URL
        # Agents run many steps at once, and a stream holds its connection for minutes: a step that waits for one would
        # look like a provider that is silent.
        limits = module.Limits(max_connections=None, max_keepalive_connections=100)
        self.transport: Any = partial(module.HTTPTransport, limits=limits)
        self.async_transport: Any = partial(module.AsyncHTTPTransport, limits=limits)
        self.sync_stream = type("AnswerStream", (_SyncStream, module.SyncByteStream), {})
        self.async_stream = type("AnswerStream", (_AsyncStream, module.AsyncByteStream), {})
        self.not_read: type[Exception] = module.RequestNotRead
        # What may break an exchange; OSError is what a transport lets through that translates nothing.
        self.breaks: tuple[type[Exception], ...] = (module.TransportError, OSError, EOFError)
        self._silence: type[Exception] = module.ReadTimeout
        self._ours = tuple(getattr(module, name) for name in _OURS)
        self._broken_error = _error("BrokenAnswerError", module.RemoteProtocolError)
        self._silent_error = _error("SilentAnswerError", module.ReadTimeout)

    def ended(self, error: Exception, *, headed: bool) -> Ended | None:
        """How an exchange ended that broke with an error; None for a fault of the caller's own side."""
        if isinstance(error, self._ours):
            return None
        if isinstance(error, self._silence):
            return Ended.SILENCE
        return Ended.RESET if headed else Ended.UNREACHABLE

    def error(self, message: str, *, silent: bool) -> AnswerError:
        """The error of an answer that failed after part of it had been shown, as this family's clients know it."""
        return (self._silent_error if silent else self._broken_error)(message)


def _error(name: str, base: type[Exception]) -> type[AnswerError]:
    return type(name, (AnswerError, base), {"__module__": __name__, "__doc__": AnswerError.__doc__})


def family_of(thing: object) -> Family:
    """The family to which a request, a response or a transport belongs. Raises TypeError where it is neither's."""
    kind: type = type(thing)
    return _family_of(kind)


@cache
def _family_of(kind: type) -> Family:
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        if name in _NAMES:
            return _named(name)
    raise TypeError(f"{kind.__qualname__} is of neither httpx nor httpx2")


@cache
def _named(name: str) -> Family:
    return Family(name)
