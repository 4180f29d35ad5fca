"""What counts against a limit, and what doesn't."""

import asyncio
import time

import pytest

from breaker.store.limit import within


async def test_silence_ends_at_the_limit() -> None:
    began = time.monotonic()

    with pytest.raises(TimeoutError):
        async with within(0.05):
            await asyncio.Event().wait()

    assert 0.045 <= time.monotonic() - began < 60


async def test_a_stall_of_our_own_is_excused_once() -> None:
    async with within(0.05):
        time.sleep(0.09)  # noqa: ASYNC251 # the stall
        for _ in range(10):  # without the excuse it would end in the second of these turns
            await asyncio.sleep(0)


async def test_silence_after_a_stall_ends_too() -> None:
    async def call() -> None:
        async with within(0.03):
            time.sleep(0.06)  # noqa: ASYNC251 # the stall
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await call()


async def test_a_cancelled_call_is_cancelled_and_not_timed_out() -> None:
    async def call() -> None:
        async with within(5):
            await asyncio.Event().wait()

    calling = asyncio.ensure_future(call())
    await asyncio.sleep(0)
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
