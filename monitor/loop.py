"""Runs the service's work on the fastest event loop there is here, with as many connections as the system allows."""

import asyncio
import contextlib
import resource
from collections.abc import Callable, Coroutine
from typing import TypeVar

_T = TypeVar("_T")


def until_done(work: Coroutine[object, object, _T]) -> _T:
    """What the work gives; like `asyncio.run`."""
    _allow_connections()
    with asyncio.Runner(loop_factory=_fastest()) as runner:
        return runner.run(work)


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
