"""Talks with the service behind the agents' backs, in one thread with an event loop of its own.

One thread for all steps of a client, those in event loops too: it goes on while their loops are busy or closed.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from breaker.client.address import Address
from breaker.client.forking import loading
from breaker.client.keeping import Book, Kept
from breaker.client.moved import Shelf
from breaker.client.outbox import Outbox
from breaker.client.said import Fallback
from breaker.client.silence import Silence
from breaker.errors import DoorAddressError

if TYPE_CHECKING:
    from breaker.client.running import Running

_log = logging.getLogger(__name__)

# How long reports are still sent at the end.
FLUSH_S = 1.0
# And how long beyond that, to end what is under way.
_SLACK_S = 0.5


class Engine:
    """The thread, and what is asked of it; it starts when something is. Any thread may call."""

    def __init__(self, address: Address, book: Book, outbox: Outbox, fallback: Fallback, session: str) -> None:
        self.address = address
        self.book = book
        self.outbox = outbox
        self.silence = Silence()
        self.fallback = fallback
        self.session = session
        self.ending = False
        self.flush_s = FLUSH_S
        self.shelves: weakref.WeakSet[Shelf] = weakref.WeakSet()  # where streams of moves put them
        # Reentrant: a collected client stops its engine, whatever the thread is doing in which that happens.
        self._lock = threading.RLock()
        self._asked: deque[Callable[[Running], None]] = deque()
        self._thread: threading.Thread | None = None
        self._running: Running | None = None

    @property
    def ready(self) -> bool:
        """Whether the thread does what is asked; before that it is loading what it needs."""
        return self._running is not None

    def warm(self) -> None:
        """Start."""
        self.do(lambda running: None)

    def follow(self, kept: Kept) -> bool:
        """Keep a route's decision fresh; False where nobody can."""
        return self.do(lambda running: running.follow(kept))

    def tell(self) -> bool:
        """Send what waits in the outbox; False where nobody can."""
        return self.do(lambda running: running.tell())

    def do(self, what: Callable[[Running], None]) -> bool:
        """Have something done in the thread; False where there is none any more."""
        with self._lock:
            if not self.ending and self._thread is None:
                self._start()
            if self.ending:
                return False
            self._asked.append(what)
            self._wake()
            return True

    def stop(self, flush_s: float = FLUSH_S) -> None:
        """Send what waits, for so long at most, and end; returns at once."""
        with self._lock:
            self.ending, self.flush_s = True, flush_s
            self._wake()

    def join(self, until: float) -> None:
        """Wait until it has ended, to a monotonic moment at most."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(until + _SLACK_S - time.monotonic(), 0.0))

    def forked(self) -> None:
        """In a new process: the thread and its connections are the parent's, and are left as they are."""
        self._lock = threading.RLock()
        self.ending, self._running = True, None
        for shelf in list(self.shelves):
            shelf.forked()
        _live.discard(self)

    # In the thread

    def begin(self, running: Running) -> None:
        """From now on this does what is asked."""
        with self._lock:
            self._running = running
            self._wake()

    def end(self) -> None:
        """Nothing more is done."""
        with self._lock:
            self._running = None

    def asked(self) -> Callable[[Running], None] | None:
        """What was asked first; None where nothing is left."""
        with self._lock:
            return self._asked.popleft() if self._asked else None

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="firstbyte", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no thread can be had, or the interpreter ends: the client goes on alone
            self._thread, self.ending = None, True
        else:
            _live.add(self)
            _end_with_process()

    def _wake(self) -> None:
        if self._running is not None:
            self._running.wake()

    def _run(self) -> None:
        try:
            with loading():
                from breaker.client.running import run  # here, so that no agent waits for event loops to be loaded
            run(self)
        except DoorAddressError as error:
            _log.warning("going on without the service: %s", error)
        except Exception:  # noqa: BLE001 # whatever breaks here must not reach an agent
            _log.exception("the client's thread broke; the client goes on alone")
        finally:
            self._ended()

    def _ended(self) -> None:
        """Nobody shall wait for what won't come, also not for what was asked and never begun."""
        with self._lock:
            self.ending = True
        self.outbox.give_up()
        self.book.end()
        for shelf in list(self.shelves):
            shelf.end()


_live: weakref.WeakSet[Engine] = weakref.WeakSet()


def stop_all() -> None:
    """End all engines; those together may take as long as one."""
    engines, until = list(_live), time.monotonic() + FLUSH_S
    for engine in engines:
        engine.stop()
    for engine in engines:
        engine.join(until)


atexit.register(stop_all)
_ending: list[int] = []


def _end_with_process() -> None:
    """A process that multiprocessing has forked ends without what is registered above: have it end engines as well."""
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if process and util and process.parent_process() is not None and os.getpid() not in _ending:
        _ending.append(os.getpid())
        util.Finalize(None, stop_all, exitpriority=0)
