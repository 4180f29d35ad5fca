"""The local door, asked by the real SDKs without a transport of their own."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import openai
import pytest
from starlette.types import Message

from breaker.api import connection
from breaker.api.access import Access, Guard
from breaker.client import AsyncFirstbyte, Spot
from breaker.client.transport import Limits
from monitor.guard.door import MAX_BODY, LocalDoor
from monitor.listening import bind, serving
from monitor.settings import Door
from monitor.simulator import End, Simulator
from tests.agent.faces import FACES, STREAMS, Face
from tests.agent.listening import listening
from tests.agent.test_sending import Echo, echo
from tests.agent.world import FINE
from tests.cases.wires import CHAT, MESSAGES
from tests.client.serving import nobody
from tests.flows.test_kill import CONFIG
from tests.processes import environment, ran, started

LIMITS = Limits(first_byte_s=30.0, silence_s=60.0, grace_s=0.2, pause_s=0.05)
FAST = "first_byte_s=0.02,spread=0,tokens_per_s=2000"
KEY_ENV = "GUARD_TEST_KEY"


def spot(target: str, base_url: str, wire: str = CHAT) -> Spot:
    return {"target": target, "base_url": base_url, "wire": wire, "api_key_env": KEY_ENV}


def spots(simulator: Simulator, wire: str = CHAT) -> list[Spot]:
    return [spot(name, simulator.base_url(name.partition("/")[0]), wire) for name in simulator.targets]


@asynccontextmanager
async def guarded(fallback: list[Spot] | dict[str, list[Spot]]) -> AsyncIterator[str]:
    """The door's address; where it sends is given, since no service is there."""
    with bind(Door(host="127.0.0.1", port=0)) as listening:
        async with (
            AsyncFirstbyte(nobody(), fallback=fallback) as guide,
            httpx.AsyncHTTPTransport(verify=False) as inner,
            serving(Guard(LocalDoor(guide, inner, LIMITS), Access), listening) as address,
        ):
            yield address


@asynccontextmanager
async def asking(address: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=address, timeout=30.0, trust_env=False, verify=False) as client:
        yield client


def body(**more: object) -> dict[str, object]:
    return {"model": "any", "messages": [{"role": "user", "content": "Hello"}], **more}


@pytest.mark.parametrize("face", [face for face in FACES if face.awaits], ids=str)
async def test_the_sdks_are_served_and_saved_from_a_gateways_words(face: Face) -> None:
    async with (
        Simulator({"a/m": f"gateway_text,{FAST}", "b/m": FINE}, seed=1) as simulator,
        guarded({"coder": spots(simulator, face.wire)}) as address,
        asking(address) as client,
    ):
        came = await face.wait(client, f"{address}/coder/v1")

    assert came.error is None
    assert len(came.text) > 300
    assert came.done["target"] == "b/m"


@pytest.mark.parametrize("face", [face for face in STREAMS if face.awaits], ids=str)
async def test_a_stream_that_breaks_off_is_broken_off_for_its_reader(face: Face) -> None:
    async with (
        Simulator({"a/m": f"cut,tokens=100,{FAST}"}, seed=1) as simulator,
        guarded(spots(simulator, face.wire)) as address,
        asking(address) as client,
    ):
        came = await face.wait(client, f"{address}/v1")

    assert came.error is not None
    assert any(isinstance(error, httpx2.RemoteProtocolError) for error in came.causes)


async def test_what_flows_is_passed_on_as_it_comes() -> None:
    slow = "flow,seconds=60,first_byte_s=0.02,spread=0,tokens_per_s=100"
    async with (
        Simulator({"a/m": slow}, seed=1) as simulator,
        guarded(spots(simulator)) as address,
        asking(address) as client,
        asyncio.timeout(60),
    ):
        async with client.stream("POST", "/v1/chat/completions", json=body(stream=True)) as response:
            first = await anext(response.aiter_bytes())
            under_way = simulator.asked("a/m").attempts[0].end
        asked = await simulator.until("a/m", lambda asked: asked.attempts[0].end is not None)

    assert first.startswith(b"data: ")
    assert under_way is None
    assert asked.attempts[0].end is End.CLIENT_GONE


async def test_whoever_goes_while_nothing_has_come_ends_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ANSWER_WITHIN_S", 1_000)
    async with (
        Simulator({"a/m": "never_answers"}, seed=1) as simulator,
        guarded(spots(simulator)) as address,
        asking(address) as client,
        asyncio.timeout(60),
    ):
        waiting = asyncio.create_task(client.post("/v1/chat/completions", json=body()))
        await simulator.until_asked("a/m", 1)
        waiting.cancel()
        asked = await simulator.until("a/m", lambda asked: asked.attempts[0].end is not None)

    assert asked.attempts[0].end is End.CLIENT_GONE


