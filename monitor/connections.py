"""Hands out HTTP clients: a new one for each probe, or one for each provider that is kept."""

import contextlib
import ssl
from collections.abc import AsyncIterator
from functools import cache

import anyio.lowlevel
import httpx

from monitor.settings import TargetPlan

# A kept connection outlives a pause between two probes; if its server closes it earlier, that is noticed.
KEEPALIVE_S = 300.0
KEPT_PER_PROVIDER = 32


@cache
def _trust() -> ssl.SSLContext:
    """One for all: building it costs 15 ms in which our loop stands still."""
    return httpx.create_ssl_context()


class Connections:
    """Clients for probes. Close it with `aclose` when no probe runs any more.

    Proxies and certificates are those of the environment (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`), as an agent's
    own client on the same machine has them. There is no limit on connections, since a request that waits for a place
    would have the wait counted as the provider's.
    """

    def __init__(self) -> None:
        self._kept: dict[str, httpx.AsyncClient] = {}

    @contextlib.asynccontextmanager
    async def client(self, plan: TargetPlan) -> AsyncIterator[httpx.AsyncClient]:
        """The client for one probe of a target."""
        # httpx loads its way into the event loop at the first use, 0.1 s that would be counted as the provider's.
        await anyio.lowlevel.checkpoint()
        if plan.probe.fresh_connection:
            async with _client(keep=0) as client:
                yield client
        else:
            name = plan.target.provider.name
            if name not in self._kept:
                self._kept[name] = _client(keep=KEPT_PER_PROVIDER)
            yield self._kept[name]

    async def aclose(self) -> None:
        """Close what is kept. May be called twice."""
        while self._kept:
            _, client = self._kept.popitem()
            await client.aclose()


def _client(*, keep: int) -> httpx.AsyncClient:
    # HTTP/2 is left off: with it an upload of this size took 200 ms longer, on a loopback with haproxy 2.6.
    return httpx.AsyncClient(
        verify=_trust(),
        timeout=None,  # noqa: S113 # the probe has its own limits on silence
        follow_redirects=False,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=keep, keepalive_expiry=KEEPALIVE_S),
    )
