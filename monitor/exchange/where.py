"""Says where a request goes: the origin of its URL, and the proxy in front of it."""

import base64
import logging
from functools import lru_cache
from typing import NamedTuple

import httpx

from breaker.logged import PROBE_UNFIT
from monitor.exchange.errors import ExchangeError, ProxyError

_log = logging.getLogger(__name__)

_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """A server: `host` as it is looked up, an IPv6 number without brackets; `netloc` as a request names it."""

    tls: bool
    host: str
    port: int
    netloc: str

    @property
    def authority(self) -> str:
        """Host and port, as a tunnel is asked for."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Proxy(NamedTuple):
    """A proxy that speaks HTTP; `authorization` is the header's value, None for none."""

    tls: bool
    host: str
    port: int
    authorization: str | None


@lru_cache(maxsize=1024)
def origin_of(url: str) -> tuple[Origin, str]:
    """A URL's server, and what a request asks it for. Raises ExchangeError."""
    parts = _parse(url)
    return _origin(parts), parts.raw_path.decode("ascii")


def _parse(url: str) -> httpx.URL:
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        raise ExchangeError("not a URL") from None
    if parts.scheme not in _PORTS or not parts.raw_host:
        raise ExchangeError("not the URL of a web server")
    return parts


def _origin(parts: httpx.URL) -> Origin:
    host = parts.raw_host.decode("ascii")
    port = parts.port or _PORTS[parts.scheme]
    return Origin(parts.scheme == "https", host, port, parts.netloc.decode("ascii"))


@lru_cache(maxsize=64)
def proxy_of(url: str) -> Proxy:
    """The proxy that the environment names. Raises ProxyError for one that isn't spoken to by HTTP."""
    try:
        parts = _parse(url)
    except ExchangeError:
        _log.warning(
            "the environment's proxy is none that probes can use: only http:// and https:// are", extra=PROBE_UNFIT()
        )
        raise ProxyError("not a proxy for HTTP") from None
    origin = _origin(parts)
    said = f"{parts.username}:{parts.password}"
    authorization = "Basic " + base64.b64encode(said.encode()).decode("ascii") if parts.userinfo else None
    return Proxy(origin.tls, origin.host, origin.port, authorization)