@asynccontextmanager
async def echoing(monkeypatch: pytest.MonkeyPatch, wire: str = CHAT) -> AsyncIterator[tuple[Echo, httpx2.AsyncClient]]:
    monkeypatch.setenv(KEY_ENV, "the-key")
    async with (
        echo() as made,
        guarded([spot("a/model-1", made.base_url("a"), wire)]) as address,
        asking(address) as client,
    ):
        yield made, client


async def test_the_key_is_the_targets_and_the_askers_own_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echoing(monkeypatch) as (made, client):
        own = {"authorization": "Bearer own", "x-api-key": "own"}
        response = await client.post("/v1/chat/completions", json=body(), headers=own)

    assert response.status_code == 200
    assert made.headers()["authorization"] == "Bearer the-key"
    assert "own" not in made.heads[0]
    assert json.loads(made.bodies[0])["model"] == "model-1"


async def test_tokens_are_counted_by_the_target_with_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echoing(monkeypatch, MESSAGES) as (made, client):
        await client.post("/v1/messages/count_tokens?beta=1", json=body())

    assert made.heads[0].startswith("POST /base/v1/messages/count_tokens?beta=1 ")
    assert made.headers()["x-api-key"] == "the-key"
    assert json.loads(made.bodies[0])["model"] == "model-1"


async def test_the_list_of_models_is_the_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echoing(monkeypatch) as (made, client):
        assert (await client.get("/v1/models")).status_code == 200

    assert made.heads[0].startswith("GET /base/v1/models ")
    assert made.headers()["host"] == f"127.0.0.1:{made.port}"


@pytest.mark.parametrize("sent", [None, b"a,b", b"[1]"], ids=["no body", "an upload", "JSON"])
async def test_whoever_goes_ends_what_asks_no_model_too(monkeypatch: pytest.MonkeyPatch, sent: bytes | None) -> None:
    monkeypatch.setattr(connection, "ANSWER_WITHIN_S", 1_000)
    headers = {"content-type": "application/json" if sent == b"[1]" else "text/csv"}
    async with (
        silence() as (port, asked, left),
        guarded([spot("a/m", f"http://127.0.0.1:{port}/v1")]) as address,
        asking(address) as client,
        asyncio.timeout(60),
    ):
        waiting = asyncio.create_task(client.request("PUT", "/v1/files/1", content=sent, headers=headers))
        await asked.wait()
        waiting.cancel()
        await left.wait()


@asynccontextmanager
async def silence() -> AsyncIterator[tuple[int, asyncio.Event, asyncio.Event]]:
    """A port at which all is read and nothing is said; what is set when somebody has asked there, and has left."""
    asked, left = asyncio.Event(), asyncio.Event()
    reading: list[asyncio.Task[None]] = []

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        while await reader.read(1024):
            pass
        left.set()
        writer.close()
        await writer.wait_closed()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reading.append(asyncio.create_task(read(reader, writer)))

    async with listening(connected, reading) as port:
        yield port, asked, left


