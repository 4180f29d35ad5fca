"""What a connection may send before anybody has answered it, and what it gets for more."""

import asyncio
import contextlib
import json
import logging
import re
import socket
import time

import pytest
from fastapi import FastAPI

from breaker.api import Access, connection, create_app
from breaker.api.connection import MAX_HEAD_BYTES
from breaker.api.route.desk import Desk
from breaker.api.route.lane import Lane
from breaker.switchboard import Switchboard
from tests.api.lanes import HOST, LAST, Served, served
from tests.api.world import good

ASKED = b"GET /route?route=coder HTTP/1.1\r\n" + HOST
PLAIN = ASKED + b"\r\n"
LONG = b"X: " + b"x" * 1_000 + b"\r\n"
CHUNKED = b"POST /reports HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
WISHES = [
    pytest.param(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n", id="h2c"),
    pytest.param(b"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", id="websocket"),
]


@pytest.fixture
def desk(switchboard: Switchboard, keeping: asyncio.Task[None]) -> Desk:
    assert not keeping.done()
    return Desk.over(switchboard)


@pytest.fixture
def app(switchboard: Switchboard, desk: Desk) -> FastAPI:
    return create_app(switchboard, access=Access(), desk=desk)


async def heard(server: Served, *parts: bytes) -> bytes:
    """All that comes back until the server closes, when these parts arrive apart; what it doesn't read isn't sent."""
    reader, writer = await asyncio.open_connection(*server.place)

    async def send() -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            for _ in range(5):
                await asyncio.sleep(0)

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(120):
            answer = bytearray()
            try:
                while some := await reader.read(65_536):
                    answer += some
            except ConnectionResetError:  # it closed while more was sent
                pass
            return bytes(answer)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def problem(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head.lower()
    said = json.loads(body)
    return said["status"], said["type"].rpartition(":")[2]


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([ASKED, *[LONG] * 1_000], id="headers without end"),
        pytest.param([b"GET /route?route=", *[b"x" * 1_000] * 1_000], id="a target without end"),
        pytest.param([ASKED + b"X: ", *[b"x" * 1_000] * 1_000], id="a header without end"),
        pytest.param([CHUNKED + b"1\r\n[\r\n0\r\n", *[LONG] * 1_000], id="trailers without end"),
        pytest.param([CHUNKED + b"1;x=", *[b"x" * 1_000] * 1_000], id="a chunk's extension without end"),
    ],
)
async def test_a_head_without_end_is_refused(app: FastAPI, sent: list[bytes]) -> None:
    async with served(app, None) as server:
        answer = await heard(server, *sent)

    # Where it is closed while more is sent, the answer may be lost on its way.
    assert answer == b"" or problem(answer) == (431, "too-long")


async def test_a_head_that_is_too_long_is_told_so(app: FastAPI) -> None:
    parts = [LONG] * (MAX_HEAD_BYTES // len(LONG))
    async with served(app, None) as server:
        whole = await heard(server, ASKED, *parts, b"Connection: close\r\n\r\n")
        refused = await heard(server, ASKED, *parts, LONG)

    assert whole.startswith(b"HTTP/1.1 200 ")
    assert problem(refused) == (431, "too-long")


async def test_a_body_in_many_chunks_is_read(app: FastAPI) -> None:
    body = json.dumps([good(f"{i}") for i in range(200)]).encode()
    pieces = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[i : i + 3] for i in range(0, len(body), 3))]
    assert sum(map(len, pieces)) - len(body) > MAX_HEAD_BYTES / 2
    async with served(app, None) as server:
        answer = await heard(server, CHUNKED, *pieces, b"0\r\n\r\n" + LAST)

    assert answer.startswith(b"HTTP/1.1 202 ")
    assert b'{"accepted": 200, ' in answer


