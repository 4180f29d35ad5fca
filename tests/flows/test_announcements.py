"""Replicas that hear of moves by announcements, which may be lost, and know of them all the same."""

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from pathlib import Path

import httpx

from breaker.api import Access, create_app
from breaker.circuit import Circuit
from breaker.errors import StoreError
from breaker.policy import Policy
from breaker.route import Role, Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Provider, Target
from monitor.settings import TargetPlan
from tests.boards import replica_over
from tests.fixtures import PATIENT_S, folder, own
from tests.forwarder import Forwarder
from tests.service import running, settings
from tests.store_server import StoreServer

__all__ = ["folder", "own"]

TARGETS = tuple(
    Target(provider=Provider(name=name, base_url="http://127.0.0.1:9/v1", wire="openai-chat"), model="m")
    for name in ("first", "second", "third")
)
FIRST = TARGETS[0].name
ROUTE = Route(name="coder", targets=TARGETS)
REPLICAS, MOVES = 4, 120


@contextlib.asynccontextmanager
async def board_over(url: str) -> AsyncIterator[Switchboard]:
    """A replica that nothing keeps fresh."""
    store = RedisStore.from_url(url, limit_s=PATIENT_S)
    try:
        yield replica_over(store, ROUTE, None, None)
    finally:
        await store.close()


@contextlib.asynccontextmanager
async def following(board: Switchboard) -> AsyncIterator[None]:
    """A replica that hears of moves, and reads only after it has subscribed."""

    async def forever() -> None:
        while True:
            with contextlib.suppress(StoreError):
                await board.follow()

    task = asyncio.create_task(forever())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(true: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait for a condition, however slow the machine is."""
    try:
        async with asyncio.timeout(120):
            while not await true():  # noqa: ASYNC110 # other processes set no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"never: {what}") from None


def listeners(server: StoreServer) -> set[str]:
    """The ids of the connections that have subscribed to something, as far as the server knows."""
    with server.raw() as raw:
        return {one["id"] for one in raw.client_list(_type="pubsub")}


async def test_a_move_whose_announcement_is_swallowed_is_known_and_the_next_one_is_heard(
    own: StoreServer, folder: Path
) -> None:
    """The connection for announcements alone is a black hole; all other calls are answered."""
    plans = [TargetPlan(target=target, policy=Policy(probing=False)) for target in TARGETS]
    async with contextlib.AsyncExitStack() as stack:
        way = await stack.enter_async_context(Forwarder(own.socket))
        here = await stack.enter_async_context(board_over(own.url))
        there = await stack.enter_async_context(running(settings(plans, folder / "data", store_url=way.url)))

        async def listens(*, but: Collection[str] = ()) -> bool:
            return bool(await asyncio.to_thread(listeners, own) - set(but))

        async def says(role: Role) -> bool:
            said = await there.route()
            assert said["stale"] is False
            return said["role"] == role.value

        await until(listens, "it has subscribed")
        dead = listeners(own)
        way.deafen()
        await here.hold(FIRST, opened=True, who="ann", why="trial", for_s=600)

        await until(lambda: says(Role.BACKUP), "the move is known")
        await until(lambda: listens(but=dead), "it has subscribed anew")


async def test_what_moves_while_subscriptions_are_cut_is_known_to_all_once_they_are_back(own: StoreServer) -> None:
    """Nobody reads but after subscribing; the moves of four replicas come while connections are killed."""
    chance = random.Random(5)
    heard: list[list[tuple[str, Circuit]]] = [[] for _ in range(REPLICAS)]
    async with contextlib.AsyncExitStack() as stack:
        boards = [await stack.enter_async_context(board_over(own.url)) for _ in range(REPLICAS)]
        for board, seen in zip(boards, heard, strict=True):
            board.watch(lambda name, board=board, seen=seen: seen.append((name, board.standing(name).circuit)))  # type: ignore[misc] # bound here
            await stack.enter_async_context(following(board))
        with own.raw() as raw:
            for _ in range(MOVES):
                target = chance.choice(TARGETS).name
                await chance.choice(boards).hold(
                    target, opened=chance.random() < 0.5, who="ann", why="trial", for_s=600
                )
                if chance.random() < 0.2:
                    raw.client_kill_filter(_type="pubsub")
        kept, _ = await board_circuits(own)

        async def agree() -> bool:
            return all(board.standing(name).circuit == kept[name] for board in boards for name in kept)

        await until(agree, "all know what the store knows")

    assert sum(circuit.generation for circuit in kept.values()) == MOVES
    for seen, each in itertools.product(heard, kept):
        generations = [circuit.generation for name, circuit in seen if name == each]
        assert generations == sorted(set(generations))


async def board_circuits(server: StoreServer) -> tuple[dict[str, Circuit], float]:
    """What the store knows."""
    store = RedisStore.from_url(server.url, limit_s=PATIENT_S)
    try:
        return await store.circuits([target.name for target in TARGETS])
    finally:
        await store.close()


async def test_where_to_go_is_said_without_a_call_of_the_store(own: StoreServer) -> None:
    async with board_over(own.url) as board:
        await board.refresh()
        transport = httpx.ASGITransport(app=create_app(board, access=Access()))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8642") as door:
            with own.raw() as raw:
                before = raw.info("stats")["total_commands_processed"]
                for _ in range(100):
                    assert (await door.get("/route")).status_code == 200

                assert raw.info("stats")["total_commands_processed"] == before + 1  # the question for it
