"""Takes lines at once and writes them in a thread of its own."""

import threading
import time
from collections import deque
from collections.abc import Callable

# So much may wait to be written; what comes then is dropped.
MOST_BYTES = 1_000_000
# What waits when the service stops gets this long to be written.
CLOSE_S = 1.0
# So much is written at a time, so that little is lost with a write that fails.
_AT_ONCE = 65_536


def nothing(*_: int) -> None:
    """What is to be done where nothing is."""


class Outlet:
    """Takes lines from any thread, without ever waiting, and hands them to `write`, in their order.

    `write` gives how many of the bytes it wrote; it may take its time, and raises OSError where it can't. What it
    can't write, and what more comes than `most_bytes` waiting, is dropped. `losing` is called when that begins,
    `lost` with the number of lines when all that waited is written again.
    """

    def __init__(
        self,
        write: Callable[[bytes], int],
        *,
        losing: Callable[[], None] = nothing,
        lost: Callable[[int], None] = nothing,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.dropped = 0  # lines, ever
        self._write = write
        self._losing = losing
        self._lost = lost
        self._most_bytes = most_bytes
        self._waiting: deque[bytes] = deque()
        self._bytes = 0  # of those that wait or are being written
        self._told = 0  # of `dropped`
        self._torn = False  # half a line was written last
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, lines: bytes) -> None:
        """Let whole lines be written."""
        with self._changed:
            fits = not self._closed and self._bytes + len(lines) <= self._most_bytes
            if fits:
                self._waiting.append(lines)
                self._bytes += len(lines)
                self._changed.notify_all()
                self._start()
        if not fits:
            self._drop(lines)

    def close(self, within_s: float = CLOSE_S) -> bool:
        """Write what waits, for so long at most, and take nothing more; whether nothing is being written any longer."""
        until = time.monotonic() + within_s
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            while self._bytes and self._changed.wait(until - time.monotonic()):
                pass
            left = b"".join(self._waiting)
            self._waiting.clear()
            self._bytes -= len(left)
            done = not self._bytes
        if left:
            self._drop(left)
        return done

    def _start(self) -> None:
        if self._thread is None:
            # Nobody waits for it at the end: it may hang in a write for ever.
            self._thread = threading.Thread(target=self._pour, name="outlet", daemon=True)
            self._thread.start()

    def _pour(self) -> None:
        while lines := self._next():
            rest = self._written(lines)
            if rest:
                self._drop(rest)
            with self._changed:
                self._bytes -= len(lines)
                self._changed.notify_all()
                again = not rest and not self._bytes and self.dropped > self._told
                count, self._told = self.dropped - self._told, self.dropped if again else self._told
            if again:
                self._lost(count)

    def _next(self) -> bytes:
        """What is to be written next, as soon as there is anything; empty where nothing more comes."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            lines = list[bytes]()
            size = 0
            while self._waiting and (not lines or size + len(self._waiting[0]) <= _AT_ONCE):
                lines.append(self._waiting.popleft())
                size += len(lines[-1])
        return b"".join(lines)

    def _written(self, lines: bytes) -> bytes:
        """Write them; gives what couldn't be written."""
        left = (b"\n" if self._torn else b"") + lines  # what comes behind half a line would be lost with it
        try:
            while left:
                count = self._write(left)
                self._torn = left[count - 1 : count] not in (b"\n", b"")
                left = left[count:]
        except OSError:
            return left
        return b""

    def _drop(self, lines: bytes) -> None:
        with self._changed:
            first = self.dropped == self._told
            self.dropped += max(lines.count(b"\n"), 1)
        if first:
            self._losing()
