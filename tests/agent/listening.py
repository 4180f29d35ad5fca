"""A server on loopback for as long as a test wants it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager


@asynccontextmanager
async def listening(
    connected: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None], under_way: Sequence[asyncio.Task[None]]
) -> AsyncIterator[int]:
    """The port of a server that hands over each connection; afterwards what is under way then is waited for."""
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()
        await asyncio.gather(*under_way)
