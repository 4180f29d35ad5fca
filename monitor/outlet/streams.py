"""Lets this process print and log without waiting for whoever reads that."""

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from monitor.outlet.outlet import Outlet, nothing
from monitor.outlet.places import Descriptor

_outlets: list[Outlet] = []


def lines_dropped() -> int:
    """How many lines on the standard streams nobody took."""
    return sum(outlet.dropped for outlet in _outlets)


@contextlib.contextmanager
def unhindered(lost: Callable[[int], None]) -> Iterator[None]:
    """Let nothing that goes to `sys.stdout` and `sys.stderr` hold anybody up until the block ends.

    A pipe that is full, a terminal that was stopped and a slow disk block whoever writes, and that is the event loop.
    They can't be told not to block: others share them. `lost` hears how many lines weren't written on stderr, once
    lines are written there again.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _behind(sys.stdout, nothing), _behind(sys.stderr, lost)
    try:
        yield
    finally:
        for stream, stood in zip((sys.stdout, sys.stderr), before, strict=True):
            if stream is not stood:
                stream.close()
        sys.stdout, sys.stderr = before


class _Pouring(io.RawIOBase):
    """What is written goes into an outlet."""

    def __init__(self, number: int, lost: Callable[[int], None]) -> None:
        self._number = number
        self._outlet = Outlet(Descriptor(number), lost=lost)
        _outlets.append(self._outlet)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, lines: Any) -> int:  # Any: whatever holds bytes, which has no name before Python 3.12
        self._outlet.put(bytes(lines))
        return len(lines)

    def close(self) -> None:
        if not self.closed:
            super().close()
            if not self._outlet.close():
                # Nobody takes anything: a last word of this process mustn't keep it from ending.
                os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), self._number)


def _behind(stream: TextIO, lost: Callable[[int], None]) -> TextIO:
    """The same behind an outlet; itself where nothing is open there, or it is no file."""
    try:
        number = stream.fileno()
    except (AttributeError, OSError):  # None where it was closed
        return stream
    stream.flush()
    return io.TextIOWrapper(  # type: ignore[type-var] # a raw stream is all it wants
        _Pouring(number, lost),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=True,
    )
