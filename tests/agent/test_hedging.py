"""A second target beside a slow first: the first that answers well is shown, the other is let go."""

import asyncio

import httpx2
import pytest

from breaker.attempt.pace import LEAST
from breaker.client import Firstbyte
from breaker.client.transport import Limits, Transport
from monitor.simulator import End, Simulator
from tests.agent.faces import STREAMS, Came, Face
from tests.agent.world import FINE, PATIENT, World, ask, awaiting, blocking
from tests.client.serving import nobody

EVERY_STREAM = pytest.mark.parametrize("face", STREAMS, ids=str)
LIMIT_S = 120.0


@pytest.mark.parametrize("behaviour", ["headers_only", "comments_only,every_s=0.05", "stall,tokens=3"])
@EVERY_STREAM
async def test_the_backup_is_asked_beside_a_slow_first(face: Face, behaviour: str) -> None:
    async with Simulator({"a/m": behaviour, "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, PATIENT, hedge_s=0.3)
        async with asyncio.timeout(LIMIT_S):
            asked = await simulator.until("a/m", lambda asked: asked.attempts[0].end is not None)

    assert came.error is None
    assert (came.done["target"], came.done["role"], came.done["attempts"]) == ("b/m", "backup", "2")
    assert asked.attempts[0].end is End.CLIENT_GONE
    assert sorted(world.verdicts) == ["cancelled", "ok"]


@EVERY_STREAM
async def test_one_that_has_lost_is_no_answer_of_a_task(face: Face) -> None:
    async with Simulator({"a/m": "headers_only", "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        with Firstbyte(nobody()) as firstbyte, firstbyte.run() as run:
            await ask(face, world, PATIENT, hedge_s=0.3)
        async with asyncio.timeout(LIMIT_S):
            await simulator.until("a/m", lambda asked: asked.attempts[0].end is not None)

    assert [step.verdict for step in run.journal.known().steps] == ["ok"]
    assert run.decide().completion_allowed


@EVERY_STREAM
async def test_a_quick_first_is_asked_alone(face: Face) -> None:
    async with Simulator({"a/m": FINE, "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, PATIENT, hedge_s=20.0)

        assert simulator.asked("b/m").count == 0

    assert came.done["target"] == "a/m"
    assert world.verdicts == ["ok"]


@EVERY_STREAM
async def test_the_first_may_answer_after_all(face: Face) -> None:
    first = "first_byte_after,after_s=1.0,tokens_per_s=2000,answer_tokens=80"
    async with Simulator({"a/m": first, "b/m": "headers_only"}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, PATIENT, hedge_s=0.2)

    assert came.error is None
    assert came.done["target"] == "a/m"
    assert sorted(world.verdicts) == ["cancelled", "ok"]


@EVERY_STREAM
async def test_where_both_fail_a_third_attempt_is_made(face: Face) -> None:
    first = "never_answers"
    async with Simulator({"a/m": first, "b/m": "http_error,status=503", "c/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, Limits(silence_s=1.0, first_byte_s=0.9), hedge_s=0.2)

    assert came.error is None
    assert came.done["target"] == "c/m"
    assert world.verdicts[-1] == "ok"


@EVERY_STREAM
async def test_a_percentile_of_the_newest_first_bytes_says_when(face: Face) -> None:
    """Twenty-one quick ones, then a silent one: the second target is asked as soon as the quick ones had answered."""
    async with Simulator({"a/m": FINE, "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        client_of = awaiting_client if face.awaits else blocking_client
        came = await client_of(face, world, simulator)

    assert came.error is None
    assert came.done["target"] == "b/m"


async def awaiting_client(face: Face, world: World, simulator: Simulator) -> Came:
    async with httpx2.AsyncClient(transport=awaiting(world, PATIENT, hedge_percentile=90.0)) as client:
        for _ in range(LEAST + 1):
            await face.wait(client)
        await simulator.set("a/m", "never_answers")
        return await face.wait(client)


async def blocking_client(face: Face, world: World, simulator: Simulator) -> Came:
    with httpx2.Client(transport=blocking(world, PATIENT, hedge_percentile=90.0)) as client:
        for _ in range(LEAST + 1):
            await asyncio.to_thread(face.block, client)
        await simulator.set("a/m", "never_answers")
        return await asyncio.to_thread(face.block, client)


@pytest.mark.parametrize("share", [0.0, 100.0, float("nan")])
def test_a_percentile_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="hedge_percentile"):
        Transport(hedge_percentile=share)
