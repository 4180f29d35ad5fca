"""The simulator as a server: its ports, its bounds, its end."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from time import monotonic

import httpx
import pytest

from monitor.simulator import Simulator, listener
from monitor.simulator.http import MAX_BODY_BYTES
from tests.simulator.asking import (
    ANTHROPIC,
    OPENAI,
    PROMPT,
    TARGET,
    WIRES,
    ask,
    body_for,
    client_of,
    read,
    simulated,
    url_of,
)

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"


@contextlib.asynccontextmanager
async def line_to(simulator: Simulator) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection to the provider."""
    port = httpx.URL(simulator.address("zai")).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def answer_to(simulator: Simulator, sent: bytes) -> bytes:
    """Everything that comes back until the other end closes."""
    async with line_to(simulator) as (reader, writer):
        writer.write(sent)
        return await asyncio.wait_for(reader.read(), 60)


async def test_each_provider_has_a_port_of_its_own() -> None:
    async with Simulator(["a/m", "a/org/model", "b/m"], speed=100.0) as simulator:
        assert simulator.providers == ("a", "b")
        assert simulator.targets_of("a") == ("a/m", "a/org/model")
        assert len({simulator.address("a"), simulator.address("b"), simulator.control_url}) == 3
        assert simulator.address("a").startswith("http://127.0.0.1:")


async def test_the_model_picks_the_target() -> None:
    async with Simulator({"a/one": "healthy", "a/org/two": "http_error,status=503"}, speed=100.0) as simulator:
        async with client_of() as client:
            url = f"{simulator.base_url('a')}/chat/completions"
            statuses = [
                (await client.post(url, json=body_for(OPENAI, stream=False, model=model))).status_code
                for model in ("one", "org/two")
            ]

        assert statuses == [200, 503]
        assert [simulator.asked(target).count for target in simulator.targets] == [1, 1]


async def test_a_connection_carries_one_request_after_another() -> None:
    async with simulated() as simulator, client_of() as client:
        for stream in (True, False, True):
            answer = await client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=stream))
            assert read(OPENAI, answer).ended

        assert simulator.accepted("zai") == 1
        assert [attempt.connection for attempt in simulator.asked(TARGET).attempts] == [1, 1, 1]


async def test_a_connection_closes_where_the_client_asks_for_it() -> None:
    async with simulated() as simulator:
        body = b'{"model": "glm", "messages": [{"role": "user", "content": "hi"}]}'
        got = await answer_to(simulator, HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    assert b"connection: close" in got
    assert got.endswith(b"}}")


async def test_times_are_noted_as_they_were() -> None:
    async with simulated("first_byte_after,after_s=5") as simulator:
        before = monotonic()
        await ask(simulator, ANTHROPIC, stream=True)
        after = monotonic()
        (attempt,) = simulator.asked(TARGET).attempts

    assert attempt.end_s is not None
    assert before <= attempt.asked_at <= attempt.asked_at + attempt.end_s <= after
    assert attempt.prompt_tokens == len(PROMPT) // 4


async def test_waiting_for_requests_ends_with_the_last_of_them() -> None:
    async with simulated() as simulator:
        waiting = asyncio.create_task(simulator.until_asked(TARGET, 3))
        await asyncio.gather(*(ask(simulator, OPENAI, stream=True) for _ in range(3)))
        asked = await asyncio.wait_for(waiting, 60)

    assert asked.count == 3


@pytest.mark.parametrize("name", ["never_answers", "headers_only", "comments_only", "stall", "loop", "flow"])
async def test_stopping_ends_at_once_whatever_hangs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "_CLOSING_S", 600.0)
    simulator = Simulator({TARGET: name})
    await simulator.start()
    asking = [asyncio.create_task(ask(simulator, OPENAI, stream=True, limit_s=60)) for _ in range(5)]
    await asyncio.wait_for(simulator.until_asked(TARGET, 5), 60)
    async with asyncio.timeout(60):
        await simulator.stop()
    ends = await asyncio.gather(*asking, return_exceptions=True)

    assert all(isinstance(end, httpx.TransportError) for end in ends)
    assert len(asyncio.all_tasks()) == 1


async def test_a_client_that_reads_nothing_doesn_t_keep_the_simulator_from_stopping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "_CLOSING_S", 600.0)
    async with simulated("loop,tokens_per_s=10000,seconds=100000") as simulator, line_to(simulator) as (_, writer):
        body = b'{"model": "glm", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body)
        await asyncio.wait_for(simulator.until_asked(TARGET, 1), 60)
        async with asyncio.timeout(60):
            await simulator.stop()


