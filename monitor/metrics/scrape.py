"""Answers scrapes in small steps, so that thousands of series hold nobody up."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, groupby

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from monitor.metrics.family import Family, Registry

_Encode = Callable[[Collector], bytes]
_END = b"# EOF\n"
# Working for longer than this gives the loop its turn; each turn has a price, so not after each piece.
BREATH_S = 0.0005


class Scrape:
    """An ASGI app that renders a registry in the text format or in OpenMetrics, whichever is asked for.

    What it shows is what the Python client would, to the letter. Families of ours are rendered in the loop, which has
    its turn every half a millisecond; what they show is of one moment, so that no share exceeds the whole. Other
    collectors are read in a thread: the process's counts its open files, which takes long where thousands are.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrape")
        self._one = asyncio.Lock()  # a moment is that of one scrape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one scrape."""
        encode, kind = choose_encoder(Headers(scope=scope).get("accept", ""))
        openmetrics = kind.startswith("application/openmetrics-text")
        async with self._one:
            pieces = [piece async for piece in self._pieces(encode, openmetrics=openmetrics) if piece]
        # Never compressed: that would take longer than rendering.
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % sum(map(len, pieces)))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for piece in pieces:  # waits for the network now and then
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _pieces(self, encode: _Encode, *, openmetrics: bool) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        since = time.perf_counter()
        self._registry.take()
        for ours, collectors in groupby(self._registry.collectors, lambda one: isinstance(one, Family)):
            if not ours:
                yield await loop.run_in_executor(self._thread, _encoded, encode, list(collectors))
                continue
            for family in collectors:
                assert isinstance(family, Family)
                for piece in family.pieces(openmetrics=openmetrics):
                    yield piece
                    if time.perf_counter() - since > BREATH_S:
                        await asyncio.sleep(0)
                        since = time.perf_counter()
        if openmetrics:
            yield _END


def _encoded(encode: _Encode, collectors: Iterable[Collector]) -> bytes:
    return encode(_Some(chain.from_iterable(one.collect() for one in collectors))).removesuffix(_END)


class _Some(Collector):
    """These metrics alone."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics
