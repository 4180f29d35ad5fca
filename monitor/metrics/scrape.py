"""Answers scrapes from a thread, so that thousands of series hold nobody up."""

import asyncio
import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

# While a scrape is rendered the loop gets its turn within this; Python's own 5 ms would show in what probes measure.
TURN_S = 0.0005


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
    with _aside():
        return encode(registry)


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    """Let other threads have their turns soon, and no collection of garbage stop all of them: a scrape leaves none."""
    usual_s, collecting = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(TURN_S)
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(usual_s)
        if collecting:
            gc.enable()
