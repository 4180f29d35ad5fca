"""Undoes a body's content encoding in pieces of bounded size, so that no body can fill our memory."""

import zlib
from collections.abc import Iterable, Iterator

# What we can undo, and so all that we ask for.
ACCEPTED = "gzip, deflate"
# A piece of nothing but line ends is read within 25 ms.
PIECE = 16 * 1024


# What a body may come in to be read.
_READABLE = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})


def readable(encoding: str) -> bool:
    """Whether a body in this content encoding can be read; not one that we didn't ask for, nor several at once."""
    return encoding.strip().lower() in _READABLE


class BrokenEncodingError(Exception):
    """The body isn't encoded as its header says."""


class Inflater:
    """Undoes one content encoding; what isn't `readable` is handed on as it is."""

    def __init__(self, encoding: str) -> None:
        self._name = encoding.strip().lower()
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if self._name in ("gzip", "x-gzip") else None
        self._head = b""

    def feed(self, data: bytes) -> Iterable[bytes]:
        """The bytes behind these, at most `PIECE` at a time. Taking them raises BrokenEncodingError."""
        if self._inflate is None and self._name != "deflate":
            return (data,) if len(data) <= PIECE else (data[at : at + PIECE] for at in range(0, len(data), PIECE))
        return self._undo(data)

    def _undo(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            self._inflate = _deflate(data)
        while data:
            try:
                yield self._inflate.decompress(data, PIECE)
            except zlib.error:
                raise BrokenEncodingError from None
            data = self._inflate.unconsumed_tail


def _deflate(head: bytes) -> "zlib._Decompress":
    """Some servers mean the bare stream by "deflate", others the one in zlib's wrapping (RFC 1950, section 2.2)."""
    wrapped = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2], "big") % 31 == 0
    return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
