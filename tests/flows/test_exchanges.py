"""Every recorded exchange met on a real socket: what is said of it there is what is said of its record."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import sdks
from breaker.answer import Answer, Ended, Source
from breaker.exchange import PLAYED, Exchange, play
from breaker.policy import Policy
from breaker.target import Provider, Target
from breaker.verdict import Blame
from breaker.wire import READERS
from monitor.lag import LoopLag
from monitor.probe import probe
from monitor.settings import TargetPlan
from monitor.simulator import Simulator
from tests.flows import sockets

CASES = Path(__file__).parents[1] / "cases"

every_wire = pytest.mark.parametrize("wire", READERS)


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    """The project's own exchanges."""
    return [exchange for path in sorted(CASES.glob("*.jsonl")) for exchange in sockets.read(path)]


@every_wire
async def test_an_exchange_on_a_socket_is_judged_as_its_record_is(exchanges: list[Exchange], wire: str) -> None:
    asked = [exchange for exchange in exchanges if exchange.wire == wire]

    assert await sockets.misses(asked) == {}
    assert len(asked) > 20


@every_wire
async def test_a_probe_that_meets_an_exchange_finds_what_its_record_says(exchanges: list[Exchange], wire: str) -> None:
    asked = [exchange for exchange in exchanges if exchange.wire == wire and _probable(exchange)]
    found = dict(zip((exchange.id for exchange in asked), await _probed(asked), strict=True))
    records = {exchange.id: sockets.facts_of(_of_nobody(play(exchange).answer)) for exchange in asked}

    assert {name: sockets.facts_of(_of_nobody(answer)) for name, answer in found.items()} == records
    assert len(asked) > 20


def test_the_page_of_the_sdks_shows_failures_and_good_answers_as_such(exchanges: list[Exchange]) -> None:
    blames = {exchange.id: play(exchange).judgement.blame for exchange in exchanges}

    assert [name for name in sdks.FAILURES if blames[name] is not Blame.PROVIDER_FAILURE] == []
    assert [name for name in sdks.LOOK_ALIKES if blames[name] is not Blame.OK] == []


def _probable(exchange: Exchange) -> bool:
    """Whether a probe can meet it: a probe streams, and has a patience of its own."""
    return exchange.streamed and exchange.ended is not Ended.SILENCE


def _of_nobody(answer: Answer) -> Answer:
    """An answer without what only its asker knows."""
    whose = {"target": PLAYED, "id": PLAYED, "source": Source.REPORT, "suspect_timing": False, "age_s": None}
    size = {"prompt_bytes": None, "tools": None, "max_tokens": None, "marks_sent": None, "marks_returned": None}
    return replace(answer, **whose, **size)  # type: ignore[arg-type] # each is of its fact's kind


async def _probed(exchanges: list[Exchange]) -> list[Answer]:
    turns = asyncio.Semaphore(8)

    async def ask(exchange: Exchange, place: int) -> Answer:
        target = Target(provider=Provider(name="p", base_url=base_url, wire=exchange.wire), model=f"m{place}")
        plan = TargetPlan(target=target, policy=Policy())
        async with turns, asyncio.timeout(sockets.LIMIT_S):
            return await probe(plan, None, chance=random.Random(place), lag=lag, late=_late)

    targets = {f"p/m{place}": exchange for place, exchange in enumerate(exchanges)}
    async with Simulator(targets, speed=sockets.SPEED) as simulator, LoopLag() as lag:
        base_url = simulator.base_url("p")
        return await asyncio.gather(*map(ask, exchanges, range(len(exchanges))))


async def _late(answer: Answer) -> None:
    raise AssertionError(answer)
