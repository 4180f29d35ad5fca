"""GET /livez, /readyz and /metrics."""

import time

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from breaker.api import Access, create_app
from breaker.errors import StoreGoneError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import MAX_WAITING, Switchboard
from tests.api.world import PRIMARY, URL, part_gone
from tests.store.answers import good
from tests.store_server import StoreServer


def asking(app: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL)  # type: ignore[arg-type] # an ASGI app


async def test_a_process_that_answers_lives_whatever_else_is_wrong(switchboard: Switchboard) -> None:
    switchboard._snapshot._read_at = None
    async with asking(create_app(switchboard, access=Access(), ready=lambda: ["no monitor"])) as door:
        assert (await door.get("/livez")).json() == {"alive": True}


async def test_a_fresh_snapshot_is_ready(door: httpx.AsyncClient) -> None:
    answer = await door.get("/readyz")

    assert (answer.status_code, answer.json()) == (
        200,
        {"ready": True, "answers": {"waiting": 0, "dropped": 0}, "notices": []},
    )


async def test_a_queue_that_drops_answers_is_not_ready(
    door: httpx.AsyncClient, switchboard: Switchboard, server: StoreServer
) -> None:
    server.kill()
    for i in range(MAX_WAITING + 2):
        switchboard.take_in(good(str(i), target=PRIMARY.name))

    answer = await door.get("/readyz")

    assert answer.status_code == 503
    assert "50000 answers wait for the store, and the oldest are dropped" in answer.json()["reasons"]
    assert answer.json()["answers"] == {"waiting": MAX_WAITING, "dropped": 2}
    await switchboard.drain(0.0)


async def test_all_reasons_not_to_be_ready_are_said(switchboard: Switchboard) -> None:
    switchboard._snapshot._read_at = None
    async with asking(create_app(switchboard, access=Access(), ready=lambda: ["no monitor"])) as door:
        answer = await door.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["reasons"] == ["the store hasn't been read yet", "no monitor"]
    assert answer.headers["retry-after"] == "1"


async def test_an_old_snapshot_is_not_ready(switchboard: Switchboard, door: httpx.AsyncClient) -> None:
    assert switchboard._snapshot._read_at is not None
    switchboard._snapshot._read_at -= 100.0

    answer = await door.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("the store was last read 10")


async def test_a_part_of_the_store_that_is_gone_is_told_from_the_whole(
    switchboard: Switchboard, door: httpx.AsyncClient
) -> None:
    part_gone(switchboard, PRIMARY, 200.0)
    part = (await door.get("/readyz")).json()["detail"]
    switchboard._snapshot._read_at = time.monotonic() - 100.0
    whole = (await door.get("/readyz")).json()["detail"]

    assert part.startswith("a part of the store, with 1 of 3 circuits, was last read 2")
    assert part.endswith(" s ago: it is gone")
    assert whole.startswith("the store was last read 1")


@pytest.mark.parametrize(
    ("url", "trouble"),
    [
        ("redis://ann:hush@127.0.0.1:1", "can't be reached"),
        ("redis+sentinel://ann:hush@127.0.0.1:1/main", "can't be found, a sentinel can't be reached"),
        ("redis+cluster://ann:hush@127.0.0.1:1", "can't be found, a node can't be reached"),
    ],
    ids=["one", "sentinels", "cluster"],
)
async def test_what_is_wrong_with_the_store_is_named_without_its_address(
    url: str, trouble: str, routes: tuple[Route, ...]
) -> None:
    store = RedisStore.from_url(url, limit_s=2.0)
    board = Switchboard(store, routes, {target.name: Policy() for route in routes for target in route.targets})
    with pytest.raises(StoreGoneError):
        await board.refresh()
    async with asking(create_app(board, access=Access())) as door:
        answer = await door.get("/readyz")
    await store.close()

    assert answer.json()["reasons"] == [f"the store hasn't been read yet: it {trouble}"]


async def test_metrics_are_what_was_handed_in(switchboard: Switchboard) -> None:
    async def metrics(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"up 1\n"})

    async with asking(create_app(switchboard, access=Access(), metrics=metrics)) as door:
        answer = await door.get("/metrics")
        page = await door.get("/")

    assert (answer.status_code, answer.text) == (200, "up 1\n")
    assert 'href="metrics"' in page.text


async def test_without_metrics_there_is_no_path_for_them(door: httpx.AsyncClient) -> None:
    assert (await door.get("/metrics")).status_code == 404
    assert 'href="metrics"' not in (await door.get("/")).text


@pytest.mark.parametrize("path", ["/redoc", "/docs/oauth2-redirect"])
async def test_nothing_is_served_that_loads_from_elsewhere(door: httpx.AsyncClient, path: str) -> None:
    assert (await door.get(path)).status_code == 404


async def test_a_browser_that_wants_an_icon_gets_none(door: httpx.AsyncClient) -> None:
    assert (await door.get("/favicon.ico")).status_code == 204
