"""A connection that stamps what it receives before anybody reads it."""

import asyncio
import time
from collections import deque
from typing import NamedTuple, cast

from monitor.exchange.phases import Moments

# With more than this unread the other side has to wait; what one read of the socket brings comes on top.
MOST_UNREAD = 256 * 1024
# Who reads with `gather` is woken when the first of what he hasn't read is so old, or when it is so much. That spares
# 200 of 256 wakings of a stream with 50 events a second, a third of a probe's processor time.
GATHERED_S = 0.1
MOST_GATHERED = 32 * 1024


class Received(NamedTuple):
    """Bytes, and when they came (monotonic)."""

    at: float
    data: bytes


class Connection(asyncio.Protocol):
    """One TCP connection, with or without TLS, as a protocol of the event loop.

    The clock is read as the first thing when the loop hands bytes over, and they are taken apart later, in the task
    that reads: so a stream that is busy makes no other's bytes look late.
    """

    def __init__(self) -> None:
        self._moments = Moments()
        self._transport: asyncio.Transport | None = None
        self._gone: asyncio.Future[None] | None = None
        self._got: deque[Received] = deque()
        self._unread = 0
        self._paused = False
        self._full = False
        self._ended = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._gathers = False
        self._alarm: asyncio.TimerHandle | None = None

    # For those who use it

    @property
    def transport(self) -> asyncio.Transport:
        """The transport, once there is one."""
        assert self._transport is not None
        return self._transport

    @property
    def idle(self) -> bool:
        """Whether it is open and nothing has come that nobody asked for."""
        return not self._ended and not self._got and self._transport is not None and not self._transport.is_closing()

    def send(self, data: bytes, moments: Moments | None = None) -> None:
        """Hand a whole request over, and note when its first and, in time, its last byte was taken."""
        self._moments = moments or Moments()
        self._moments.sending, self._moments.sent = time.monotonic(), None
        self.transport.write(data)
        if not self._full:
            self._moments.sent = time.monotonic()

    async def read(self, *, gather: bool = False) -> Received | None:
        """What came next; None at the end. Raises OSError where the end was no orderly one.

        With `gather` it is all that comes within `GATHERED_S`, with the moment of the last; the end is told at once.
        """
        self._gathers = gather
        while not self._ended and (not self._got or self._alarm is not None):
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        if self._got:
            return self._take(len(self._got) if gather else 1)
        if self._error is not None:
            raise ConnectionResetError from self._error
        return None

    async def aclose(self) -> None:
        """Close it at once and see it closed. May be called twice."""
        if self._gone is not None:
            self.transport.abort()
            await asyncio.wait([self._gone])

    def moved(self, transport: asyncio.Transport) -> None:
        """Go on over another transport, as after TLS has begun on an open connection."""
        self._transport = transport
        # With 0 asyncio's TLS would call an empty buffer too full.
        transport.set_write_buffer_limits(high=1, low=0)

    # For the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The loop has connected it."""
        self._gone = asyncio.get_running_loop().create_future()
        self.moved(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        at = time.monotonic()
        self._got.append(Received(at, data))
        self._unread += len(data)
        if not self._gathers or self._unread > MOST_GATHERED:
            self._wake()
        elif self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(GATHERED_S, self._wake)
        if self._unread > MOST_UNREAD and not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def eof_received(self) -> None:
        """The other side sends no more; the loop closes the connection."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self._ended = True
        self._error = exc
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        self._wake()

    def pause_writing(self) -> None:
        """The socket takes no more for now."""
        self._full = True

    def resume_writing(self) -> None:
        """The socket has taken all."""
        self._full = False
        self._moments.sent = time.monotonic()

    # Inside

    def _take(self, count: int) -> Received:
        taken = [self._got.popleft() for _ in range(count)]
        got = taken[0] if count == 1 else Received(taken[-1].at, b"".join(part.data for part in taken))
        self._unread -= len(got.data)
        if self._paused and self._unread <= MOST_UNREAD // 2 and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()
        return got

    def _wake(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
