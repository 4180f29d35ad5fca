"""GET /route?wait=S: answers that are held back until there is something new."""

import asyncio
import time

import httpx
import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.route import waiting
from breaker.api.route.asked import Asked
from breaker.api.route.desk import Desk
from breaker.switchboard import Switchboard, snapshot
from breaker.switchboard.snapshot import OLD_AFTER_S
from tests.api.lanes import HOST, Counting, served
from tests.api.world import BACKUP, OTHER, PRIMARY, URL


@pytest.fixture
def desk(switchboard: Switchboard, keeping: asyncio.Task[None]) -> Desk:
    return Desk.over(switchboard)


@pytest.fixture
def app(switchboard: Switchboard, desk: Desk) -> FastAPI:
    return create_app(switchboard, access=Access(), desk=desk)


async def ask(door: httpx.AsyncClient, wait: object, tag: str | None = None) -> httpx.Response:
    if tag is None:
        tag = (await door.get("/route?route=coder")).headers["etag"]
    return await door.get("/route", params={"route": "coder", "wait": str(wait)}, headers={"If-None-Match": tag})


async def asleep(desk: Desk, count: int) -> None:
    async with asyncio.timeout(25):
        while len(desk.waiting) != count:  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.005)


async def hold(board: Switchboard, target: str = PRIMARY.name, for_s: float = 60) -> None:
    await board.hold(target, opened=True, who="anna", why="test", for_s=for_s)


async def test_all_who_wait_hear_of_a_move_at_once(
    door: httpx.AsyncClient, desk: Desk, switchboard: Switchboard
) -> None:
    asks = [asyncio.create_task(ask(door, 30)) for _ in range(20)]
    await asleep(desk, 20)
    await hold(switchboard)

    async with asyncio.timeout(25):
        answers = await asyncio.gather(*asks)

    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["target"] for answer in answers} == {BACKUP.name}
    assert len(desk.waiting) == 0


async def test_who_waits_hears_of_the_end_of_a_hold(
    door: httpx.AsyncClient, desk: Desk, switchboard: Switchboard
) -> None:
    await hold(switchboard, for_s=0.3)
    asked = asyncio.create_task(ask(door, 30))
    await asleep(desk, 1)

    async with asyncio.timeout(25):
        answer = await asked

    assert (answer.status_code, answer.json()["role"]) == (200, "primary")


async def test_who_waits_hears_that_the_store_is_gone_and_back(
    door: httpx.AsyncClient,
    desk: Desk,
    switchboard: Switchboard,
    keeping: asyncio.Task[None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "OLD_AFTER_S", OLD_AFTER_S)
    asked = asyncio.create_task(ask(door, 30))
    await asleep(desk, 1)
    keeping.cancel()
    async with asyncio.timeout(25):
        stale = await asked
    again = asyncio.create_task(ask(door, 30, stale.headers["etag"]))
    await asleep(desk, 1)
    await switchboard.refresh()
    async with asyncio.timeout(25):
        fresh = await again

    assert (stale.json()["stale"], fresh.json()["stale"]) == (True, False)
    assert stale.json()["age_s"] >= OLD_AFTER_S
    assert "age_s" not in fresh.json()


async def test_a_move_of_another_route_wakes_nobody(
    door: httpx.AsyncClient, desk: Desk, switchboard: Switchboard
) -> None:
    asked = asyncio.create_task(ask(door, 0.3))
    await asleep(desk, 1)
    await hold(switchboard, OTHER.name)

    answer = await asked

    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize(
    ("wait", "tag", "status"),
    [
        pytest.param(0.01, None, 304, id="the time is over"),
        pytest.param(60, '"other"', 200, id="another answer is known"),
        pytest.param(0, None, 422, id="none"),
        pytest.param(-1, None, 422, id="negative"),
        pytest.param(60.1, None, 422, id="too long"),
        pytest.param("nan", None, 422, id="NaN"),
        pytest.param("inf", None, 422, id="endless"),
        pytest.param("long", None, 422, id="a word"),
    ],
)
async def test_a_wait_has_its_bounds(door: httpx.AsyncClient, wait: object, tag: str | None, status: int) -> None:
    began = time.monotonic()

    assert (await ask(door, wait, tag)).status_code == status
    assert time.monotonic() - began < 50


async def test_without_a_condition_nobody_waits(door: httpx.AsyncClient) -> None:
    async with asyncio.timeout(25):
        assert (await door.get("/route?route=coder&wait=60")).status_code == 200


async def test_one_too_many_is_answered_at_once(
    door: httpx.AsyncClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "MOST_WAITING", 1)
    first = asyncio.create_task(ask(door, 30))
    await asleep(desk, 1)

    async with asyncio.timeout(25):
        assert (await ask(door, 30)).status_code == 304
    desk.close()
    assert (await first).status_code == 304


@pytest.mark.parametrize("fast", [pytest.param(True, id="in the lane"), pytest.param(False, id="in the app")])
async def test_who_goes_away_frees_its_place(app: FastAPI, desk: Desk, fast: bool) -> None:
    tag = desk.prepared.answer(Asked("coder")).etag.encode()
    question = b"GET /route?route=coder&wait=30 HTTP/1.1\r\nIf-None-Match: %s\r\n" % tag
    async with served(app, Counting(desk, Access()) if fast else None) as server:
        _, writer = await asyncio.open_connection(*server.place)
        writer.write(question + HOST + b"\r\n")
        await asleep(desk, 1)
        writer.transport.abort()

        await asleep(desk, 0)


@pytest.mark.parametrize("fast", [pytest.param(True, id="in the lane"), pytest.param(False, id="in the app")])
async def test_all_hear_of_a_move_and_of_the_end_of_the_service(
    app: FastAPI, desk: Desk, switchboard: Switchboard, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "AT_ONCE", 3)
    async with served(app, Counting(desk, Access()) if fast else None) as server:
        host, port = server.place
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", trust_env=False, timeout=60) as door:
            asks = [asyncio.create_task(ask(door, 30)) for _ in range(10)]
            await asleep(desk, 10)
            await hold(switchboard)
            async with asyncio.timeout(25):
                tags = {(await asked).headers["etag"] for asked in asks}
            asks = [asyncio.create_task(ask(door, 30)) for _ in range(10)]
            await asleep(desk, 10)
            desk.close()
            await server.stop()

            assert len(tags) == 1
            assert {(await asked).status_code for asked in asks} == {304}


async def test_whoever_comes_after_the_end_is_answered_at_once(app: FastAPI, desk: Desk) -> None:
    desk.close()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as door:
        async with asyncio.timeout(25):
            assert (await ask(door, 30)).status_code == 304


async def test_all_who_wait_are_answered_when_the_configuration_is_another(
    door: httpx.AsyncClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many more than are woken in one turn of the loop, though nothing has changed for them."""
    asks = [asyncio.create_task(ask(door, 30)) for _ in range(20)]
    await asleep(desk, 20)
    monkeypatch.setattr(waiting, "AT_ONCE", 3)
    desk.renew()
    async with asyncio.timeout(25):
        answers = await asyncio.gather(*asks)

    assert {answer.status_code for answer in answers} == {304}
    assert len(desk.waiting) == 0


async def test_who_waits_for_a_route_that_goes_hears_that_it_is_not_there(
    door: httpx.AsyncClient, desk: Desk, switchboard: Switchboard
) -> None:
    asking = asyncio.create_task(ask(door, 30))
    await asleep(desk, 1)
    left = [route for route in switchboard.routes if route.name != "coder"]
    switchboard.renew(left, {}, {})
    desk.renew()

    async with asyncio.timeout(25):
        assert (await asking).status_code == 404
