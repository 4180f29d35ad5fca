"""What goes out: address, model and key are the target's, all else is the caller's."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import httpx2
import pytest

from breaker.attempt import read_request
from breaker.client.transport import AsyncTransport, Transport
from breaker.errors import DoorRefusedError
from breaker.verdict import Blame, Verdict, judge
from tests.agent.listening import listening
from tests.agent.world import PATIENT, World
from tests.cases.wires import CHAT, GEMINI, MESSAGES

FAMILIES = pytest.mark.parametrize("family", [httpx, httpx2], ids=["httpx", "httpx2"])
ANSWER = json.dumps({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}).encode()
PLACE = "http://elsewhere.invalid/v1"


class Echo:
    """A provider that keeps what it was sent, and answers well."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.port = 0
        self.begins = "200 OK"  # what each answer begins with
        self.then: str | None = None  # what each after the first begins with instead
        self.first: bytes | None = None  # what the first is answered instead
        self.answering: list[asyncio.Task[None]] = []

    @property
    def providers(self) -> tuple[str, ...]:
        return ("a",)

    @property
    def targets(self) -> tuple[str, ...]:
        return ("a/maker/model-1",)

    def base_url(self, provider: str) -> str:
        return f"http://127.0.0.1:{self.port}/base/v1"

    def headers(self, place: int = -1) -> dict[str, str]:
        pairs = (line.partition(": ") for line in self.heads[place].splitlines()[1:])
        return {name.lower(): value for name, _, value in pairs}

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.answering.append(asyncio.create_task(self._answer(reader, writer)))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip())
                self.bodies.append(await self._body(reader))
                body, self.first = self.first or ANSWER, None
                head = (
                    f"HTTP/1.1 {self.begins}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body)
                self.begins = self.then or self.begins
        except asyncio.IncompleteReadError:
            writer.close()
            await writer.wait_closed()

    async def _body(self, reader: asyncio.StreamReader) -> bytes:
        headers = self.headers()
        if "content-length" in headers:
            return await reader.readexactly(int(headers["content-length"]))
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        return body


@asynccontextmanager
async def echo() -> AsyncIterator[Echo]:
    made = Echo()
    async with listening(made.connected, made.answering) as made.port:
        yield made


def world_of(made: Echo, *, wire: str = CHAT, key_env: str | None = None) -> World:
    return World(made, wire=wire, key_env=key_env)


@asynccontextmanager
async def client_of(family: Any, world: World) -> AsyncIterator[Any]:
    inner = family.AsyncHTTPTransport(verify=False)
    async with family.AsyncClient(transport=AsyncTransport(inner, guide=world, limits=PATIENT)) as client:
        yield client


@FAMILIES
async def test_a_request_goes_to_the_targets_address_with_its_model_and_nothing_else_changed(family: Any) -> None:
    body = b'{"model":"mine", "temperature":1e0,"messages":[{"role":"user","content":"\\u00e9"}]}'
    async with echo() as made, client_of(family, world_of(made)) as client:
        sent = {"x-own": "kept", "user-agent": "agent/1"}
        response = await client.post(f"{PLACE}/chat/completions?x=1", content=body, headers=sent)

    assert response.json() == json.loads(ANSWER)
    assert made.heads[0].startswith("POST /base/v1/chat/completions?x=1 HTTP/1.1")
    assert made.bodies == [body.replace(b'"mine"', b'"maker/model-1"')]
    assert made.headers()["host"] == f"127.0.0.1:{made.port}"
    assert {name: made.headers()[name] for name in sent} == sent
    assert made.headers()["accept-encoding"] == "identity"
    assert response.headers["x-firstbyte-target"] == "a/maker/model-1"


@FAMILIES
async def test_a_body_packed_in_an_unknown_way_is_handed_on_and_reported_as_unread(family: Any) -> None:
    async with echo() as made:
        made.begins = "200 OK\r\ncontent-encoding: its-own"
        world = world_of(made)
        async with client_of(family, world) as client:
            response = await client.post(f"{PLACE}/chat/completions", json={"model": "mine", "messages": []})

    judgement = judge(world.reports[0])
    assert (response.status_code, response.content) == (200, ANSWER)
    assert (judgement.verdict, judgement.blame) == (Verdict.MALFORMED, Blame.INCONCLUSIVE)


@FAMILIES
async def test_an_error_packed_in_an_unknown_way_is_asked_again_unseen(family: Any) -> None:
    async with echo() as made:
        made.begins, made.then = "502 Bad Gateway\r\ncontent-encoding: its-own", "200 OK"
        world = world_of(made)
        async with client_of(family, world) as client:
            response = await client.post(f"{PLACE}/chat/completions", json={"model": "mine", "messages": []})

    assert response.json() == json.loads(ANSWER)
    assert world.verdicts == ["http_error", "ok"]


@FAMILIES
def test_a_caller_that_blocks_is_served_alike(family: Any) -> None:
    async def serve() -> Echo:
        async with echo() as made:
            await asyncio.to_thread(ask, made)
        return made

    def ask(made: Echo) -> None:
        transport = Transport(family.HTTPTransport(verify=False), guide=world_of(made), limits=PATIENT)
        with family.Client(transport=transport) as client:
            answered = client.post(f"{PLACE}/chat/completions", json={"model": "mine", "messages": []})
            assert answered.json() == json.loads(ANSWER)
            assert answered.headers["x-firstbyte-verdicts"] == "ok"

    assert json.loads(asyncio.run(serve()).bodies[0])["model"] == "maker/model-1"


@pytest.mark.parametrize(
    ("wire", "path", "name", "value"),
    [
        (CHAT, "/chat/completions", "authorization", "Bearer the-key"),
        (MESSAGES, "/messages", "x-api-key", "the-key"),
        (GEMINI, "/models/x:generateContent", "x-goog-api-key", "the-key"),
    ],
)
async def test_the_key_comes_from_the_variable_that_the_decision_names(
    wire: str, path: str, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", " the-key\n")
    async with echo() as made, client_of(httpx, world_of(made, wire=wire, key_env="A_KEY")) as client:
        await client.post(f"{PLACE}{path}?key=own", json={"model": "m"}, headers={"authorization": "Bearer own"})

    assert made.headers()[name] == value
    assert "own" not in made.heads[0]


@pytest.mark.parametrize("key_env", [None, "NOT_SET"])
async def test_a_callers_own_key_goes_to_no_other_host(key_env: str | None) -> None:
    own = {"authorization": "Bearer own", "x-api-key": "own", "openai-organization": "own", "cookie": "own=1"}
    async with echo() as made, client_of(httpx, world_of(made, key_env=key_env)) as client:
        await client.post(f"{PLACE}/chat/completions", json={"model": "m"}, headers=own)

    assert "own" not in made.heads[0]


_SECRETS = (
    "helicone-auth",
    "cf-aig-authorization",
    "proxy-authorization",
    "x-portkey-api-key",
    "Ocp-Apim-Subscription-Key",
    "X-Auth-Token",
    "x-amz-security-token",
    "x_secret",
)


@pytest.mark.parametrize("name", _SECRETS)
async def test_what_is_named_like_a_key_goes_to_no_other_host(name: str) -> None:
    sent = {name: "own", "idempotency-key": "kept", "x-max-tokens": "kept"}
    async with echo() as made, client_of(httpx, world_of(made)) as client:
        await client.post(f"{PLACE}/chat/completions?{name}=own&v=1", json={"model": "m"}, headers=sent)

    assert "own" not in made.heads[0]
    assert made.heads[0].startswith("POST /base/v1/chat/completions?v=1 ")
    assert made.headers()["idempotency-key"] == made.headers()["x-max-tokens"] == "kept"


async def test_what_is_named_like_a_key_goes_to_its_own_host() -> None:
    async with echo() as made, client_of(httpx, world_of(made)) as client:
        url = f"http://127.0.0.1:{made.port}/else/chat/completions"
        await client.post(url, json={"model": "m"}, headers={"helicone-auth": "own"})

    assert made.headers()["helicone-auth"] == "own"


@FAMILIES
async def test_a_client_that_follows_redirects_does_not_come_back_to_the_target_that_gives_one(family: Any) -> None:
    async with echo() as made:
        made.begins = "308 Permanent Redirect\r\nlocation: /v1/chat/completions"
        async with client_of(family, world_of(made)) as client:
            client.follow_redirects = True
            response = await client.post(f"{PLACE}/chat/completions", json={"model": "m"})

    assert response.status_code == 308
    assert len(made.heads) == PATIENT.attempts


async def test_a_callers_own_key_goes_to_its_own_host() -> None:
    async with echo() as made, client_of(httpx, world_of(made, key_env="NOT_SET")) as client:
        url = f"http://127.0.0.1:{made.port}/else/chat/completions"
        await client.post(url, json={"model": "m"}, headers={"authorization": "Bearer own"})

    assert made.headers()["authorization"] == "Bearer own"
    assert made.heads[0].startswith("POST /base/v1/chat/completions ")


async def test_a_key_that_can_not_be_sent_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("A_KEY", "two\nlines")
    async with echo() as made, client_of(httpx, world_of(made, key_env="A_KEY")) as client:
        response = await client.post(f"{PLACE}/chat/completions", json={"model": "m"})

    assert response.status_code == 502
    assert "elsewhere.invalid/m (connect_error)" in response.text
    assert made.heads == []
    assert "lines" not in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("POST", "/messages/count_tokens", b'{"model": "mine"}', id="counting tokens"),
        pytest.param("POST", "/embeddings", b'{"model": "mine"}', id="embeddings"),
        pytest.param("GET", "/models", b"", id="the list of models"),
        pytest.param("POST", "/chat/completions", b"no JSON", id="a body that is none"),
    ],
)
async def test_everything_else_passes_untouched(method: str, path: str, body: bytes) -> None:
    async with echo() as made:
        world = world_of(made)
        async with client_of(httpx, world) as client:
            url = f"http://127.0.0.1:{made.port}/own{path}"
            response = await client.request(method, url, content=body, headers={"authorization": "Bearer own"})

    assert made.heads[0].startswith(f"{method} /own{path} ")
    assert made.bodies == [body]
    assert made.headers()["authorization"] == "Bearer own"
    assert "x-firstbyte-target" not in response.headers
    assert world.reports == []


