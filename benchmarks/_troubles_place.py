"""A service made ready for trouble: a circuit that is open, one that is closed again, and a load."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks._service import WELL, Service, service
from benchmarks._steady_load import Load, Reporting
from breaker import circuit as circuits
from breaker.circuit import Circuit, State
from breaker.store.redis import RedisStore
from tests.store_troubles import MOVED, Place

# The first stays open through all, the second was open and is closed again, the others have never moved.
OPEN, CLOSED = "first/m", "second/m"
CALM = (MOVED, *(f"p{number}/m" for number in range(1, 6)))
NAMES = (OPEN, CLOSED, *CALM)
# Bad news of the second from before it closed come beside good news of the others.
REPORTED = (*CALM, *CALM[:3], CLOSED)
_ILL = {OPEN: "http_error,status=500", CLOSED: "http_error,status=401"}
_POLICY = "{interval_s: 5, jitter_s: 0.2, confirm_s: 0.3, half_open_s: 1}"


@dataclass(frozen=True)
class Serving:
    """A service that runs, with a load that has begun; `opened` is the first circuit as it was then."""

    service: Service
    load: Load
    opened: Circuit


@contextlib.asynccontextmanager
async def serving(place: Place, folder: Path) -> AsyncIterator[Serving]:
    """The service over a store, asked by a load; the store was put by while the second circuit was open."""
    behaviours = {name: _ILL.get(name, WELL) for name in NAMES}
    async with service(folder, place.url, behaviours, _POLICY) as ours:
        await _until(place, OPEN, State.OPEN)
        await _until(place, CLOSED, State.OPEN)
        await place.remember()
        await ours.behave(CLOSED, WELL)
        await _until(place, CLOSED, State.CLOSED)
        since = time.monotonic()
        load = Load(ours.port, Reporting(REPORTED, lambda target: _facts(target, since)))
        running = asyncio.create_task(load.run())
        try:
            yield Serving(ours, load, (await circuits_of(place))[OPEN])
        finally:
            await load.close()
            await running


async def circuits_of(place: Place) -> dict[str, Circuit]:
    """The circuits as they are in the store."""
    store = RedisStore.from_url(place.behind, limit_s=5)
    try:
        found, _ = await store.circuits(NAMES)
    finally:
        await store.close()
    return found


def _facts(target: str, since: float) -> dict[str, object]:
    """A report as an agent sends it; what is said of the second target began before its circuit closed."""
    facts: dict[str, object] = {"ended": "complete", "seconds": 0.1, "streamed": False}
    if target == CLOSED:
        return facts | {"status": 500, "age_s": time.monotonic() - since + 10.0}
    return facts | {"status": 200, "first_byte_s": 0.05, "text_chars": 5}


async def _until(place: Place, name: str, wanted: State) -> None:
    async with asyncio.timeout(30):
        while circuits.state((await circuits_of(place))[name], time.time()) is not wanted:  # noqa: ASYNC110 # it moves elsewhere
            await asyncio.sleep(0.05)
