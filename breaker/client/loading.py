"""Keeps forks away from modules that a client's thread loads: a child would find them half loaded, for ever."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Loading takes a tenth of a second. No fork waits for longer than this, whatever keeps the thread.
MOST_S = 2.0


class _Loading:
    """A lock that a forking thread has, too, and that is free in its child."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._forking = threading.local()

    def before_fork(self) -> None:
        self._forking.held = self.lock.acquire(timeout=MOST_S)

    def after_fork(self) -> None:
        if self._forking.held:
            self.lock.release()

    def in_child(self) -> None:
        self.lock = threading.Lock()


_loading = _Loading()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_loading.before_fork, after_in_parent=_loading.after_fork, after_in_child=_loading.in_child
    )


@contextmanager
def loading() -> Iterator[None]:
    """What is loaded within this is loaded whole before this process is forked."""
    with _loading.lock:
        yield
