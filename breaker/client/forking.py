"""What a fork of this process does: it waits for what is being loaded, and in the child all begins anew."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

# Loading takes a tenth of a second. No fork waits for longer than this, whatever keeps the thread.
MOST_S = 2.0

_T = TypeVar("_T")


class _Forks:
    """A lock that a forking thread has, too, and that is free in its child; and what begins anew there."""

    def __init__(self) -> None:
        self.loading = threading.Lock()
        self.renewed: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()
        self._forking = threading.local()

    def before(self) -> None:
        self._forking.held = self.loading.acquire(timeout=MOST_S)

    def in_parent(self) -> None:
        if self._forking.held:
            self.loading.release()

    def in_child(self) -> None:
        self.loading = threading.Lock()
        for one, renew in list(self.renewed.items()):
            renew(one)


_forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forks.before, after_in_parent=_forks.in_parent, after_in_child=_forks.in_child)


@contextmanager
def loading() -> Iterator[None]:
    """What is loaded within this is loaded whole before a fork: a child would have it half loaded, for ever."""
    with _forks.loading:
        yield


def renew_in_child(one: _T, renew: Callable[[_T], None]) -> None:
    """Call `renew` with this in each process that is forked while it is used: its threads are the parent's."""
    _forks.renewed[one] = renew
