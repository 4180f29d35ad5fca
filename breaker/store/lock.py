"""A file whose lock lives as long as a process that holds it open, and not a moment longer."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

_AGAIN_S = 0.01


class Lock:
    """A lock on a file, for processes and for several users within one. Nobody waits for it inside the kernel."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def __str__(self) -> str:
        return str(self._path)

    def take(self, *, shared: bool = False) -> bool:
        """Take the lock, or change the one that is held; False where another's is in the way. Raises OSError."""
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            self.drop()
            return False
        return True

    def drop(self) -> None:
        """Let go. Only closes: unlocking would take the lock from a process that inherited the file, too."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @property
    def file(self) -> int:
        """The open file's number, to be inherited by a process that shall hold the lock."""
        assert self._file is not None
        return self._file

    @asynccontextmanager
    async def held(self, limit_s: float) -> AsyncIterator[Self]:
        """The exclusive lock for a block. Raises TimeoutError where others keep it for longer than the limit."""
        async with asyncio.timeout(limit_s):
            while not self.take():  # noqa: ASYNC110 # other processes set no event of ours
                await asyncio.sleep(_AGAIN_S)
        try:
            yield self
        finally:
            self.drop()