@FAMILIES
async def test_a_body_that_can_be_sent_only_once_passes_untouched(family: Any) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"model": '
        yield b'"mine"}'

    async with echo() as made, client_of(family, world_of(made)) as client:
        await client.post(f"http://127.0.0.1:{made.port}/own/chat/completions", content=pieces())

    assert made.bodies == [b'{"model": "mine"}']
    assert made.heads[0].startswith("POST /own/chat/completions ")


async def test_an_upload_passes_untouched() -> None:
    async with echo() as made, client_of(httpx, world_of(made)) as client:
        url = f"http://127.0.0.1:{made.port}/own/files"
        await client.post(url, files={"file": ("a.jsonl", b"{}\n")}, data={"purpose": "batch"})

    assert b'name="purpose"' in made.bodies[0]
    assert made.heads[0].startswith("POST /own/files ")


async def test_a_request_in_another_wire_goes_where_it_was_addressed_to(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with echo() as made, client_of(httpx, world_of(made, wire=MESSAGES)) as client:
        for _ in range(2):
            await client.post(f"http://127.0.0.1:{made.port}/own/chat/completions", json={"model": "mine"})

    assert [json.loads(body)["model"] for body in made.bodies] == ["mine", "mine"]
    assert caplog.text.count("can be asked in the wire openai-chat") == 1


class Unknowing(World):
    """It knows no target, and says why."""

    def __init__(self, made: Echo, why: Exception) -> None:
        super().__init__(made)
        self._why = why

    def route(self, name: str | None = None) -> Any:
        raise self._why


@pytest.mark.parametrize(
    ("why", "told"),
    [
        pytest.param(
            DoorRefusedError(404, "no route 'coder'; there is: writer"), "no route 'coder'; there is: writer", id="ours"
        ),
        pytest.param(ValueError("a secret"), "ValueError", id="another's"),
    ],
)
async def test_a_guide_that_knows_no_target_is_told_of_once_in_words_of_ours_alone(
    why: Exception, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with echo() as made, client_of(httpx, Unknowing(made, why)) as client:
        for _ in range(2):
            await client.post(f"http://127.0.0.1:{made.port}/own/chat/completions", json={"model": "mine"})

    assert caplog.messages == [
        f"no target is known ({told}), so such requests go where they were addressed to (said once)"
    ]


class Mixed(World):
    """Its route has a first target that speaks another wire."""

    def route(self, name: str | None = None) -> Any:
        return replace(super().route(name), target="other/m", provider="other", wire=MESSAGES)


@pytest.mark.parametrize("awaits", [True, False])
async def test_where_the_first_target_speaks_another_wire_the_best_that_speaks_it_is_asked(awaits: bool) -> None:
    def block() -> Any:
        transport = Transport(httpx.HTTPTransport(verify=False), guide=Mixed(made), limits=PATIENT)
        with httpx.Client(transport=transport) as client:
            return client.post(f"{PLACE}/chat/completions", json={"model": "mine"})

    async with echo() as made:
        if awaits:
            async with client_of(httpx, Mixed(made)) as client:
                response = await client.post(f"{PLACE}/chat/completions", json={"model": "mine"})
        else:
            response = await asyncio.to_thread(block)

    assert response.headers["x-firstbyte-target"] == "a/maker/model-1"
    assert json.loads(made.bodies[0])["model"] == "maker/model-1"


async def test_where_nothing_is_known_of_a_route_an_answer_is_watched_all_the_same() -> None:
    """Where the request was addressed to; nobody is told of it, since no service knows what that is."""
    async with echo() as made:
        made.first = json.dumps({"error": {"message": "overloaded"}}).encode()
        guide = Broken()
        inner = httpx.AsyncHTTPTransport(verify=False)
        transport = AsyncTransport(inner, guide=guide, limits=PATIENT)
        async with httpx.AsyncClient(transport=transport) as client:
            url = f"http://127.0.0.1:{made.port}/own/chat/completions?a=b"
            response = await client.post(url, json={"model": "mine"}, headers={"authorization": "Bearer own"})

    assert response.json() == json.loads(ANSWER)
    assert response.headers["x-firstbyte-target"] == f"127.0.0.1:{made.port}/mine"
    assert response.headers["x-firstbyte-role"] == "addressed"
    assert response.headers["x-firstbyte-attempts"] == "2"
    assert [head.partition(" HTTP")[0] for head in made.heads] == ["POST /own/chat/completions?a=b"] * 2
    assert {json.loads(body)["model"] for body in made.bodies} == {"mine"}
    assert made.headers()["authorization"] == "Bearer own"


async def test_once_a_target_is_known_it_is_asked_next() -> None:
    async with echo() as made:
        made.first = json.dumps({"error": {"message": "the key is wrong", "code": 401}}).encode()
        world = world_of(made)
        guide = Late(world)
        transport = AsyncTransport(httpx.AsyncHTTPTransport(verify=False), guide=guide, limits=PATIENT)
        async with httpx.AsyncClient(transport=transport) as client:
            url = f"http://127.0.0.1:{made.port}/own/chat/completions"
            response = await client.post(url, json={"model": "mine"})

    assert response.json() == json.loads(ANSWER)
    assert response.headers["x-firstbyte-target"] == "a/maker/model-1"
    assert [json.loads(body)["model"] for body in made.bodies] == ["mine", "maker/model-1"]
    assert [answer.target for answer in world.reports] == ["a/maker/model-1"]


def test_a_geminis_model_stands_in_its_path() -> None:
    found = read_request("POST", "/v1beta/models/some%2Fmodel:generateContent", b"{}")

    assert found is not None
    assert found.model == "some/model"


class Broken:
    """A guide that knows nothing and says so loudly."""

    def route(self, name: str | None = None) -> Any:
        raise RuntimeError("no route")

    def besides(self, tried: object, name: str | None = None) -> Any:
        raise RuntimeError("no other")

    def report(self, answer: object) -> None:
        raise RuntimeError("no report")


class HalfBroken(Broken):
    """It knows where to go first, and nothing else."""

    def __init__(self, world: World) -> None:
        self._world = world

    def route(self, name: str | None = None) -> Any:
        return self._world.route(name)


class Late(Broken):
    """It hears of the route when the first attempt has failed."""

    def __init__(self, world: World) -> None:
        self._world = world

    def besides(self, tried: Any, name: str | None = None) -> Any:
        return self._world.besides(tried, name)

    def report(self, answer: Any) -> None:
        self._world.report(answer)


async def test_a_guide_that_fails_fails_no_step() -> None:
    async with echo() as made:
        url = f"http://127.0.0.1:{made.port}/own/chat/completions"
        for guide in (Broken(), HalfBroken(world_of(made))):
            inner = httpx.AsyncHTTPTransport(verify=False)
            async with httpx.AsyncClient(transport=AsyncTransport(inner, guide=guide, limits=PATIENT)) as client:
                assert (await client.post(url, json={"model": "mine"})).json() == json.loads(ANSWER)

    assert [json.loads(body)["model"] for body in made.bodies] == ["mine", "maker/model-1"]


def test_a_guide_that_is_awaited_is_refused_where_nobody_awaits() -> None:
    class Decided:
        def __await__(self) -> Iterator[None]:
            yield

    class Awaited(Broken):
        def route(self, name: str | None = None) -> Any:
            return Decided()

    with httpx.Client(transport=Transport(guide=Awaited())) as client, pytest.raises(TypeError, match="AsyncTransport"):
        client.post(f"{PLACE}/chat/completions", json={"model": "m"})


def test_a_transport_of_one_family_is_refused_under_a_client_of_the_other() -> None:
    with (
        httpx.Client(transport=Transport(httpx2.HTTPTransport(verify=False), guide=Broken())) as client,
        pytest.raises(TypeError, match="httpx2"),
    ):
        client.post(f"{PLACE}/chat/completions", json={"model": "m"})
