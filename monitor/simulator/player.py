"""Plays the steps of an answer into a connection, in their time."""

from collections.abc import Iterator

from monitor.simulator.http import chunk, head_bytes
from monitor.simulator.listener import ClientGoneError, Connection
from monitor.simulator.record import Attempt, End
from monitor.simulator.steps import Body, Cut, Hang, Head, Reset, Step


async def play(
    steps: Iterator[Step], connection: Connection, attempt: Attempt, *, speed: float, keep_alive: bool
) -> bool:
    """Send an answer and note in its attempt when what really went out; `speed` divides all times.

    Return whether the connection may carry another request.
    """
    try:
        end = await _Player(connection, attempt, speed, keep_alive=keep_alive).play(steps)
    except (ClientGoneError, OSError):
        end = End.CLIENT_GONE
    attempt.end = end
    attempt.end_s = attempt.elapsed()
    return end is End.COMPLETE and keep_alive


class _Player:
    def __init__(self, connection: Connection, attempt: Attempt, speed: float, *, keep_alive: bool) -> None:
        self._connection = connection
        self._attempt = attempt
        self._speed = speed
        self._keep_alive = keep_alive
        self._chunked = False

    async def play(self, steps: Iterator[Step]) -> End:
        for step in steps:
            if isinstance(step, Hang):
                await self._connection.hang()
            await self._connection.pause(step.at_s / self._speed - self._attempt.elapsed())
            match step:
                case Head():
                    await self._send_head(step)
                case Body():
                    await self._send_body(step)
                case Cut():
                    framed = self._framed(step.data)
                    await self._connection.send(framed[: len(framed) // 2])
                    return End.CUT
                case Reset():
                    await self._connection.flush()
                    self._connection.reset()
                    return End.RESET
        if self._chunked:
            await self._connection.send(chunk(b""))
        return End.COMPLETE

    async def _send_head(self, head: Head) -> None:
        self._chunked = head.length is None
        self._attempt.headers_s = self._attempt.elapsed()
        await self._connection.send(head_bytes(head, keep_alive=self._keep_alive, speed=self._speed))

    async def _send_body(self, body: Body) -> None:
        if not body.data:
            return
        sent_s = self._attempt.elapsed()
        if self._attempt.first_event_s is None:
            self._attempt.first_event_s = sent_s
        if body.carries and self._attempt.first_byte_s is None:
            self._attempt.first_byte_s = sent_s
        await self._connection.send(self._framed(body.data))

    def _framed(self, data: bytes) -> bytes:
        return chunk(data) if self._chunked else data
