"""What is asked at about the same time is sent together."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from breaker.errors import StoreError, StoreGoneError
from breaker.store.call import Call, command
from breaker.store.together import Together


class Server:
    """Answers each call with its key; holds its answers back while it is shut."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def send(self, calls: Sequence[Call]) -> list[Any]:
        """The keys."""
        self.sent.append([call.key for call in calls])
        await self.open.wait()
        return [StoreError(call.key) if call.key == "bad" else call.key for call in calls]


async def asked(together: Together, *keys: str) -> list[Any]:
    return await asyncio.gather(*(together.ask(command("GET", key)) for key in keys))


async def test_what_is_asked_in_one_turn_is_one_round_trip_and_each_gets_its_own_reply() -> None:
    server = Server()

    replies = await asked(Together(server.send), "a", "bad", "c")

    assert server.sent == [["a", "bad", "c"]]
    assert (replies[0], str(replies[1]), replies[2]) == ("a", "bad", "c")


async def test_what_comes_meanwhile_goes_with_the_next_and_in_its_order() -> None:
    server = Server()
    together = Together(server.send)
    server.open.clear()
    tasks = [asyncio.ensure_future(together.ask(command("GET", "a")))]
    async with asyncio.timeout(60):
        while not server.sent:  # noqa: ASYNC110 # a few turns of the loop
            await asyncio.sleep(0)
        tasks += [asyncio.ensure_future(together.ask(command("GET", str(i)))) for i in range(20)]
        await asyncio.sleep(0)
        server.open.set()
        replies = await asyncio.gather(*tasks)

    assert replies == ["a", *map(str, range(20))]
    assert server.sent == [["a"], [*map(str, range(16))], [*map(str, range(16, 20))]]


async def test_who_no_longer_waits_keeps_nobody_from_a_reply() -> None:
    server = Server()
    together = Together(server.send)
    given_up, patient = (asyncio.ensure_future(together.ask(command("GET", key))) for key in "ab")
    await asyncio.sleep(0)
    given_up.cancel()

    assert await patient == "b"
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert await asked(together, "c") == ["c"]


async def test_those_that_wait_behind_a_silent_server_fail_with_the_others() -> None:
    sent: list[int] = []

    async def silent(calls: Sequence[Call]) -> list[Any]:
        sent.append(len(calls))
        await asyncio.sleep(0)
        return [StoreGoneError("gone")] * len(calls)

    replies = await asked(Together(silent), *(str(number) for number in range(40)))

    assert sent == [16]
    assert [type(reply) for reply in replies] == [StoreGoneError] * 40


async def test_those_behind_one_that_failed_alone_are_sent() -> None:
    async def half(calls: Sequence[Call]) -> list[Any]:
        return [StoreGoneError("gone"), *(call.key for call in calls[1:])]

    replies = await asked(Together(half), *(str(number) for number in range(20)))

    assert [place for place, reply in enumerate(replies) if isinstance(reply, StoreGoneError)] == [0, 16]


async def test_a_fault_of_ours_is_raised_to_those_whose_calls_met_it_and_those_behind_are_sent() -> None:
    async def broken(calls: Sequence[Call]) -> list[Any]:
        await asyncio.sleep(0)
        if any(call.key == "bad" for call in calls):
            raise RuntimeError("not my day")
        return [call.key for call in calls]

    together = Together(broken)
    asking = [asyncio.ensure_future(together.ask(command("GET", key))) for key in ["bad", *map(str, range(20))]]
    await asyncio.sleep(0)
    asking[1].cancel()
    async with asyncio.timeout(60):
        replies = await asyncio.gather(*asking, return_exceptions=True)

    assert [type(reply) for reply in replies[:2]] == [RuntimeError, asyncio.CancelledError]
    assert [type(reply) for reply in replies[2:16]] == [RuntimeError] * 14
    assert replies[16:] == ["15", "16", "17", "18", "19"]