@pytest.mark.parametrize("lane", [True, False], ids=["lane", "app"])
async def test_few_questions_wait_for_their_turn_however_many_come_at_once(
    app: FastAPI, desk: Desk, *, lane: bool
) -> None:
    live = b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"
    held = PLAIN.replace(b"coder", b"coder&x=y&wait=0.5").replace(HOST, HOST + b"If-None-Match: *\r\n")
    report = json.dumps([good(f"{i}") for i in range(100)]).encode()
    head = CHUNKED.replace(b"Transfer-Encoding: chunked", b"Content-Length: %d" % len(report))
    seen: list[int] = []

    async def look(server: Served) -> None:
        while True:
            seen.extend(len(one.pipeline) for one in server.connections)
            await asyncio.sleep(0)

    async with served(app, Lane(desk, Access()) if lane else None) as server:
        looking = asyncio.create_task(look(server))
        answer = await heard(server, held + (live * 1_000 + head + report + PLAIN) * 3 + LAST)
        looking.cancel()

    assert answer.count(b"HTTP/1.1 ") == 1 + 3 * 1_002 + 1
    assert [answer.count(b"HTTP/1.1 %d " % status) for status in (304, 202, 200)] == [1, 3, 3 * 1_001 + 1]
    assert connection.MOST_AHEAD <= max(seen) <= connection.MOST_AHEAD + connection._PIECE // len(live)


@pytest.mark.parametrize("sent", [b"rubble\r\n\r\n", b"\x16\x03\x01\x02\x00", b"FOO / HTTP/1.1\r\n\r\n"])
async def test_what_is_no_http_gets_a_problem_and_no_line_in_the_log(
    app: FastAPI, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    with caplog.at_level(logging.WARNING):
        async with served(app, None) as server:
            answer = await heard(server, sent)

    assert problem(answer) == (400, "unreadable")
    assert caplog.records == []


@pytest.mark.parametrize("sent", [b"G", ASKED], ids=["a letter", "half a head"])
async def test_half_a_head_is_not_waited_for(app: FastAPI, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connection, "HEAD_WITHIN_S", 0.5)
    async with served(app, None) as server:
        answer = await heard(server, sent)

    assert problem(answer) == (408, "too-slow")


async def test_who_says_nothing_is_not_waited_for(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_WITHIN_S", 0.05)
    async with served(app, None) as server:
        assert await heard(server) == b""


@pytest.mark.parametrize("asked", [PLAIN, PLAIN.replace(b"/route?route=coder", b"/livez")], ids=["lane", "app"])
async def test_who_has_asked_may_be_silent(
    app: FastAPI, desk: Desk, monkeypatch: pytest.MonkeyPatch, asked: bytes
) -> None:
    monkeypatch.setattr(connection, "HEAD_WITHIN_S", 0.5)
    async with served(app, Lane(desk, Access())) as server:
        reader, writer = await asyncio.open_connection(*server.place)
        writer.write(asked)
        await reader.readuntil(b"}")
        over = time.monotonic() + 0.7
        while time.monotonic() < over:  # noqa: ASYNC110 # it is the clock that is waited for
            await asyncio.sleep(0.05)
        writer.write(LAST)
        async with asyncio.timeout(120):
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
@pytest.mark.parametrize("apart", [1, 7, 1_000_000])
async def test_a_body_is_read_whatever_protocol_its_client_would_rather_speak(
    app: FastAPI, wish: bytes, *, chunked: bool, apart: int
) -> None:
    body = json.dumps(good()).encode()
    frame, sent = (b"Content-Length: %d\r\n" % len(body), body)
    if chunked:
        frame, sent = b"Transfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    head = b"POST /reports HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" + wish + frame + b"\r\n"
    whole = head + sent + PLAIN + head + sent + LAST
    async with served(app, None) as server:
        answer = await heard(server, *(whole[i : i + apart] for i in range(0, len(whole), apart)))

    assert answer.count(b"HTTP/1.1 202 ") == 2
    assert answer.count(b"HTTP/1.1 200 ") == 2
    assert answer.count(b'{"accepted": 1, ') == 2


async def test_the_head_of_a_stream_has_an_end(app: FastAPI, desk: Desk) -> None:
    async with served(app, None) as server:
        answer = await heard(server, b"HEAD /events HTTP/1.1\r\n" + HOST + b"\r\n", LAST)

    assert answer.count(b"HTTP/1.1 200 ") == 2
    assert b"content-type: text/event-stream" in answer
    assert len(desk.feed) == 0


async def last_words(server: Served, sent: bytes) -> bytes:
    """All that comes back to a client that sends this and says at once that nothing more will come."""
    reader, writer = await asyncio.open_connection(*server.place)
    writer.write(sent)
    writer.write_eof()
    try:
        async with asyncio.timeout(25):
            return await reader.read()
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


STEP = json.dumps({"seq": 1, **good()}).encode()
STEPS = CHUNKED.replace(b"/reports", b"/runs/one/steps").replace(
    b"Transfer-Encoding: chunked", b"Content-Length: %d" % len(STEP)
)


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        pytest.param(PLAIN, [200], id="from memory"),
        pytest.param(PLAIN.replace(b"/route?route=coder", b"/moves"), [200], id="from the store"),
        pytest.param(PLAIN.replace(b"/route?route=coder", b"/"), [200], id="the page"),
        pytest.param(STEPS + STEP, [202], id="a body"),
        pytest.param(PLAIN.replace(b"/route?route=coder", b"/moves") * 40, [200] * 40, id="many"),
        pytest.param(PLAIN.replace(b"/route?route=coder", b"/moves") + b"GET", [200], id="with half a head behind"),
        pytest.param(PLAIN.replace(b"/route?route=coder", b"/moves") + b"\0", [200, 400], id="with rubble behind"),
        pytest.param(b"GET", [], id="half a head"),
        pytest.param(STEPS + STEP[:-1], [], id="half a body"),
    ],
)
async def test_who_says_no_more_gets_all_that_is_owed(
    app: FastAPI, desk: Desk, sent: bytes, statuses: list[int]
) -> None:
    async with served(app, Lane(desk, Access())) as server:
        answer = await last_words(server, sent)

    assert [int(status) for status in re.findall(rb"HTTP/1.1 (\d+) ", answer)] == statuses


