"""What fails after part of it was shown: a clear error, or by choice a fresh start that is announced."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from breaker.client.transport import AnswerError, AsyncTransport, Limits, Restart, Transport
from monitor.simulator import End, Simulator
from tests.agent.faces import HELLO, NOWHERE, PLAIN, STREAMS, Came, Face
from tests.agent.world import FINE, PATIENT, World, ask, awaiting, blocking
from tests.cases.wires import CHAT, MESSAGES

FAST = "first_byte_s=0.02,spread=0,tokens_per_s=2000"
LOOP = "loop,seconds=30,first_byte_s=0.02,spread=0,tokens_per_s=10000"
EVERY_STREAM = pytest.mark.parametrize("face", STREAMS, ids=str)
EVERY_PLAIN = pytest.mark.parametrize("face", PLAIN, ids=str)


def answer_error(came: Came) -> AnswerError:
    found = [error for error in came.causes if isinstance(error, AnswerError)]
    assert found, came.error
    return found[0]


@pytest.mark.parametrize(
    ("behaviour", "verdict"),
    [
        pytest.param(f"cut,tokens=100,{FAST}", "cut", id="a cut"),
        pytest.param(f"stall,tokens=100,{FAST}", "timeout_silence", id="silence"),
        pytest.param(LOOP, "loop", id="no end"),
    ],
)
@EVERY_STREAM
async def test_the_caller_gets_a_typed_error(face: Face, behaviour: str, verdict: str) -> None:
    async with Simulator({"a/m": behaviour, "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, Limits(silence_s=1.0, first_byte_s=0.9))

        assert simulator.asked("b/m").count == 0

    error = answer_error(came)
    assert (error.verdict, error.target) == (verdict, "a/m")
    assert error.shown_chars > PATIENT.hold_chars
    assert isinstance(error, httpx2.ReadTimeout if verdict == "timeout_silence" else httpx2.RemoteProtocolError)
    assert len(came.text) > PATIENT.hold_chars
    assert came.text[:20] not in str(error)
    assert world.verdicts == [verdict]


@EVERY_STREAM
async def test_an_error_event_ends_the_stream_in_the_sdks_own_way(face: Face) -> None:
    async with Simulator({"a/m": f"error_after_text,tokens=100,{FAST}"}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world)

    assert isinstance(came.error, openai.APIError | anthropic.APIError)
    assert world.verdicts == ["error_event"]


@EVERY_STREAM
async def test_a_fresh_start_is_announced_and_comes_in_the_same_stream(face: Face) -> None:
    if face.wire == MESSAGES:
        return  # its SDK hands on the second beginning as it is; nothing more to see here
    announced: list[Restart] = []
    async with Simulator({"a/m": f"cut,tokens=100,{FAST}", "b/m": FINE}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, restart=announced.append)

    assert came.error is None
    assert [(one.verdict, one.target) for one in announced] == [("cut", "a/m")]
    assert announced[0].shown_chars > PATIENT.hold_chars
    assert came.finish == "stop"
    assert world.verdicts == ["cut", "ok"]


@EVERY_STREAM
async def test_a_fresh_start_that_fails_as_well_is_an_error(face: Face) -> None:
    announced: list[Restart] = []
    async with Simulator({"a/m": f"cut,tokens=100,{FAST}", "b/m": "http_error,status=503"}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world, Limits(attempts=2), restart=announced.append)

    assert answer_error(came).verdict == "cut"
    assert world.verdicts == ["cut", "overloaded"]


@EVERY_STREAM
async def test_a_question_whose_answer_had_no_end_is_asked_with_the_least_reasoning_when_it_comes_again(
    face: Face,
) -> None:
    effort: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 2_000}}
    if face.wire == CHAT:
        effort = {"reasoning_effort": "high"}
    async with Simulator({"a/m": LOOP}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        sent = Sent(world)
        inner = httpx2.AsyncHTTPTransport if face.awaits else httpx2.HTTPTransport
        async with sent.client(face, inner(verify=False)) as ask:
            first, second = [await ask(effort) for _ in range(2)]

    assert answer_error(first).verdict == answer_error(second).verdict == "loop"
    told = [body.get("reasoning_effort") or body["thinking"]["type"] for body in sent.bodies]
    assert told == (["high", "low"] if face.wire == CHAT else ["enabled", "disabled"])


class Sent:
    """Looks at what a transport sends."""

    def __init__(self, world: World) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._world = world

    @contextlib.asynccontextmanager
    async def client(self, face: Face, inner: Any) -> AsyncIterator[Callable[[dict[str, Any]], Awaitable[Came]]]:
        """What asks through one transport."""
        transport: Any = (AsyncTransport if face.awaits else Transport)(
            _Looking(inner, self.bodies), guide=self._world, limits=PATIENT
        )
        if face.awaits:
            async with httpx2.AsyncClient(transport=transport) as client:
                yield lambda question: face.wait(client, question=question)
        else:
            with httpx2.Client(transport=transport) as one:
                yield lambda question: asyncio.to_thread(face.block, one, question=question)


class _Looking(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    def __init__(self, inner: Any, bodies: list[dict[str, Any]]) -> None:
        self._inner = inner
        self._bodies = bodies

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._bodies.append(json.loads(request.content))
        response: httpx2.Response = self._inner.handle_request(request)
        return response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._bodies.append(json.loads(request.content))
        response: httpx2.Response = await self._inner.handle_async_request(request)
        return response

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._inner.aclose()


@EVERY_PLAIN
async def test_a_plain_answer_without_an_end_is_asked_once_more_and_then_refused(face: Face) -> None:
    loop = "loop,seconds=1,first_byte_s=0.02,spread=0,tokens_per_s=2000"
    async with Simulator({"a/m": loop}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        came = await ask(face, world)

        assert simulator.asked("a/m").count == 2

    assert isinstance(came.error, openai.InternalServerError | anthropic.InternalServerError)
    assert "a/m (loop), then a/m (loop)" in str(came.error)


@EVERY_STREAM
async def test_time_that_the_caller_takes_is_no_silence(face: Face) -> None:
    """The caller is busy, until all has been sent, for longer than any silence is allowed to last."""
    slow = "healthy,first_byte_s=0.02,spread=0,tokens_per_s=50,answer_tokens=90"
    async with Simulator({"a/m": slow}, seed=1) as simulator:
        world = World(simulator, wire=face.wire)
        limits = Limits(silence_s=1.0, first_byte_s=0.9, hold_chars=20)
        listen = _listen_awaiting(face, world, limits) if face.awaits else _listen_blocking(face, world, limits)
        came = [await anext(listen)]
        async with asyncio.timeout(120):
            asked = await simulator.until("a/m", lambda asked: asked.attempts[0].end is not None)
        came += [piece async for piece in listen]

    assert asked.attempts[0].end is End.COMPLETE
    assert world.verdicts[-1] == "ok"
    assert len(b"".join(came)) > 5_000


async def _listen_awaiting(face: Face, world: World, limits: Limits) -> AsyncIterator[bytes]:
    async with (
        httpx2.AsyncClient(transport=awaiting(world, limits)) as client,
        client.stream("POST", _url(face), json=_BODY, headers=_VERSION) as response,
    ):
        async for piece in response.aiter_bytes():
            yield piece


async def _listen_blocking(face: Face, world: World, limits: Limits) -> AsyncIterator[bytes]:
    def begin() -> tuple[httpx2.Client, httpx2.Response]:
        client = httpx2.Client(transport=blocking(world, limits))
        request = client.build_request("POST", _url(face), json=_BODY, headers=_VERSION)
        return client, client.send(request, stream=True)

    client, response = await asyncio.to_thread(begin)
    with contextlib.closing(client), contextlib.closing(response):
        pieces = response.iter_bytes()
        while piece := await asyncio.to_thread(next, pieces, b""):
            yield piece


_BODY = {"model": "any", "messages": HELLO, "max_tokens": 4096, "stream": True}
_VERSION = {"anthropic-version": "2023-06-01"}


def _url(face: Face) -> str:
    return NOWHERE + ("/chat/completions" if face.wire == CHAT else "/messages")
