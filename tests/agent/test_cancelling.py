"""A caller that goes away: its provider is told so, and is not blamed."""

import asyncio
import contextlib
import gc
import threading

import anyio
import httpx2
import pytest

from breaker.client.transport import AsyncTransport, Limits
from monitor.simulator import End, Simulator
from tests.agent.faces import HELLO, NOWHERE
from tests.agent.world import World, awaiting, blocking
from tests.service import until

URL = f"{NOWHERE}/chat/completions"
BODY = {"model": "any", "messages": HELLO, "stream": True}
FLOW = "flow,seconds=60,first_byte_s=0.02,spread=0,tokens_per_s=500"
LIMIT_S = 120.0


async def ended(simulator: Simulator, target: str) -> End | None:
    async with asyncio.timeout(LIMIT_S):
        asked = await simulator.until(target, lambda asked: bool(asked.attempts) and asked.attempts[0].end is not None)
    return asked.attempts[0].end


@pytest.mark.parametrize("behaviour", ["headers_only", "never_answers", "stall,tokens=3"])
async def test_an_awaited_step_that_is_cancelled_ends_at_once(behaviour: str) -> None:
    async with Simulator({"a/m": behaviour}, seed=1) as simulator:
        world = World(simulator)
        async with httpx2.AsyncClient(transport=awaiting(world)) as client:
            asking = asyncio.create_task(client.post(URL, json=BODY))
            await simulator.until_asked("a/m", 1)
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
            assert await ended(simulator, "a/m") is End.CLIENT_GONE

    assert world.verdicts == ["cancelled"]


async def test_a_limit_of_the_callers_own_is_a_cancellation() -> None:
    async with Simulator({"a/m": "headers_only"}, seed=1) as simulator:
        world = World(simulator)
        async with httpx2.AsyncClient(transport=awaiting(world)) as client:
            with anyio.move_on_after(0.2):
                await client.post(URL, json=BODY)

    assert world.verdicts == ["cancelled"]


async def test_a_caller_that_goes_late_has_seen_a_late_first_byte() -> None:
    async with Simulator({"a/m": "headers_only"}, seed=1) as simulator:
        world = World(simulator)
        limits = Limits(attempts=1, first_byte_s=0.1)
        async with httpx2.AsyncClient(transport=awaiting(world, limits)) as client:
            asking = asyncio.create_task(client.post(URL, json=BODY))
            await until(lambda: bool(world.reports), within_s=LIMIT_S, what="a report")
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking

    assert world.verdicts == ["pending", "cancelled"]


async def test_an_awaited_stream_that_is_left_ends_at_once() -> None:
    async with Simulator({"a/m": FLOW}, seed=1) as simulator:
        world = World(simulator)
        async with httpx2.AsyncClient(transport=awaiting(world)) as client:
            async with client.stream("POST", URL, json=BODY) as response:
                async for _ in response.aiter_bytes():
                    break
            assert await ended(simulator, "a/m") is End.CLIENT_GONE

    assert world.verdicts == ["cancelled"]
    assert world.reports[0].first_byte_s is not None


async def test_a_stream_of_a_caller_that_blocks_and_leaves_ends_at_once() -> None:
    def leave() -> None:
        with httpx2.Client(transport=blocking(world)) as client:
            with client.stream("POST", URL, json=BODY) as response:
                for _ in response.iter_bytes():
                    break
            left.set()
            assert closed.wait(LIMIT_S)

    left, closed = threading.Event(), threading.Event()
    async with Simulator({"a/m": FLOW}, seed=1) as simulator:
        world = World(simulator)
        leaving = asyncio.create_task(asyncio.to_thread(leave))
        assert await ended(simulator, "a/m") is End.CLIENT_GONE
        closed.set()
        await leaving

    assert world.verdicts == ["cancelled"]


async def test_who_closes_the_client_under_a_stream_is_told_so_and_the_provider_is_not_blamed() -> None:
    async with Simulator({"a/m": FLOW}, seed=1) as simulator:
        world = World(simulator)
        client = httpx2.AsyncClient(transport=awaiting(world))
        response = await client.send(client.build_request("POST", URL, json=BODY), stream=True)
        pieces = response.aiter_bytes()
        await anext(pieces)
        await client.aclose()
        with pytest.raises(httpx2.TransportError):
            async for _ in pieces:
                pass

    assert world.verdicts == ["cancelled"]


async def test_a_response_that_is_dropped_unread_is_reported_all_the_same() -> None:
    async with Simulator({"a/m": FLOW}, seed=1) as simulator:
        world = World(simulator)
        async with httpx2.AsyncClient(transport=awaiting(world)) as client:
            # What the loop is told of is that the connection's own parts are collected all at once.
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            await client.send(client.build_request("POST", URL, json=BODY), stream=True)
            gc.collect()
            await ended(simulator, "a/m")

    assert world.verdicts == ["cancelled"]


async def test_a_caller_that_leaves_at_the_end_mark_has_had_a_whole_answer() -> None:
    """So do the SDKs, which close a stream at its end mark."""
    fine = "healthy,first_byte_s=0.02,spread=0,tokens_per_s=2000,answer_tokens=100"
    async with Simulator({"a/m": fine}, seed=1) as simulator:
        world = World(simulator)
        async with (
            httpx2.AsyncClient(transport=awaiting(world)) as client,
            client.stream("POST", URL, json=BODY) as response,
        ):
            async for piece in response.aiter_bytes():
                if b"[DONE]" in piece:
                    break

    assert world.verdicts == ["ok"]


async def test_a_fault_of_the_callers_own_side_is_its_own_and_nobodys_else() -> None:
    """The pool has no connection left: the provider has not even been asked."""
    limits, timeout = httpx2.Limits(max_connections=1), httpx2.Timeout(5.0, pool=0.1)
    async with Simulator({"a/m": FLOW}, seed=1) as simulator:
        world = World(simulator)
        inner = httpx2.AsyncHTTPTransport(verify=False, limits=limits)
        transport = AsyncTransport(inner, guide=world)
        async with (
            httpx2.AsyncClient(transport=transport, timeout=timeout) as client,
            client.stream("POST", URL, json=BODY),
        ):
            with pytest.raises(httpx2.PoolTimeout):
                await client.post(URL, json=BODY)

    assert world.verdicts == ["cancelled", "cancelled"]
