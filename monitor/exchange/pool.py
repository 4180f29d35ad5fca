"""Keeps connections open between exchanges."""

import time
from collections import deque

from monitor.exchange.connection import Connection

# A kept connection outlives a pause between two probes; if its server closes it earlier, that is noticed.
KEEPALIVE_S = 300.0
MOST = 32


class Pool:
    """The idle connections to one provider, at most `MOST`, none for longer than `KEEPALIVE_S`."""

    def __init__(self) -> None:
        self._idle: deque[tuple[float, Connection]] = deque()  # the moment (monotonic) to which each is kept

    async def take(self) -> Connection | None:
        """The one that was used last, which is the likeliest to be open still; None where there is none."""
        while self._idle:
            until, connection = self._idle.pop()
            if connection.idle and time.monotonic() < until:
                return connection
            await connection.aclose()
        return None

    async def put(self, connection: Connection) -> None:
        """Keep one."""
        self._idle.append((time.monotonic() + KEEPALIVE_S, connection))
        if len(self._idle) > MOST:
            await self._idle.popleft()[1].aclose()

    async def aclose(self) -> None:
        """Close all. May be called twice."""
        while self._idle:
            await self._idle.pop()[1].aclose()
