"""One request after another on a connection, and answers that go out whole."""

import asyncio

from monitor.simulator.http import HttpError, head_bytes, read_body, read_request
from monitor.simulator.listener import Connection
from monitor.simulator.request import Request
from monitor.simulator.steps import Head

IDLE_S = 75.0


async def next_request(connection: Connection) -> Request | None:
    """Return the next request, None where the client is done or what it sent was refused.

    Raises `TimeoutError` where none comes within 75 s.
    """
    connection.idle = True
    try:
        async with asyncio.timeout(IDLE_S):
            return await read_request(connection.reader)
    except HttpError as fault:
        await _say(connection, fault.status, "text/plain; charset=utf-8", fault.message.encode(), keep_alive=False)
        return None
    finally:
        connection.idle = False


async def body_of(request: Request, connection: Connection) -> bytes:
    """Return the body of a request; raises `HttpError` as `read_body` does."""
    async with asyncio.timeout(IDLE_S):
        return await read_body(request, connection.reader, connection.writer)


async def send(
    connection: Connection, request: Request, status: int, content_type: str, body: bytes, *, last: bool = False
) -> bool:
    """Send a whole answer at once; return whether the connection may carry another request.

    `last` is for a request whose body hasn't been read to its end.
    """
    keep_alive = request.keep_alive and not last
    await _say(connection, status, content_type, body, keep_alive=keep_alive)
    return keep_alive


async def _say(connection: Connection, status: int, content_type: str, body: bytes, *, keep_alive: bool) -> None:
    head = Head(at_s=0.0, status=status, content_type=content_type, length=len(body))
    await connection.send(head_bytes(head, keep_alive=keep_alive) + body)
    if not keep_alive:
        await connection.end()