async def test_no_task_is_left_of_connections_that_ended() -> None:
    async with simulated() as simulator:
        for _ in range(3):
            await ask(simulator, OPENAI, stream=True)
        assert simulator.accepted("zai") == 3
        others = asyncio.all_tasks() - {asyncio.current_task()}
        left = (await asyncio.wait(others, timeout=5))[1] if others else set()

        assert left == set()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("chunked", [False, True], ids=["by length", "chunked"])
async def test_a_body_beyond_the_bound_is_413(wire: str, chunked: bool) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 65536 + 1):
            yield b"x" * 65536

    async with simulated() as simulator, client_of() as client:
        content = parts() if chunked else b"x" * (MAX_BODY_BYTES + 1)
        answer = await client.post(url_of(simulator, wire), content=content)

    assert answer.status_code == 413
    assert read(wire, answer).error is not None


async def test_a_body_in_chunks_is_read() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b'{"model": "glm", "mess'
        yield b'ages": [{"role": "user", "content": "FB-0000000A"}]}'

    async with simulated() as simulator, client_of() as client:
        answer = await client.post(url_of(simulator, OPENAI), content=parts())

    assert read(OPENAI, answer).text.startswith("FB-0000000A")


async def test_a_client_that_waits_for_a_go_ahead_gets_it() -> None:
    async with simulated() as simulator, line_to(simulator) as (reader, writer):
        writer.write(HEAD + b"expect: 100-continue\r\ncontent-length: 2\r\n\r\n")
        first = await asyncio.wait_for(reader.readline(), 60)
        writer.write(b"{}")
        await reader.readline()
        second = await asyncio.wait_for(reader.readline(), 60)

    assert first == b"HTTP/1.1 100 Continue\r\n"
    assert second == b"HTTP/1.1 400 Bad Request\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"hello\r\n\r\n", b"400", id="no HTTP"),
        pytest.param(b"GET //[ HTTP/1.1\r\n\r\n", b"400", id="a path that isn't one"),
        pytest.param(HEAD + b"x: " + b"y" * 70_000 + b"\r\n\r\n", b"431", id="endless headers"),
        pytest.param(HEAD + b"content-length: -1\r\n\r\n", b"400", id="a negative length"),
        pytest.param(HEAD + b"content-length: " + b"9" * 5000 + b"\r\n\r\n", b"400", id="an endless length"),
        pytest.param(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n", b"400", id="a chunk without a size"),
        pytest.param(HEAD + b"transfer-encoding: chunked\r\n\r\n-5\r\n", b"413", id="a chunk of less than nothing"),
        pytest.param(b"POST /v1/other HTTP/1.1\r\nconnection: close\r\n\r\n", b"404", id="an unknown path"),
    ],
)
async def test_bytes_that_are_no_request_are_refused(sent: bytes, status: bytes) -> None:
    async with simulated() as simulator:
        got = await answer_to(simulator, sent)

    assert got.split(b" ")[1] == status


async def test_connections_beyond_the_bound_are_reset() -> None:
    async with simulated("never_answers", connections=2) as simulator:
        asking = [asyncio.create_task(ask(simulator, OPENAI, stream=True)) for _ in range(2)]
        await asyncio.wait_for(simulator.until_asked(TARGET, 2), 60)
        with pytest.raises(httpx.TransportError):
            await ask(simulator, OPENAI, stream=True)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

        assert simulator.asked(TARGET).count == 2


async def test_requests_under_way_go_on_when_the_port_closes() -> None:
    async with simulated("first_byte_after,after_s=10") as simulator:
        asking = asyncio.create_task(ask(simulator, OPENAI, stream=True))
        await asyncio.wait_for(simulator.until_asked(TARGET, 1), 60)
        await simulator.set(TARGET, "refused")

        assert (await asking).ended


async def test_a_port_that_is_taken_opens_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        simulator = Simulator([TARGET], ports={"zai": port})
        with pytest.raises(OSError, match="in use"):
            await simulator.start()
    async with client_of() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(simulator.control_url)


@pytest.mark.parametrize("name", ["zai", "/glm", "zai/", ""])
def test_a_target_s_name_has_two_parts(name: str) -> None:
    with pytest.raises(ValueError, match="is not of the form provider/model"):
        Simulator([name])


def test_a_speed_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="speed must be more than 0"):
        Simulator([TARGET], speed=0)
