"""Shows on a terminal how far a long reading has come."""

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import BinaryIO, Self, TypeVar

# What is done sooner needs no progress; afterwards it moves so often.
_EVERY_S = 1.0

Item = TypeVar("Item")


class Progress:
    """A line on stderr, gone at the end; nothing where stderr is no terminal or `shown` is False."""

    def __init__(self, file: BinaryIO, *, shown: bool) -> None:
        self._file = file
        self._size = _size(file)
        self._wanted = shown and sys.stderr is not None and sys.stderr.isatty()
        self._next_s = time.monotonic() + _EVERY_S
        self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leave no line behind."""
        if self._written:
            self._write("")
            self._write_raw("\r")

    def following(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, counted as they pass."""
        for count, item in enumerate(items):
            if self._wanted and time.monotonic() >= self._next_s:
                self._next_s = time.monotonic() + _EVERY_S
                share = f", {self._file.tell() / self._size:.0%}" if self._size else ""
                self._write(f"{count} judged{share}")
            yield item

    def _write(self, line: str) -> None:
        self._write_raw(f"\r{line:{self._written}}")
        self._written = len(line)

    @staticmethod
    def _write_raw(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _size(file: BinaryIO) -> int:
    """How long a file on disk is; 0 for what has no length, such as a pipe."""
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
