"""One request over a connection, and its response as it comes."""

import time
from typing import NamedTuple

from monitor.exchange.connection import Connection
from monitor.exchange.phases import Moments
from monitor.exchange.response import Response


class Pieces(NamedTuple):
    """What one read brought of a body, maybe nothing, cut as its chunks are, and when it came (monotonic)."""

    at: float
    data: list[bytes]


class Exchange:
    """A request and its response over an open connection.

    `headed_at` is when the head of the response was there, `ended_at` when all of it was (monotonic); `heard` says
    whether anything came at all.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.response = Response()
        self.headed_at = 0.0
        self.ended_at: float | None = None
        self.heard = False
        self._first: Pieces | None = None

    async def ask(self, request: bytes, moments: Moments) -> None:
        """Send a request and wait for the head of its response. Raises OSError or BrokenHttpError."""
        self.connection.send(request, moments)
        while not self.response.headed:
            self._first = await self._read()
        assert self._first is not None
        self.headed_at = moments.headed = self._first.at

    async def more(self, *, gather: bool = False) -> Pieces | None:
        """More of the body; None at its end.

        With `gather` what comes within `connection.GATHERED_S` comes together, with the moment of the last. Raises
        OSError or BrokenHttpError.
        """
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return None if self.response.complete else await self._read(gather=gather)

    @property
    def reusable(self) -> bool:
        """Whether the connection can carry another exchange after this."""
        return self.response.complete and self.response.keep and self.connection.idle

    async def _read(self, *, gather: bool = False) -> Pieces | None:
        got = await self.connection.read(gather=gather)
        if got is None:
            self.response.end()
            self.ended_at = time.monotonic()
            return None
        self.heard = True
        data = self.response.feed(got.data)
        if self.response.complete:
            self.ended_at = got.at
        return Pieces(got.at, data)
