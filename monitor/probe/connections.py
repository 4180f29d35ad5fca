"""Asks targets over a new connection for each probe, or over those that are kept for each provider."""

import contextlib
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from functools import cache

import httpx

from breaker.target import Provider
from breaker.wire.question import Request
from monitor.exchange.errors import BrokenHttpError
from monitor.exchange.exchange import Exchange
from monitor.exchange.opening import open_connection
from monitor.exchange.phases import Moments
from monitor.exchange.pool import Pool
from monitor.exchange.request import post, proxy_headers
from monitor.exchange.where import Origin, Proxy, origin_of, proxy_of
from monitor.network.ways import Proxies
from monitor.probe.turns import Turns
from monitor.settings import TargetPlan


@cache
def _trust() -> ssl.SSLContext:
    """One for all: building it costs 15 ms in which our loop stands still."""
    context = httpx.create_ssl_context()
    # HTTP/2 is left off: with it an upload of this size took 200 ms longer, on a loopback with haproxy 2.6.
    context.set_alpn_protocols(["http/1.1"])
    return context


class Connections:
    """Connections for probes. Close it with `aclose` when no probe runs any more.

    Proxies and certificates are those of the environment (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`), as an agent's
    own client on the same machine has them. There is no limit on connections, since a request that waits for a place
    would have the wait counted as the provider's. `turns` are taken by work that can wait, so that all who share these
    connections have their bytes stamped in time.
    """

    def __init__(self) -> None:
        self.turns = Turns()
        self._proxies = Proxies()
        self._kept: defaultdict[str, Pool] = defaultdict(Pool)

    @contextlib.asynccontextmanager
    async def ask(
        self, plan: TargetPlan, asked: Request, headers: Mapping[str, str], moments: Moments
    ) -> AsyncIterator[Exchange]:
        """A request to a target whose response has begun; `headers` are sent besides the request's own.

        Raises OSError or ExchangeError. The connection is closed at the end, or kept where the plan wants that.
        """
        provider, fresh = plan.target.provider, plan.probe.fresh_connection
        origin, path = origin_of(provider.base_url + asked.path)
        proxy = self._proxy(provider)
        request = _written(origin, path, asked, headers, proxy)
        exchange = None if fresh else await self._ask_kept(provider, request, moments)
        if exchange is None:
            connection = await open_connection(origin, proxy, _trust(), moments)
            exchange = await _begun(Exchange(connection), request, moments)
        try:
            yield exchange
        finally:
            if exchange.reusable and not fresh:
                await self._kept[_name(provider)].put(exchange.connection)
            else:
                await exchange.connection.aclose()

    async def aclose(self) -> None:
        """Close what is kept. May be called twice."""
        while self._kept:
            await self._kept.popitem()[1].aclose()

    def _proxy(self, provider: Provider) -> Proxy | None:
        url = self._proxies.url_before(provider)
        return None if url is None else proxy_of(url)

    async def _ask_kept(self, provider: Provider, request: bytes, moments: Moments) -> Exchange | None:
        """The exchange over a kept connection; None where there is none that is open.

        One that its server closed while it was idle says nothing about the provider, even if that shows only now.
        """
        connection = await self._kept[_name(provider)].take()
        if connection is None:
            return None
        exchange = Exchange(connection)
        try:
            return await _begun(exchange, request, moments)
        except (OSError, BrokenHttpError):
            if exchange.heard:
                raise
            return None


def _name(provider: Provider) -> str:
    """Under which its connections are kept: a provider may move while we run."""
    return f"{provider.name} {provider.base_url}"


async def _begun(exchange: Exchange, request: bytes, moments: Moments) -> Exchange:
    """The exchange once the head of its response is there; where that fails, the connection is closed."""
    try:
        await exchange.ask(request, moments)
    except BaseException:
        await exchange.connection.aclose()
        raise
    return exchange


def _written(origin: Origin, path: str, asked: Request, headers: Mapping[str, str], proxy: Proxy | None) -> bytes:
    said = {**asked.headers, **headers}
    if proxy is None or origin.tls:
        return post(origin, path, said, asked.body)
    return post(origin, f"http://{origin.netloc}{path}", {**said, **proxy_headers(proxy)}, asked.body)
