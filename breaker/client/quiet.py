"""Keeps our own requests out of the log of the HTTP library: their addresses name runs and sessions."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from breaker.client.http import httpx

_ours: ContextVar[bool] = ContextVar("firstbyte_asks", default=False)


@contextmanager
def unlogged() -> Iterator[None]:
    """What is asked within this stands in no line of the library's log; what others ask stands there as ever."""
    before = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(before)


def _is_others(record: logging.LogRecord) -> bool:
    return not _ours.get()


# Its level is its user's: only our own lines are left out.
logging.getLogger(httpx.__name__).addFilter(_is_others)
