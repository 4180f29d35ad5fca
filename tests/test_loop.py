"""The loop that the service runs on."""

import asyncio
import gc
import resource
import sys

import pytest
import uvloop

from monitor.aside import TURN_S, aside
from monitor.loop import until_done


def test_the_service_runs_on_uvloop_with_all_the_connections_that_may_be_had() -> None:
    async def work() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert isinstance(until_done(work()), uvloop.Loop)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == hard


def test_garbage_is_collected_less_often_while_it_runs() -> None:
    async def work() -> tuple[int, ...]:
        return gc.get_threshold()

    before = gc.get_threshold()

    assert until_done(work())[0] > before[0]
    assert gc.get_threshold() == before


def test_a_thread_that_works_aside_leaves_others_their_turns_and_all_as_it_was() -> None:
    before = sys.getswitchinterval()
    with aside():
        meanwhile = sys.getswitchinterval(), gc.isenabled()

    assert meanwhile == (TURN_S, False)
    assert (sys.getswitchinterval(), gc.isenabled()) == (before, True)


def test_what_the_work_raises_comes_through() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        until_done(work())