async def test_what_asks_a_model_is_watched_whatever_its_content_type_says(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echoing(monkeypatch) as (made, client):
        form = {"content-type": "application/x-www-form-urlencoded"}  # curl's -d without a header
        response = await client.post("/v1/chat/completions", content=json.dumps(body()), headers=form)

    assert response.headers["x-firstbyte-target"] == "a/model-1"
    assert json.loads(made.bodies[0])["model"] == "model-1"


async def test_a_key_in_a_side_paths_address_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echoing(monkeypatch) as (made, client):
        await client.get("/v1/models?key=own&limit=2", headers={"x-portkey-api-key": "own"})

    assert "own" not in made.heads[0]
    assert made.heads[0].startswith("GET /base/v1/models?limit=2 ")


async def test_an_upload_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    async with echoing(monkeypatch) as (made, client):
        await client.post("/v1/files", files={"file": ("a.jsonl", b"{}\n" * 1000)}, data={"purpose": "batch"})

    assert made.bodies[0].count(b"{}\n") == 1000
    assert made.headers()["content-type"].startswith("multipart/form-data")


@pytest.mark.parametrize(
    ("path", "sent", "status", "told"),
    [
        pytest.param("/elsewhere/v1/chat/completions", {"json": body()}, 503, "no_service", id="an unknown route"),
        pytest.param("/v1/messages", {"json": body()}, 400, "other_wire", id="another wire"),
        pytest.param("/v1/embeddings", {"json": {"model": "any"}}, 502, "connect_error", id="nobody there"),
        pytest.param(
            "/v1/chat/completions",
            {"content": b" " * (MAX_BODY + 1), "headers": {"content-type": "application/json"}},
            413,
            "too_long",
            id="too long a question",
        ),
    ],
)
async def test_what_can_not_be_sent_is_told(path: str, sent: dict[str, Any], status: int, told: str) -> None:
    async with guarded({"default": [spot("a/m", f"{nobody()}/v1")]}) as address, asking(address) as client:
        response = await client.post(path, **sent)

    assert response.status_code == status
    assert response.json()["error"]["code"] == told


@pytest.mark.parametrize("path", ["*", "/v1/" + "x" * 66_000, "@127.0.0.1/v1/models"], ids=["star", "long", "a host"])
async def test_what_is_no_path_is_refused_and_gets_no_key(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    monkeypatch.setenv(KEY_ENV, "the-key")
    scope = {"type": "http", "method": "GET", "raw_path": path.encode(), "query_string": b"", "headers": []}
    async with (
        echo() as made,
        AsyncFirstbyte(nobody(), fallback=[spot("a/m", f"http://127.0.0.1:{made.port}")]) as guide,
        httpx.AsyncHTTPTransport(verify=False) as inner,
    ):
        await LocalDoor(guide, inner, LIMITS)(scope, receive, send)

    assert sent[0]["status"] == 400
    assert json.loads(sent[1]["body"])["error"]["code"] == "no_path"
    assert made.heads == []


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
async def test_pages_of_other_sites_may_not_spend_the_keys(headers: dict[str, str]) -> None:
    async with guarded([spot("a/m", f"{nobody()}/v1")]) as address, asking(address) as client:
        response = await client.post("/v1/chat/completions", json=body(), headers=headers)

    assert response.status_code == 403


async def test_where_nothing_answers_the_sdk_is_told_once() -> None:
    async with guarded([spot("a/m", f"{nobody()}/v1")]) as address, asking(address) as client:
        came = await Face(CHAT, True, False).wait(client, f"{address}/v1")

    assert isinstance(came.error, openai.InternalServerError)
    assert came.done["attempts"] == str(LIMITS.attempts)


async def test_the_command_serves_the_routes_of_a_configuration_without_a_service(tmp_path: Path) -> None:
    async with Simulator({"first/m": FINE, "second/m": FINE}, seed=1) as simulator:
        text = CONFIG.format(first=simulator.base_url("first"), second=simulator.base_url("second"))
        (tmp_path / "firstbyte.yaml").write_text(text, encoding="utf-8")
        env = environment(tmp_path / "data", {"FIRSTBYTE_URL": nobody()})
        async with started("guard", "--port", "0", env=env, cwd=tmp_path) as process:
            address = (await process.line(r"guarding at (\S+)/v1,", within_s=240))[1]
            async with asking(address) as client:
                came = await Face(CHAT, True, True).wait(client, f"{address}/v1")
            process.send(signal.SIGTERM)
            assert await process.end() == 0

    assert came.error is None
    assert came.done["target"] == "first/m"


async def test_a_proxy_that_can_not_be_used_is_told_who_asks(tmp_path: Path) -> None:
    text = CONFIG.format(first="http://first.invalid/v1", second="http://second.invalid/v1")
    (tmp_path / "firstbyte.yaml").write_text(text, encoding="utf-8")
    more = {"FIRSTBYTE_URL": nobody(), "ALL_PROXY": "gopher://me:sesame@127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""}
    env = environment(tmp_path / "data", more)
    async with started("guard", "--port", "0", env=env, cwd=tmp_path) as process:
        address = (await process.line(r"guarding at (\S+)/v1,", within_s=240))[1]
        async with asking(address) as client:
            response = await client.post("/v1/chat/completions", json=body())
        process.send(signal.SIGTERM)
        assert await process.end() == 0

    assert response.status_code == 502
    assert response.json()["error"]["message"].startswith("the proxy ALL_PROXY=gopher://127.0.0.1:1 can't be used")
    assert "Traceback" not in "\n".join(process.said)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "it stays here"),
        (["--port", "99999"], "--port"),
    ],
)
async def test_an_address_that_can_not_be_is_refused(words: list[str], told: str, tmp_path: Path) -> None:
    code, said = await ran("guard", *words, env=environment(tmp_path), cwd=tmp_path)

    assert code == 2
    assert told in said
