"""A service with 100 targets that is asked at a steady pace, scraped in every other phase and left alone in between."""

import asyncio
import json
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._scrapes_held import ACCEPT
from benchmarks._service import Service, said, service
from benchmarks._steady_load import Asked, Load, between
from breaker.log import Entry
from breaker.store.redis import RedisStore
from tests.store_server import StoreServer

# A first byte that comes late enough for a scrape to fall between it and the request.
_BEHAVIOUR = "healthy,first_byte_s=0.3,spread=0,headers_s=0.3,tokens_per_s=2000"
_INTERVAL_S = 2.0
_POLICY = f"{{interval_s: {_INTERVAL_S:g}, jitter_s: 0.5, half_open_s: 1}}"
# Between two phases, so that nothing of the one reaches into the other.
_PAUSE_S = 0.4
# All targets have been probed, and all that is loaded at its first use is there.
_WARM_S = 2 * _INTERVAL_S
# A request is an attempt's if it began so close to it; probes of one target are further apart.
_CLOSE_S = 0.5
_PROVIDER = re.compile(r'[{,]provider="([^"]*)"')
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass
class Arm:
    """What each phase of a kind saw of requests on /route, and by how many ms first bytes were off in all of them."""

    routes: list[list[Asked]] = field(default_factory=list)
    off_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """Both kinds of phases, the most series that a target has, and how long each scrape took."""

    alone: Arm
    scraped: Arm
    series: int
    took_ms: Sequence[float]


async def measure(
    folder: Path, server: StoreServer, targets: int, phases: int, seconds: float, every_s: float
) -> Found:
    """So many phases of each kind, in turn; a scrape each `every_s` in those that are scraped."""
    names = [f"p{number}/m" for number in range(targets)]
    async with service(folder, server.url, dict.fromkeys(names, _BEHAVIOUR), _POLICY) as ours:
        load, scraper = Load(ours.port), Scraper(ours.port)
        running = asyncio.create_task(load.run())
        try:
            await asyncio.sleep(_WARM_S)
            spans = [await _phase(scraper, seconds, every_s if number % 2 else None) for number in range(2 * phases)]
        finally:
            await load.close()
            await running
        probes = await _probes(ours, server, names)
        text = await asyncio.to_thread(said, f"{ours.url}/metrics")
    arms = Arm(), Arm()
    for number, (begin, end, began, ended) in enumerate(spans):
        arms[number % 2].routes.append(between(load.routes, begin, end))
        arms[number % 2].off_ms += [off for at, off in probes if began <= at < ended]
    return Found(*arms, series=_series(text), took_ms=scraper.took_ms)


async def _phase(scraper: "Scraper", seconds: float, every_s: float | None) -> tuple[float, float, float, float]:
    """When it began and ended: by the performance counter, and by the clock."""
    begin, began = time.perf_counter(), time.time()
    while (left := begin + seconds - time.perf_counter()) > 0:
        if every_s is None:
            await asyncio.sleep(left)
        else:
            await asyncio.gather(scraper.scrape(), asyncio.sleep(min(left, every_s)))
    end, ended = time.perf_counter(), time.time()
    await asyncio.sleep(_PAUSE_S)
    return begin, end, began, ended


async def _probes(ours: Service, server: StoreServer, names: Sequence[str]) -> list[tuple[float, float]]:
    """When each probe began, and how many milliseconds its first byte in the store is off from the provider's own."""
    store, found = RedisStore.from_url(server.url, limit_s=5), []
    try:
        for name in names:
            text = await asyncio.to_thread(said, f"{ours.control}?target={name}")
            found += _pairs((await store.look(name)).log.probes, json.loads(text)["asked"]["attempts"])
    finally:
        await store.close()
    return found


def _pairs(entries: Sequence[Entry], attempts: Sequence[dict[str, float]]) -> list[tuple[float, float]]:
    begun, found = [one["asked_time"] for one in attempts], []
    for entry in entries:
        place = bisect_left(begun, entry.began - _CLOSE_S)
        if entry.answer.first_byte_s is None or place == len(begun) or begun[place] > entry.began + _CLOSE_S:
            continue
        true_s = attempts[place]["first_byte_s"]
        found.append((entry.began, 1e3 * (entry.answer.first_byte_s - true_s)))
    return found


def _series(text: str) -> int:
    """The most that any one target has."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return max(Counter(found[1] for line in lines if (found := _PROVIDER.search(line))).values())


class Scraper:
    """Scrapes as Prometheus does, and throws away what it gets: reading it would disturb the load beside it."""

    def __init__(self, port: int) -> None:
        self.took_ms: list[float] = []
        self._port = port
        self._question = f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {ACCEPT}\r\n\r\n".encode()

    async def scrape(self) -> None:
        """Once."""
        began = time.perf_counter()
        transport, reading = await asyncio.get_running_loop().create_connection(_Reading, "127.0.0.1", self._port)
        try:
            transport.write(self._question)
            async with asyncio.timeout(10):
                await reading.whole.wait()
        finally:
            transport.close()
        self.took_ms.append(1e3 * (time.perf_counter() - began))


class _Reading(asyncio.Protocol):
    def __init__(self) -> None:
        self.whole = asyncio.Event()
        self._left: int | None = None

    def data_received(self, data: bytes) -> None:
        if self._left is None:
            head, _, data = data.partition(b"\r\n\r\n")
            found = _LENGTH.search(head)
            assert found is not None, head
            assert head.startswith(b"HTTP/1.1 200"), head
            self._left = int(found[1])
        self._left -= len(data)
        if self._left <= 0:
            self.whole.set()
