"""The transport that is used where a caller gives none: direct, or by the proxy that the environment names."""

import os
from collections.abc import Callable
from typing import Any
from urllib.request import getproxies, proxy_bypass


class Outgoing:
    """One transport for each proxy; a client that is given a transport looks at no proxies itself.

    `make` makes one, with the proxy's URL or None. What the environment says is read once. A process that was forked
    makes its own, since two that speak by one connection would read each other's answers.
    """

    def __init__(self, make: Callable[[str | None], Any]) -> None:
        self._make = make
        self._made: dict[str | None, Any] = {}
        self._proxies = getproxies()
        self._process = os.getpid()
        self._left: list[dict[str | None, Any]] = []

    def handle_request(self, request: Any) -> Any:
        """Send by the way that leads to the request's host."""
        return self._to(request.url).handle_request(request)

    async def handle_async_request(self, request: Any) -> Any:
        """Send by the way that leads to the request's host."""
        return await self._to(request.url).handle_async_request(request)

    def close(self) -> None:
        """Close all that were made."""
        for made in self._made.values():
            made.close()

    async def aclose(self) -> None:
        """Close all that were made."""
        for made in self._made.values():
            await made.aclose()

    def _to(self, url: Any) -> Any:
        if self._process != os.getpid():
            self._left.append(self._made)  # collected, it would close what the parent uses
            self._made, self._process = {}, os.getpid()
        proxy = self._proxy(url)
        if proxy not in self._made:
            self._made[proxy] = self._make(proxy)
        return self._made[proxy]

    def _proxy(self, url: Any) -> str | None:
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if not proxy or proxy_bypass(url.host):
            return None
        return proxy if "://" in proxy else f"http://{proxy}"
