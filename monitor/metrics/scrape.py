"""Answers scrapes from a thread, so that thousands of series hold nobody up."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from monitor.aside import aside


class Scrape:
    """An ASGI app that renders a registry in the text format or in OpenMetrics, whichever is asked for.

    One thread renders, so scrapes that come together wait for one another. Collectors are read in that thread.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrape")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one scrape."""
        encode, kind = choose_encoder(Headers(scope=scope).get("accept", ""))
        loop = asyncio.get_running_loop()
        # Never compressed: that would take longer than rendering.
        body = await loop.run_in_executor(self._thread, _rendered, encode, self._registry)
        await Response(body, headers={"content-type": kind})(scope, receive, send)


def _rendered(encode: Callable[[CollectorRegistry], bytes], registry: CollectorRegistry) -> bytes:
    with aside():  # a scrape leaves no garbage
        return encode(registry)
