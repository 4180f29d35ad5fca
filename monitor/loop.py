"""Runs the service's work on the fastest event loop there is here, with as many connections as the system allows."""

import asyncio
import contextlib
import gc
import resource
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

_T = TypeVar("_T")

# New objects between two collections of garbage, and collections between two that look at older objects too. By
# Python's own 700, 10 and 10 they cost a twentieth of the work of a service whose agents report much; hardly any is
# found.
_GARBAGE = (10_000, 20, 20)


def until_done(work: Coroutine[object, object, _T]) -> _T:
    """What the work gives; like `asyncio.run`."""
    _allow_connections()
    with _collecting_less(), asyncio.Runner(loop_factory=_fastest()) as runner:
        return runner.run(work)


@contextlib.contextmanager
def _collecting_less() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_GARBAGE)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _fastest() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _allow_connections() -> None:
    """Raise the limit on open files to what may be had unasked: thousands may wait at the door."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # no system is obliged to allow it
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
