"""Where lines are written to."""

import errno
import os
import select
import stat


class Descriptor:
    """An open file that others may have too; one that can't take anything now is waited for."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, lines: bytes) -> int:
        """Write; gives how many bytes. Raises OSError."""
        while True:
            try:
                return os.write(self.number, lines)
            except BlockingIOError:  # whoever shares it has made it so
                waiting = select.poll()
                waiting.register(self.number, select.POLLOUT)
                waiting.poll()


class File:
    """A file of our own that grows; made anew where it was moved away or deleted. Raises OSError.

    A named pipe that nobody reads yet is no fault, but takes nothing.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._place: Descriptor | None = None
        try:
            self._open()
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise

    def __call__(self, lines: bytes) -> int:
        """Write; gives how many bytes. Raises OSError."""
        place = self._place
        if place is None or not self._there(place):
            self.close()
            place = self._open()
        return place(lines)

    def close(self) -> None:
        """Let go of it."""
        place, self._place = self._place, None
        if place is not None:
            os.close(place.number)

    def _open(self) -> Descriptor:
        # Without O_NONBLOCK a named pipe would be waited for until somebody reads it.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        self._place = place = Descriptor(os.open(self._path, flags, 0o666))
        return place

    def _there(self, place: Descriptor) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(place.number))  # noqa: PTH116 # once a line
        except FileNotFoundError:
            return False


def unread(number: int) -> bool:
    """Whether it is a pipe that nobody can read any more; what isn't open is none."""
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return False
    if not stat.S_ISFIFO(mode):
        return False
    looking = select.poll()
    looking.register(number, 0)  # what is looked for is told unasked
    return any(what & (select.POLLERR | select.POLLHUP) for _, what in looking.poll(0))
