"""POST /judge: what an exchange was, and that nothing of it stays."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.paths.judge import MAX_EXCHANGE_BYTES, MOST_AT_ONCE
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.wire.signs import PHRASES, Phrase
from tests.api.world import PRIMARY, URL, good
from tests.test_exchange import event, exchange, finish

SECRET = "the curlew keeps its canary under the third stone"
JSON = {"content-type": "application/json"}


def secretive() -> dict[str, Any]:
    """An exchange that says its secret wherever a text can stand."""
    chunks = [
        {"at_ms": 700, "data": event(content=SECRET, reasoning_content=SECRET)},
        {"at_ms": 720, "data": f"data: {{{SECRET}\n\n"},
        {"at_ms": 900, "data": finish("stop", prompt_tokens=210, completion_tokens=8) + "data: [DONE]\n\n"},
    ]
    return exchange(headers={"x-note": SECRET}, chunks=chunks, note=SECRET, expect={"why": SECRET})


async def test_an_exchange_is_judged_with_its_facts(door: httpx.AsyncClient) -> None:
    answer = await door.post("/judge", json=exchange())

    said = answer.json()
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert {name: said[name] for name in said if name not in ("facts", "why")} == {
        "id": "good",
        "verdict": "ok",
        "class": "ok",
        "cause": None,
        "confidence": "high",
        "finish_reason": "stop",
    }
    assert (said["facts"]["first_byte_s"], said["facts"]["prompt_tokens"]) == (0.7, 210)


async def test_its_facts_can_be_reported(door: httpx.AsyncClient) -> None:
    facts = (await door.post("/judge", json=exchange())).json()["facts"]

    answer = await door.post("/reports", json={**facts, "target": PRIMARY.name, "id": "step-17"})

    assert (answer.status_code, answer.json()["answers"][0]["verdict"]) == (202, "ok")


async def test_what_failed_inside_a_200_has_a_cause(door: httpx.AsyncClient) -> None:
    error = 'data: {"error": {"message": "too many requests", "code": 429}}\n\n'

    said = (await door.post("/judge", json=exchange(chunks=[{"at_ms": 5, "data": error}]))).json()

    assert (said["verdict"], said["class"], said["cause"]) == ("error_event", "provider_failure", "rate_limited")


async def test_nothing_of_an_exchange_stays(
    door: httpx.AsyncClient, store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    before = await _held(store)

    bad = {**secretive(), "wire": SECRET}
    answers = [
        await door.post("/judge", json=secretive()),
        await door.post("/judge", json=bad),
        await door.post("/judge", content=f'{{"id": "{SECRET}', headers=JSON),
    ]

    assert [answer.status_code for answer in answers] == [200, 400, 400]
    assert not [answer.text for answer in answers if SECRET in answer.text]
    assert SECRET not in caplog.text
    assert await _held(store) == before
    assert SECRET not in json.dumps([(await door.get(path)).text for path in ("/", "/targets")])


async def _held(store: RedisStore) -> set[bytes | str]:
    return set(await (await store._servers.any()).server.keys("*"))


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        pytest.param(b"{", 400, "unreadable", id="no JSON"),
        pytest.param(b"[" * 100_000, 400, "unreadable", id="too deep"),
        pytest.param(b'{"at_ms": NaN}', 400, "unreadable", id="NaN"),
        pytest.param(b"[]", 400, "bad-exchange", id="a list"),
        pytest.param(b"{}", 400, "bad-exchange", id="nothing said"),
        pytest.param(b" " * (MAX_EXCHANGE_BYTES + 1), 413, "too-long", id="too long"),
    ],
)
async def test_what_isnt_an_exchange_is_refused(door: httpx.AsyncClient, body: bytes, status: int, kind: str) -> None:
    answer = await door.post("/judge", content=body, headers=JSON)

    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:firstbyte:problem:{kind}")


async def test_an_exchange_of_another_type_is_refused(door: httpx.AsyncClient) -> None:
    answer = await door.post("/judge", content=json.dumps(exchange()), headers={"content-type": "text/plain"})

    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("token", "status"),
    [
        pytest.param(None, 401, id="none"),
        pytest.param("wrong", 401, id="unknown"),
        pytest.param("agent", 200, id="an agent's"),
        pytest.param("admin", 200, id="an administrator's"),
    ],
)
async def test_judging_takes_the_token_that_reporting_takes(
    switchboard: Switchboard, token: str | None, status: int
) -> None:
    app = create_app(switchboard, access=Access(agent_token="agent", admin_token="admin"))
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with _client(app) as door:
        answer = await door.post("/judge", json=exchange(), headers=headers)

    assert answer.status_code == status


# Phrases

OWN = Phrase(id="own-1", text="The pump house is closed", tail=40)


async def test_phrases_of_ones_own_are_looked_for_and_can_be_reported(switchboard: Switchboard) -> None:
    app = create_app(switchboard, access=Access(), phrases=(OWN, *PHRASES))
    chunks = [{"at_ms": 700, "data": event(content="The pump house is closed.") + finish("stop") + "data: [DONE]\n\n"}]
    async with _client(app) as door:
        said = (await door.post("/judge", json=exchange(chunks=chunks))).json()
        reported = await door.post("/reports", json={**said["facts"], "target": PRIMARY.name, "id": "a"})

    assert (said["verdict"], said["facts"]["phrase"]) == ("gateway_text", "own-1")
    assert reported.json()["answers"][0]["verdict"] == "gateway_text"


@pytest.mark.parametrize(
    ("phrase", "accepted"),
    [
        pytest.param(PHRASES[0].id, 1, id="one that comes with us"),
        pytest.param(None, 1, id="none"),
        pytest.param("own-1", 0, id="one that isn't configured"),
        pytest.param("ready", 0, id="a word that could be a reply"),
    ],
)
async def test_a_report_names_known_phrases_only(door: httpx.AsyncClient, phrase: str | None, accepted: int) -> None:
    answer = await door.post("/reports", json=good(phrase=phrase))

    assert answer.json()["accepted"] == accepted
    if not accepted:
        assert answer.json()["problems"][0]["wrong"].startswith("phrase is not the id of a known phrase")


# Staying quick


def _client(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app, raise_app_exceptions=False), base_url=URL)


def _large() -> bytes:
    """As long an answer as is taken, in many small events."""
    chunks = [{"at_ms": 700 + i, "data": event(content=f"word {i} of many ")} for i in range(50_000)]
    while len(body := json.dumps(exchange(chunks=chunks, end="reset", end_at_ms=60_000)).encode()) > MAX_EXCHANGE_BYTES:
        chunks = chunks[: int(len(chunks) * 0.95)]
    return body


async def test_a_route_is_said_while_a_large_exchange_is_judged(door: httpx.AsyncClient) -> None:
    judging = asyncio.create_task(door.post("/judge", content=_large(), headers=JSON))
    loop, waits = asyncio.get_running_loop(), []
    begun_at = loop.time()
    while not judging.done():
        began = loop.time()
        await asyncio.sleep(0)
        assert (await door.get("/route?route=coder")).status_code == 200
        waits.append(loop.time() - began)
        await asyncio.sleep(0.005)  # a request within this process alone doesn't give others their turn

    took_s = loop.time() - begun_at
    assert (await judging).json()["verdict"] == "cut"
    assert len(waits) >= 5
    assert sorted(waits)[len(waits) // 2] < took_s / 5


async def test_more_exchanges_than_fit_are_sent_away_with_a_moment(door: httpx.AsyncClient) -> None:
    begun, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        begun.release()
        await go_on.wait()
        yield json.dumps(exchange()).encode()

    judging = [asyncio.create_task(door.post("/judge", content=slowly(), headers=JSON)) for _ in range(MOST_AT_ONCE)]
    for _ in judging:
        await asyncio.wait_for(begun.acquire(), 60)
    busy = await door.post("/judge", json=exchange())
    go_on.set()

    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
    assert busy.json()["type"] == "urn:firstbyte:problem:busy"
    assert [(await one).status_code for one in judging] == [200] * MOST_AT_ONCE
    assert (await door.post("/judge", json=exchange())).status_code == 200


async def test_a_body_that_comes_too_slowly_gives_its_place_free(
    door: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("breaker.api.bodies.WITHIN_S", 0.05)

    async def never() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    slow = await door.post("/judge", content=never(), headers=JSON)

    assert (slow.status_code, slow.json()["type"]) == (408, "urn:firstbyte:problem:too-slow")
    assert (await door.post("/judge", json=exchange())).status_code == 200


def test_the_description_of_an_exchange_names_what_is_read(app: FastAPI) -> None:
    body = app.openapi()["paths"]["/judge"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    read = exchange()

    assert set(body["properties"]) == set(read)
    assert set(read["request"]) < set(body["properties"]["request"]["properties"])
    assert re.search("openai-chat.*gemini", " ".join(body["properties"]["wire"]["enum"]))
