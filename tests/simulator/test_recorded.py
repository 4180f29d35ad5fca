"""Recorded exchanges on a real socket: their bytes, their times, their ends."""

import asyncio
import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic

import httpx
import pytest

from breaker.answer import Ended
from breaker.exchange import Exchange
from monitor.simulator import End, Recorded, read_target
from tests.simulator.asking import OPENAI, TARGET, body_for, client_of, simulated, url_of

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"\xc3\xa9"},"finish_reason":"stop"}]}\n\n'


def exchange(
    *data: bytes,
    name: str = "one",
    status: int | None = 200,
    ended: Ended = Ended.COMPLETE,
    end_at_s: float = 1.0,
    headers: Mapping[str, str] | None = None,
) -> Exchange:
    """An exchange whose reads came a second apart."""
    return Exchange(
        id=name,
        wire=OPENAI,
        streamed=True,
        status=status,
        headers=headers or {},
        chunks=tuple((float(place), piece) for place, piece in enumerate(data)),
        ended=ended,
        end_at_s=max(end_at_s, len(data) - 1.0),
    )


async def met(played: Exchange | Recorded, *, speed: float = 100.0, limit_s: float = 60.0) -> httpx.Response:
    """What a client gets in place of an answer."""
    async with simulated(played, speed=speed) as simulator, client_of(limit_s) as client:
        return await client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=True))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param((EVENT,), id="one read"),
        pytest.param((EVENT[:52], EVENT[52:]), id="cut inside a character"),
        pytest.param((b"", EVENT, b""), id="empty reads"),
        pytest.param((b"\xff\x00\xfe",), id="no text at all"),
        pytest.param((b"x" * 300_000, b"y"), id="a large read"),
        pytest.param((), id="nothing"),
    ],
)
async def test_the_client_gets_exactly_the_bytes_of_the_body(data: tuple[bytes, ...]) -> None:
    answer = await met(exchange(*data))

    assert (answer.status_code, answer.content) == (200, b"".join(data))


async def test_status_and_headers_are_those_of_the_exchange() -> None:
    headers = {"Content-Type": "text/html", "X-Request-Id": "7", "Retry-After": "20", "Set-Cookie": "a=b; path=/"}
    answer = await met(exchange(b"<p>", status=521, headers=headers))

    assert answer.status_code == 521
    assert {name: answer.headers[name] for name in headers} == headers


async def test_headers_of_the_connection_and_of_the_length_are_the_simulator_s_own() -> None:
    headers = {"Content-Length": "99", "Transfer-Encoding": "gzip", "Connection": "X-Odd", "Keep-Alive": "timeout=1"}
    answer = await met(exchange(EVENT, headers=headers))

    assert answer.content == EVENT
    assert (answer.headers["transfer-encoding"], answer.headers["connection"]) == ("chunked", "keep-alive")
    assert not {"content-length", "keep-alive"} & set(answer.headers)


async def test_a_header_that_no_server_can_send_harms_no_other() -> None:
    headers = {"bad name": "1", "x-lines": "1\r\nx-more: 2", "x-far": "\u4e2d", "x-good": "3"}
    answer = await met(exchange(EVENT, headers=headers))

    assert answer.content == EVENT
    assert "x-more" not in answer.headers
    assert answer.headers["x-good"] == "3"


async def test_an_encoded_body_stays_encoded() -> None:
    packed = gzip.compress(EVENT)
    answer = await met(exchange(packed[:20], packed[20:], headers={"content-encoding": "gzip"}))

    assert (answer.headers["content-encoding"], answer.content) == ("gzip", EVENT)


@pytest.mark.parametrize("status", [204, 304])
async def test_a_status_without_a_body_has_none(status: int) -> None:
    answer = await met(exchange(b"more", status=status))

    assert (answer.status_code, answer.content) == (status, b"")


async def test_reads_come_at_their_times_divided_by_the_speed() -> None:
    began = monotonic()
    chunks = ((0.0, b": wait\n\n"), (10_000.0, EVENT), (11_000.0, b""))
    async with simulated(replace(exchange(end_at_s=20_000.0), chunks=chunks), speed=20_000.0) as simulator:
        async with client_of() as client:
            await client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=True))
        took_s = monotonic() - began
        asked = await asyncio.wait_for(simulator.until(TARGET, lambda asked: bool(asked.attempts[0].end)), 60)
    (attempt,) = asked.attempts

    assert attempt.headers_s is not None
    assert attempt.first_byte_s is not None
    assert attempt.headers_s < 0.25
    assert 0.5 <= attempt.first_byte_s < took_s
    assert 1.0 <= took_s < 60
    assert (attempt.behaviour, attempt.end) == ("exchange", End.COMPLETE)