async def test_who_says_no_more_is_not_kept_for_long(app: FastAPI, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ANSWER_WITHIN_S", 0.1)
    never = asyncio.Event()

    @app.get("/never")
    async def wait_for_it() -> None:
        await never.wait()

    async with served(app, None) as server:
        assert await last_words(server, b"GET /never HTTP/1.1\r\n" + HOST + b"\r\n") == b""
        never.set()


async def test_a_stream_ends_with_its_clients_last_word(app: FastAPI, desk: Desk) -> None:
    async with served(app, None) as server:
        reader, writer = await asyncio.open_connection(*server.place)
        writer.write(b"GET /events HTTP/1.1\r\n" + HOST + b"\r\n")
        async with asyncio.timeout(25):
            await reader.readuntil(b"retry: 1000\n\n")
            writer.write_eof()
            await reader.read()
            while len(desk.feed):  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
        writer.close()


@pytest.mark.parametrize("apart", [1_000_000, 20], ids=["at once", "apart"])
async def test_what_comes_behind_a_body_is_no_header(app: FastAPI, apart: int) -> None:
    plain = CHUNKED.replace(b"Content-Type: application/json\r\n", b"")
    sent = plain + b"2\r\n[]\r\n0\r\nContent-Type: application/json\r\n\r\n" + LAST
    async with served(app, None) as server:
        answer = await heard(server, *(sent[i : i + apart] for i in range(0, len(sent), apart)))

    assert re.findall(rb"HTTP/1.1 (\d+) ", answer) == [b"415", b"200"]


async def test_who_takes_nothing_is_cut_off(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TAKE_WITHIN_S", 0.1)
    async with served(app, None) as server:
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            silent.connect(server.place)
            silent.setblocking(False)
            loop = asyncio.get_running_loop()
            asked = PLAIN.replace(b"/route?route=coder", b"/openapi.json")
            async with asyncio.timeout(120):
                with contextlib.suppress(ConnectionError):
                    while True:  # until nothing more is taken from it either, and then until it is cut off
                        await loop.sock_sendall(silent, asked * 100)
            while server.connections:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
