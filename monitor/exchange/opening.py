"""Opens a connection to a server: directly or through a proxy, with TLS where its URL says so."""

import asyncio
import socket
import ssl
import time
from typing import cast

from monitor.exchange import request
from monitor.exchange.connection import Connection
from monitor.exchange.dial import dial
from monitor.exchange.errors import BrokenHttpError, ProxyError
from monitor.exchange.phases import Moments
from monitor.exchange.response import Response
from monitor.exchange.where import Origin, Proxy

# The one who asks has limits of its own on all that takes long.
_NEVER_S = 86_400.0
# Bytes of a proxy's answer to the wish for a tunnel.
_MOST_SAID = 64 * 1024


async def open_connection(origin: Origin, proxy: Proxy | None, trust: ssl.SSLContext, moments: Moments) -> Connection:
    """A connection over which the server can be asked.

    Raises OSError, of which TLS's errors are a part, or ExchangeError. However it ends but well, no socket stays open.
    """
    moments.connecting = time.monotonic()
    socket_ = await dial(proxy.host, proxy.port) if proxy else await dial(origin.host, origin.port)
    moments.connected = time.monotonic()
    connection = Connection()
    try:
        if proxy is None:
            await _adopt(connection, socket_, trust if origin.tls else None, origin.host, moments)
        else:
            await _through(connection, socket_, origin, proxy, trust, moments)
    except BaseException:
        await connection.aclose()
        socket_.close()
        raise
    return connection


async def _adopt(
    connection: Connection, socket_: socket.socket, trust: ssl.SSLContext | None, host: str, moments: Moments | None
) -> None:
    loop = asyncio.get_running_loop()
    if trust is None:
        await loop.create_connection(lambda: connection, sock=socket_)
        return
    moments = moments or Moments()
    moments.securing = time.monotonic()
    await loop.create_connection(
        lambda: connection, sock=socket_, ssl=trust, server_hostname=host, ssl_handshake_timeout=_NEVER_S
    )
    moments.secured = time.monotonic()


async def _through(
    connection: Connection,
    socket_: socket.socket,
    origin: Origin,
    proxy: Proxy,
    trust: ssl.SSLContext,
    moments: Moments,
) -> None:
    await _adopt(connection, socket_, trust if proxy.tls else None, proxy.host, None)
    if not origin.tls:
        return
    connection.send(request.tunnel(origin, proxy))
    await _let_through(connection)
    moments.securing = time.monotonic()
    secured = await asyncio.get_running_loop().start_tls(
        connection.transport, connection, trust, server_hostname=origin.host, ssl_handshake_timeout=_NEVER_S
    )
    connection.moved(cast("asyncio.Transport", secured))
    moments.secured = time.monotonic()


async def _let_through(connection: Connection) -> None:
    """Wait for a proxy's word that the tunnel is there. Raises ProxyError where it refuses."""
    said = b""
    while b"\r\n\r\n" not in said:
        got = await connection.read()
        said += got.data if got else b""
        if got is None or len(said) > _MOST_SAID:
            raise BrokenHttpError("a proxy's answer was cut off")
    response = Response()
    response.feed(said)
    if not 200 <= response.status < 300:
        raise ProxyError("a proxy gave no tunnel")
