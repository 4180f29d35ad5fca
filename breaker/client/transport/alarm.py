"""Wakes those who wait on a socket without a limit of their own, when their time has come: one thread for all."""

import contextlib
import heapq
import itertools
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from breaker.client.forking import renew_in_child

NEVER = float("inf")


class Bell:
    """Rings once, at a moment that may be moved while it is awaited; while it isn't `armed`, its moment passes unheard.

    `later` gives a later moment where the one that has come was put off without a word. Safe to use from any thread.
    What it calls runs in the alarm's thread, with the bell's lock held: after `stop` has returned it never runs again.
    """

    def __init__(self, ring: Callable[[], object], later: Callable[[], float] = lambda: 0.0) -> None:
        self.when = NEVER
        self._later = later
        self.armed = True
        self.rang = False
        self._ring = ring
        self._lock = threading.Lock()

    def set(self, when: float) -> None:
        """Ring at this moment of the monotonic clock, and not at the one that was set before."""
        earlier = when < self.when
        self.when = when
        if earlier:
            _alarm.expect(self, when)

    def stop(self) -> None:
        """Never ring again."""
        with self._lock:
            self.when = NEVER
            self._ring = _nothing

    def now(self) -> None:
        """Ring now, in whatever thread this is."""
        self.when, self.armed, self._later = 0.0, True, lambda: 0.0
        self.due()

    def due(self) -> None:
        """Ring, if its moment has come."""
        with self._lock:
            if self.when > time.monotonic():
                return
            self.when = NEVER
            if self.armed and not self._put_off():
                self.rang = True
                self._ring()

    def _put_off(self) -> bool:
        later = self._later()
        if later <= time.monotonic():
            return False
        self.set(later)
        return True


class _Alarm:
    """The thread that rings; it starts with the first bell, and again in a process that was forked."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._heap: list[tuple[float, int, Bell]] = []
        self._count = itertools.count()
        self._thread: threading.Thread | None = None

    def expect(self, bell: Bell, when: float) -> None:
        with self._changed:
            heapq.heappush(self._heap, (when, next(self._count), bell))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="firstbyte-alarm", daemon=True)
                self._thread.start()
            elif self._heap[0][2] is bell:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            self._wait().due()

    def _wait(self) -> Bell:
        """The next bell whose moment has come. One that was moved to a later one is put back for then."""
        with self._changed:
            while True:
                if not self._heap:
                    self._changed.wait()
                    continue
                when, count, bell = self._heap[0]
                left = when - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                elif when < bell.when < NEVER:
                    heapq.heapreplace(self._heap, (bell.when, count, bell))
                else:
                    heapq.heappop(self._heap)
                    return bell


_alarm = _Alarm()
renew_in_child(_alarm, _Alarm.__init__)


def _nothing() -> None:
    pass


def cut_off(response: Any) -> Callable[[], None] | None:
    """What ends a response's connection so that whoever reads it wakes; None where there is no socket to be had.

    A connection that several responses share is left alone.
    """
    stream = response.extensions.get("network_stream")
    shutdown = _shutdown_of(stream and stream.get_extra_info("socket"))
    if shutdown is None or response.http_version == "HTTP/2":
        return None

    def cut() -> None:
        with contextlib.suppress(OSError):
            shutdown(socket.SHUT_RDWR)

    return cut


def _shutdown_of(connection: object) -> Callable[[int], None] | None:
    """What shuts a socket down from any thread: a plain one, or one that asyncio reads."""
    if isinstance(connection, socket.socket):
        # Not the method of a TLS socket: it drops the state that its reader is using.
        return partial(socket.socket.shutdown, connection)
    asyncios = sys.modules.get("asyncio.trsock")  # who blocks needn't load it
    if asyncios is not None and isinstance(connection, asyncios.TransportSocket):
        shutdown: Callable[[int], None] = connection.shutdown
        return shutdown
    return None
