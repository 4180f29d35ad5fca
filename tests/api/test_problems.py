"""Every error is problem+json and tells nothing that it shouldn't."""

from typing import NoReturn

import httpx
import pytest
import redis
from starlette.types import Receive, Scope, Send

from breaker.api import Access, Besides, create_app
from breaker.api.app import create_small_app
from breaker.switchboard import Switchboard
from tests.api.world import PRIMARY, URL
from tests.store_server import StoreServer

MEMBERS = {"type", "title", "status", "detail"}


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/route?route=psst", 404, "unknown-route"),
        ("GET", "/route", 404, "unknown-route"),
        ("GET", "/targets?target=psst/x", 404, "unknown-target"),
        ("GET", "/moves?target=psst/x", 404, "unknown-target"),
        ("GET", "/moves?limit=0", 422, "bad-field"),
        ("GET", "/nothing", 404, "unknown-path"),
        ("GET", "/route/", 404, "unknown-path"),
        ("DELETE", "/route", 405, "wrong-method"),
        ("GET", "/reports", 405, "wrong-method"),
        ("POST", "/reports", 415, "wrong-content-type"),
        ("POST", "/circuit/open", 422, "bad-field"),
    ],
)
async def test_every_error_is_a_problem(
    door: httpx.AsyncClient, method: str, path: str, status: int, kind: str
) -> None:
    answer = await door.request(method, path)

    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    assert set(problem) >= MEMBERS
    assert (answer.status_code, problem["status"], problem["type"]) == (status, status, f"urn:firstbyte:problem:{kind}")


async def test_an_unknown_route_is_told_the_names_there_are(door: httpx.AsyncClient) -> None:
    problem = (await door.get("/route?route=codr")).json()

    assert problem["detail"] == "there is no route 'codr'; there are: coder, reviewer"
    assert problem["known"] == ["coder", "reviewer"]


async def test_a_route_that_must_be_named_is_asked_for(door: httpx.AsyncClient) -> None:
    problem = (await door.get("/route")).json()

    assert problem["detail"] == "name a route; there are: coder, reviewer"
    assert problem["known"] == ["coder", "reviewer"]


@pytest.mark.parametrize(("path", "allowed"), [("/route", "GET, HEAD"), ("/reports", "POST")])
async def test_a_method_that_is_refused_is_told_which_are_not(door: httpx.AsyncClient, path: str, allowed: str) -> None:
    assert (await door.delete(path)).headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/route?route={}", "/targets?target={}", "/moves?target={}", "/{}"])
async def test_a_long_name_is_not_said_again(door: httpx.AsyncClient, path: str) -> None:
    assert len((await door.get(path.format("x" * 5000))).content) < 500


async def test_a_process_that_only_probes_says_whom_to_ask(switchboard: Switchboard) -> None:
    async def none(scope: Scope, receive: Receive, send: Send) -> None:
        """No metrics."""

    app = create_small_app(switchboard, access=Access(), metrics=none)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=URL) as small:
        problem = (await small.get("/route?route=coder")).json()

    assert problem["detail"] == (
        "there is nothing at '/route'; this process only probes; ask one that runs `firstbyte run` or `firstbyte serve`"
    )


async def test_a_fault_of_our_own_tells_nothing(switchboard: Switchboard) -> None:
    def notices() -> NoReturn:
        raise RuntimeError("psst")

    app = create_app(switchboard, access=Access(), besides=Besides(notices=notices))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as door:
        answer = await door.get("/")

    assert (answer.status_code, answer.json()["type"]) == (500, "urn:firstbyte:problem:fault")
    assert "psst" not in answer.text


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/moves"), ("POST", "/circuit/open"), ("POST", "/circuit/close"), ("POST", "/circuit/release")],
)
async def test_what_needs_the_store_says_when_it_is_gone(
    door: httpx.AsyncClient, server: StoreServer, method: str, path: str
) -> None:
    server.kill()
    body = {"who": "anna", "why": "x"} if method == "POST" else None

    answer = await door.request(method, path, params={"target": PRIMARY.name}, json=body)

    assert (answer.status_code, answer.json()["type"]) == (503, "urn:firstbyte:problem:store-gone")
    assert answer.headers["retry-after"] == "1"
    assert server.url.removeprefix("unix://") not in answer.text


async def test_whoever_holds_a_circuit_with_a_damaged_key_is_told_the_key_and_the_remedy(
    door: httpx.AsyncClient, server: StoreServer
) -> None:
    key = f"firstbyte:{{{PRIMARY.name}}}:moves"
    with redis.Redis.from_url(server.url) as raw:
        raw.set(key, "mine")
    params, words = {"target": PRIMARY.name}, {"who": "anna", "why": "x"}

    refused = await door.post("/circuit/open", params=params, json=words)
    with redis.Redis.from_url(server.url) as raw:
        raw.delete(key)
    done = await door.post("/circuit/open", params=params, json=words)

    assert (refused.status_code, refused.json()["type"]) == (503, "urn:firstbyte:problem:store-damaged")
    assert refused.json()["keys"] == [key]
    assert refused.json()["detail"].startswith(f"{key} in the store holds something else than Firstbyte keeps there")
    assert "delete it and try again" in refused.json()["detail"]
    assert (done.status_code, done.json()["state"]) == (200, "held-open")
