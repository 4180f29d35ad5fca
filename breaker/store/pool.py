"""Connections that keep our limits: no retries, no waits of their own, one TLS context for all."""

import contextlib
from pathlib import Path
from typing import Self, cast
from urllib.parse import unquote, urlsplit

from redis import exceptions
from redis.asyncio import ConnectionPool, SSLConnection
from redis.asyncio.connection import AbstractConnection, RedisSSLContext
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from breaker.errors import CertificatesError, StoreError


class Pool(ConnectionPool):
    """Connections to one server, made when they are needed.

    Over TLS they share a context, which is made at once: reading a system's certificates takes longer than a call may.
    """

    tls: RedisSSLContext | None = None
    _closed = False

    @classmethod
    def at(cls, url: str, *, connections: int, limit_s: float, like: "Pool | None" = None) -> Self:
        """Connections to a redis://, rediss:// or unix:// URL. Raises StoreError for one that can't be used.

        Those that are `like` others have read their certificates already.
        """
        try:
            pool = cls.from_url(
                url,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=None,
                socket_connect_timeout=limit_s,
                health_check_interval=0,
                decode_responses=True,
                encoding_errors="replace",
                protocol=2,
            )
            # The URL's options win over ours; this one must not.
            pool.max_connections = connections
            pool.prepare(like)
        except (ValueError, TypeError, AttributeError):
            # The library's own words quote the URL, and a URL may hold a password.
            raise StoreError("the store's URL can't be read, or an option behind its ? isn't known") from None
        except (OSError, exceptions.RedisError) as error:
            said = getattr(error, "strerror", None) or ", ".join(map(str, error.args))
            raise CertificatesError(said) from None
        return pool

    @property
    def database(self) -> int:
        """The number of the database that is used there."""
        return int(self.connection_kwargs.get("db") or 0)

    def make_connection(self) -> AbstractConnection:
        """A connection that isn't connected yet."""
        made: AbstractConnection = super().make_connection()  # type: ignore[no-untyped-call] # redis-py leaves it untyped
        if isinstance(made, SSLConnection) and self.tls is not None:
            made.ssl_context = self.tls
        return made

    async def get_connection(self, *args: object, **kwargs: object) -> AbstractConnection:
        """A connection that is connected. Raises redis' ConnectionError once the pool is closed."""
        if self._closed:
            raise exceptions.ConnectionError("closed")
        found = await super().get_connection(*args, **kwargs)  # type: ignore[no-untyped-call] # redis-py leaves it untyped
        return cast("AbstractConnection", found)

    async def release(self, connection: AbstractConnection) -> None:
        """Take a connection back; one that was still connecting when the pool was closed is closed now."""
        if self._closed:
            await connection.disconnect(nowait=True)
        await super().release(connection)

    async def close_at_once(self) -> None:
        """Close every connection, in use or not, for good, without waiting for the other side."""
        self._closed = True
        for made in (*self._available_connections, *self._in_use_connections):
            with contextlib.suppress(exceptions.RedisError, OSError):
                await made.disconnect(nowait=True)

    def prepare(self, like: "Pool | None" = None) -> None:
        """Read certificates, where there are any to be read. Raises OSError."""
        if like is not None:
            self.tls = like.tls
            return
        first = self.make_connection()
        if isinstance(first, SSLConnection):
            if first.ssl_context.ca_path is not None:
                Path(first.ssl_context.ca_path).stat()  # one that isn't there would be taken for an empty one
            first.ssl_context.get()
            self.tls = first.ssl_context


def place_of(url: str) -> str:
    """A URL without its user, password and options, as an error may show it. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return f"unix://{unquote(parts.path)}"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "localhost"
    return f"{parts.scheme}://{host}:{parts.port or 6379}"
