"""Shows on a terminal how far long work has come."""

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import BinaryIO, Self, TypeVar

# What is done sooner needs no progress; afterwards it moves so often.
_EVERY_S = 1.0

Item = TypeVar("Item")


class Line:
    """A line on stderr, gone at the end; nothing where stderr is no terminal or `shown` is False."""

    def __init__(self, *, shown: bool = True) -> None:
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

    def tick(self, words: Callable[[], str]) -> None:
        """Say how far things are, where it is time to."""
        if self._wanted and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + _EVERY_S
            self._write(words())

    def _write(self, line: str) -> None:
        self._write_raw(f"\r{line:{self._written}}")
        self._written = len(line)

    @staticmethod
    def _write_raw(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class Progress(Line):
    """The line of a command that reads a file."""

    def __init__(self, file: BinaryIO, *, shown: bool) -> None:
        super().__init__(shown=shown)
        self._file = file
        self._size = _size(file)

    def following(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, counted as they pass."""
        for count, item in enumerate(items):
            self.tick(lambda count=count: f"{count} judged{self._share()}")  # type: ignore[misc] # called at once
            yield item

    def _share(self) -> str:
        return f", {self._file.tell() / self._size:.0%}" if self._size else ""


def _size(file: BinaryIO) -> int:
    """How long a file on disk is; 0 for what has no length, such as a pipe."""
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