@pytest.mark.parametrize(
    ("played", "error"),
    [
        pytest.param(exchange(EVENT, ended=Ended.RESET), httpx.ReadError, id="reset behind the body"),
        pytest.param(exchange(ended=Ended.RESET), httpx.ReadError, id="reset behind the headers"),
        pytest.param(exchange(status=None, ended=Ended.UNREACHABLE), httpx.ReadError, id="no answer but a reset"),
        pytest.param(exchange(EVENT, ended=Ended.SILENCE), httpx.ReadTimeout, id="silence behind the body"),
        pytest.param(exchange(ended=Ended.SILENCE), httpx.ReadTimeout, id="silence behind the headers"),
        pytest.param(exchange(status=None, ended=Ended.SILENCE), httpx.ReadTimeout, id="never answered"),
        pytest.param(exchange(EVENT, ended=Ended.CANCELLED), httpx.ReadTimeout, id="the caller went"),
    ],
)
async def test_an_exchange_ends_as_it_ended(played: Exchange, error: type[httpx.TransportError]) -> None:
    came = bytearray()
    async with simulated(played) as simulator:
        with pytest.raises(error):
            await _read_into(came, url_of(simulator, OPENAI), 1.0 if error is httpx.ReadTimeout else 60.0)

    assert came == b"".join(data for _, data in played.chunks)


async def test_a_large_body_comes_whole_before_a_reset() -> None:
    data, came = b"x" * 3_000_000, bytearray()
    async with simulated(exchange(data, ended=Ended.RESET, end_at_s=0.0)) as simulator:
        with pytest.raises(httpx.ReadError):
            await _read_into(came, url_of(simulator, OPENAI), 60.0)

    assert len(came) == len(data)


async def _read_into(came: bytearray, url: str, limit_s: float) -> None:
    async with (
        client_of(limit_s) as client,
        client.stream("POST", url, json=body_for(OPENAI, stream=True)) as answer,
    ):
        async for data in answer.aiter_raw():
            came += data


async def test_exchanges_are_met_in_turn_and_from_the_first_again() -> None:
    row = Recorded((exchange(b"1"), exchange(b"2", status=503)))
    async with simulated(row) as simulator, client_of() as client:
        answers = [await client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=True)) for _ in range(3)]

        assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"1"), (503, b"2"), (200, b"1")]
        assert simulator.asked(TARGET).behaviours == {"exchange": 3}


async def test_a_target_is_switched_to_an_exchange_over_http() -> None:
    told = {"wire": OPENAI, "stream": True, "status": 502, "chunks": [{"at_ms": 0, "b64": "/w=="}], "end": "close"}
    async with simulated() as simulator, client_of() as client:
        url = f"{simulator.control_url}/targets"
        switched = await client.post(
            url, params={"target": TARGET}, json={"behaviour": "exchange", "exchange": {"id": "seven", **told}}
        )
        answer = await client.post(url_of(simulator, OPENAI), json=body_for(OPENAI, stream=True))

    assert (switched.json()["behaviour"], switched.json()["ids"]) == ("exchange", ["seven"])
    assert (answer.status_code, answer.content) == (502, b"\xff")


@pytest.mark.parametrize("value", [None, 7, {}, {"wire": "morse"}], ids=["none", "number", "empty", "unknown wire"])
async def test_what_is_no_exchange_is_400_over_http(value: object) -> None:
    async with simulated() as simulator, client_of() as client:
        body = {"behaviour": "exchange", "exchange": value}
        answer = await client.post(f"{simulator.control_url}/targets", params={"target": TARGET}, json=body)

    assert answer.status_code == 400


def line(name: str, **others: object) -> str:
    """One exchange as a line of a file."""
    told = {"wire": OPENAI, "stream": True, "status": 200, "chunks": [], "end": "close", "id": name}
    return json.dumps({**told, **others}) + "\n"


@pytest.mark.parametrize(
    ("wanted", "ids"), [("", ["one", "two"]), ("#two", ["two"])], ids=["the whole file", "one of it"]
)
def test_a_target_is_read_with_its_exchanges(tmp_path: Path, wanted: str, ids: list[str]) -> None:
    path = tmp_path / "day.jsonl"
    path.write_text(f"{line('one')}\n{line('two')}", encoding="utf-8")
    name, played = read_target(f"zai/glm=exchange:{path}{wanted}")

    assert name == "zai/glm"
    assert isinstance(played, Recorded)
    assert [exchange.id for exchange in played.exchanges] == ids


@pytest.mark.parametrize(
    ("text", "wanted", "message"),
    [
        pytest.param("", "", "no exchange to play", id="an empty file"),
        pytest.param(line("one"), "#two", "no exchange 'two' among its 1", id="an unknown id"),
        pytest.param(line("one") + "{", "", "line 2 is no JSON", id="no JSON"),
        pytest.param("[" * 100_000, "", "line 1", id="too deep"),
        pytest.param(line("one", end="never"), "", "line 1: end", id="no exchange"),
        pytest.param(line("one", status=101), "", "'one' has status 101", id="a status that no answer ends with"),
    ],
)
def test_a_file_that_can_t_be_played_says_why(tmp_path: Path, text: str, wanted: str, message: str) -> None:
    path = tmp_path / "day.jsonl"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ValueError, match=message):
        Recorded.read(f"{path}{wanted}")
