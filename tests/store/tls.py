"""A server's port over TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.store_server import StoreServer


@asynccontextmanager
async def over_tls(server: StoreServer, port: int = 0) -> AsyncIterator[int]:
    """A port at which a server is reached over TLS, with a certificate that nobody signed; 0 for any port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("localhost.pem"))

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind = await asyncio.open_unix_connection(server.socket)
        await asyncio.gather(pass_on(reader, behind[1]), pass_on(behind[0], writer))

    serving: set[asyncio.Task[None]] = set()
    listening = await asyncio.start_server(
        lambda *streams: serving.add(asyncio.ensure_future(serve(*streams))), "127.0.0.1", port, ssl=context
    )
    async with listening:
        yield listening.sockets[0].getsockname()[1]
    await asyncio.gather(*serving)
