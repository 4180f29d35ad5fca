"""Undoes a body's content encoding in pieces of bounded size, so that no body can fill our memory."""

import zlib
from collections.abc import Iterator

# What we can undo, and so all that we ask for.
ACCEPTED = "gzip, deflate"
PIECE = 256 * 1024


class BrokenEncodingError(Exception):
    """The body isn't encoded as its header says."""


class Inflater:
    """Undoes one content encoding; an encoding that we didn't ask for, or several at once, is handed on as it is."""

    def __init__(self, encoding: str) -> None:
        self._name = encoding.strip().lower()
        self._inflate = _inflate(self._name)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes behind these, at most `PIECE` at a time. Raises BrokenEncodingError."""
        if self._inflate is None:
            yield data
            return
        while data:
            yield self._piece(data)
            data = self._inflate.unconsumed_tail

    def _piece(self, data: bytes) -> bytes:
        assert self._inflate is not None
        try:
            return self._inflate.decompress(data, PIECE)
        except zlib.error:
            if self._name != "deflate":
                raise BrokenEncodingError from None
        # Some servers mean the bare stream by "deflate", others the one in zlib's wrapping.
        self._name, self._inflate = "bare", zlib.decompressobj(-zlib.MAX_WBITS)
        return self._piece(data)


def _inflate(name: str) -> "zlib._Decompress | None":
    if name in ("gzip", "x-gzip"):
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    return zlib.decompressobj() if name == "deflate" else None
