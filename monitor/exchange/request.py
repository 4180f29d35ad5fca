"""Writes requests as HTTP/1.1 sends them."""

import json
from collections.abc import Mapping

from monitor.exchange.where import Origin, Proxy


def post(origin: Origin, path: str, headers: Mapping[str, str], body: object) -> bytes:
    """A POST of JSON, head and body. The headers' values must be printable ASCII."""
    # The bytes that httpx sends for the same body, so that a probe is as large as an agent's request.
    sent = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    own = {
        "host": origin.netloc,
        "accept": "*/*",
        "connection": "keep-alive",
        "content-type": "application/json",
        "content-length": str(len(sent)),
    }
    return _head(f"POST {path} HTTP/1.1", {**own, **headers}) + sent


def tunnel(origin: Origin, proxy: Proxy) -> bytes:
    """What asks a proxy for a tunnel to a server."""
    own = {"host": origin.authority, "accept": "*/*", **proxy_headers(proxy)}
    return _head(f"CONNECT {origin.authority} HTTP/1.1", own)


def proxy_headers(proxy: Proxy) -> dict[str, str]:
    """What a proxy wants to know of us."""
    return {} if proxy.authorization is None else {"proxy-authorization": proxy.authorization}


def _head(first: str, headers: Mapping[str, str]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("ascii")
