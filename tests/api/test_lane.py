"""The lane answers a plain GET /route and nothing else, byte for byte as the app does."""

import asyncio
import re
import socket
import struct
import time
from collections.abc import Sequence

import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.route.asked import Asked
from breaker.api.route.desk import Desk
from breaker.api.route.lane import MOST_BYTES, MOST_QUESTIONS, Lane
from breaker.api.route.question import Question
from breaker.api.route.times import EVERY
from breaker.route import Route
from breaker.switchboard import Switchboard, snapshot
from tests.api.lanes import ANSWER, END, HOST, LAST, Counting, both, said, served
from tests.api.world import BACKUP, OTHER, PRIMARY

PLAIN = b"GET /route?route=coder HTTP/1.1\r\n" + HOST + b"\r\n"
LIVE = b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"
WAITS = b"GET /route?route=coder&wait=0.05 HTTP/1.1\r\nIf-None-Match: *\r\n" + HOST + b"\r\n"
# Long enough for others to come behind it on a busy machine.
BY_THE_APP = WAITS.replace(b"wait=0.05", b"x=y&wait=1")
POST = b"POST /reports HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"
TOKENS = Access(host="0.0.0.0", agent_token="agent", admin_token="admin")


def asked(target: bytes = b"/route?route=coder", *headers: bytes, host: bytes = HOST) -> bytes:
    return b"GET %s HTTP/1.1\r\n%s%s\r\n" % (target, host, b"".join(header + b"\r\n" for header in headers))


@pytest.fixture
def routes() -> tuple[Route, ...]:
    return (
        Route(name="coder", targets=(PRIMARY, BACKUP)),
        Route(name="default", targets=(OTHER,)),
        Route(name="odd name/ü+1", targets=(BACKUP,)),
    )


@pytest.fixture
def desk(switchboard: Switchboard, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(snapshot, "OLD_AFTER_S", 3600.0)  # a busy machine might refresh it too late
    return Desk.over(switchboard)


@pytest.fixture
def app(switchboard: Switchboard, desk: Desk) -> FastAPI:
    return create_app(switchboard, access=Access(), desk=desk)


# What is sent, in parts that arrive apart, and how many of the questions the lane may answer.
QUESTIONS = [
    pytest.param([PLAIN], 1, id="plain"),
    pytest.param([asked(b"/route")], 1, id="the default route"),
    pytest.param([asked(b"/route?route=odd%20name%2F%C3%BC%2B1")], 1, id="a quoted name"),
    pytest.param([asked(b"/route?route=odd%20name/%C3%BC%2B1")], 1, id="a quoted name with its slash"),
    pytest.param([asked(b"/route?route=odd+name/%c3%bc%2B1")], 0, id="a name quoted otherwise"),
    pytest.param([asked(b"/route?route=codr")], 0, id="an unknown route"),
    pytest.param([asked(b"/route?route=")], 0, id="an empty name"),
    pytest.param([asked(b"/route?")], 0, id="an empty query"),
    pytest.param([asked(b"/route/")], 0, id="another path"),
    pytest.param([asked(b"/routes")], 0, id="a longer path"),
    pytest.param([asked(b"/%72oute?route=coder")], 0, id="a quoted path"),
    pytest.param([asked(b"/route?route=coder#x")], 0, id="a fragment"),
    pytest.param([asked(b"http://127.0.0.1/route?route=coder")], 0, id="an absolute target"),
    pytest.param([asked(b"/route?route=coder&route=default")], 0, id="a name given twice"),
    pytest.param([asked(b"/route?route=coder&wait=30")], 1, id="a wait without a condition"),
    pytest.param([asked(b"/route?wait=30")], 1, id="a wait for the default route"),
    pytest.param([asked(b"/route?wait=30&route=coder")], 0, id="a wait before the name"),
    pytest.param([asked(b"/route?route=coder&wait=x")], 0, id="a wait that is none"),
    pytest.param([asked(b"/route?route=coder&wait=0")], 0, id="a wait of nothing"),
    pytest.param([asked(b"/route?route=coder&wait=60.001")], 0, id="a wait that is too long"),
    pytest.param([asked(b"/route?route=coder&wait=60")], 1, id="the longest wait"),
    pytest.param([asked(b"/route?route=coder&wait=6e1")], 0, id="a wait written otherwise"),
    pytest.param([asked(b"/route?route=coder&wait=1&wait=2")], 0, id="two waits"),
    pytest.param([asked(b"/route?route=coder", b'If-None-Match: "x"')], 1, id="a condition"),
    pytest.param([asked(b"/route?route=coder", b"if-none-match: *")], 1, id="a condition that always holds"),
    pytest.param([asked(b"/route?route=coder", b"if-none-match:")], 1, id="an empty condition"),
    pytest.param([asked(b"/route", b"If-None-Match: *", b'If-None-Match: "x"')], 0, id="two conditions"),
    pytest.param([asked(b"/route", b'If-None-Match: "x"', b"If-None-Match: *")], 0, id="two conditions, turned"),
    pytest.param([WAITS], 1, id="a wait"),
    pytest.param([WAITS, PLAIN, POST], 1, id="behind a wait"),
    pytest.param([WAITS, ANSWER, WAITS, ANSWER, PLAIN], 3, id="one wait after the other"),
    pytest.param([WAITS + PLAIN], 0, id="a wait and another at once"),
    pytest.param([WAITS, PLAIN[:20], PLAIN[20:], WAITS], 1, id="behind a wait, cut"),
    pytest.param([PLAIN.replace(b"GET", b"HEAD")], 0, id="HEAD"),
    pytest.param([PLAIN.replace(b"GET", b"OPTIONS")], 0, id="OPTIONS"),
    pytest.param([PLAIN.replace(b"GET", b"DELETE")], 0, id="DELETE"),
    pytest.param([PLAIN.replace(b"GET", b"get"), END], 0, id="a method in small letters"),
    pytest.param([PLAIN.replace(b"1.1", b"1.0"), END], 0, id="HTTP/1.0"),
    pytest.param([asked(b"/route", b"Connection: keep-alive").replace(b"1.1", b"1.0"), ANSWER], 0, id="1.0, kept"),
    pytest.param([PLAIN.replace(b"1.1", b"2.0"), END], 0, id="HTTP/2.0"),
    pytest.param([b"GET /route\r\n\r\n", END], 0, id="HTTP/0.9"),
    pytest.param([asked(b"/route", b"Connection: close"), END], 0, id="Connection: close"),
    pytest.param([asked(b"/route", b"Connection: Keep-Alive, Close"), END], 0, id="Connection: close among others"),
    pytest.param([asked(b"/route", b"Connection: keep-alive")], 1, id="Connection: keep-alive"),
    pytest.param([asked(b"/route", b"Content-Length: 2") + b"{}"], 0, id="a body"),
    pytest.param([asked(b"/route", b"Content-Length: 0")], 0, id="an empty body"),
    pytest.param([asked(b"/route", b"Transfer-Encoding: chunked") + b"0\r\n\r\n"], 0, id="a chunked body"),
    pytest.param([asked(b"/route", b"Expect: 100-continue", b"Content-Length: 2"), b"{}"], 0, id="Expect"),
    pytest.param([asked(b"/route", b"Connection: upgrade", b"Upgrade: websocket")], 0, id="an upgrade"),
    pytest.param([asked(b"/route", b"Connection: upgrade", b"Upgrade: h2c"), ANSWER, PLAIN], 1, id="after an upgrade"),
    pytest.param([asked(b"/route", b"Upgrade: h2c"), ANSWER, PLAIN], 1, id="an upgrade that is none"),
    pytest.param([asked(host=b"Host: firstbyte.example\r\n")], 0, id="another host"),
    pytest.param([asked(host=b"")], 0, id="no host"),
    pytest.param([asked(host=HOST + b"Host: firstbyte.example\r\n")], 1, id="two hosts"),
    pytest.param([asked(host=b"Host: firstbyte.example\r\n" + HOST)], 0, id="two hosts, the other first"),
    pytest.param([asked(host=b"hOST:localhost:8642\r\n")], 1, id="localhost"),
    pytest.param([asked(b"/route", b"Origin: http://firstbyte.example")], 0, id="another site"),
    pytest.param([asked(b"/route", b"Origin: http://127.0.0.1")], 1, id="our own page"),
    pytest.param([asked(b"/route", b"Accept: text/html", b"Accept-Encoding: gzip", b"X-Y: \xff")], 1, id="headers"),
    pytest.param([asked(b"/route", b"Range: bytes=0-1")], 1, id="a range"),
    pytest.param([asked(b"/route", b"X: a", b" folded")], 0, id="a folded header"),
    pytest.param([asked(b"/route", b"X : a"), END], 0, id="a space before a colon"),
    pytest.param([asked(b"/route", b"X: \x00"), END], 0, id="a NUL"),
    pytest.param([asked(b"/route", b"no colon"), END], 0, id="no header"),
    pytest.param([asked(b"/route", b"X: " + b"x" * MOST_BYTES)], 0, id="a long header"),
    pytest.param([PLAIN.replace(b"\r\n", b"\n")], 0, id="bare line feeds"),
    pytest.param([b"\r\n" + PLAIN], 0, id="an empty line before"),
    pytest.param([b"\r\n", PLAIN], 1, id="an empty line before, apart"),
    pytest.param([PLAIN + b"\r\n"], 1, id="an empty line after"),
    pytest.param([PLAIN + b"x", END], 0, id="rubble after"),
    pytest.param([PLAIN + b"\x00", END], 0, id="a NUL after"),
    pytest.param([b"x" + PLAIN, END], 0, id="rubble before"),
    pytest.param([b"rubble\r\n\r\n", END], 0, id="rubble"),
    pytest.param([PLAIN, PLAIN, asked(b"/route")], 3, id="one after the other"),
    pytest.param([PLAIN, ANSWER, PLAIN, ANSWER, asked(b"/route"), ANSWER], 3, id="one after the other's answer"),
    pytest.param([PLAIN * 3], 0, id="three at once"),
    pytest.param([BY_THE_APP, PLAIN, PLAIN], 0, id="behind one that the app has not answered"),
    pytest.param([LIVE, ANSWER, PLAIN, ANSWER, POST, ANSWER, PLAIN, ANSWER], 2, id="between those of the app"),
    pytest.param([POST + PLAIN, ANSWER, ANSWER, PLAIN], 1, id="after two at once"),
    pytest.param([POST[:-1], PLAIN], 0, id="as the end of a body"),
    pytest.param([PLAIN[:1], PLAIN[1:]], 0, id="cut in the method"),
    pytest.param([PLAIN[:12], PLAIN[12:]], 0, id="cut in the target"),
    pytest.param([PLAIN[:40], PLAIN[40:]], 0, id="cut in a header"),
    pytest.param([PLAIN[:-1], PLAIN[-1:]], 0, id="cut before the last byte"),
    pytest.param([PLAIN[:-1], PLAIN[-1:] + PLAIN, ANSWER, ANSWER, PLAIN], 1, id="cut, with another"),
    pytest.param([PLAIN[:9], PLAIN[9:] + PLAIN[:9], PLAIN[9:], ANSWER, ANSWER, PLAIN], 1, id="cut twice"),
    pytest.param([bytes([byte]) for byte in PLAIN], 0, id="byte by byte"),
]


@pytest.mark.parametrize(("parts", "answered"), QUESTIONS)
async def test_both_lanes_say_the_same(app: FastAPI, desk: Desk, parts: Sequence[bytes], answered: int) -> None:
    async with both(app, desk, Access()) as (lane, fast, plain):
        for _ in range(2):  # the second time the question is known
            with_lane, without = await said(fast, parts), await said(plain, parts)

            assert with_lane == without
            assert with_lane.startswith(b"HTTP/1.1 ")
        counts = [one.server.server_state.total_requests for one in (fast, plain)]

    assert lane.answered == 2 * answered
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        pytest.param(PLAIN, 1, id="plain"),
        pytest.param(asked(host=b"Host: firstbyte.example\r\n"), 1, id="another host"),
        pytest.param(asked(b"/route", b"Authorization: Bearer wrong"), 1, id="a token that is none"),
        pytest.param(asked(b"/route", b"Origin: http://firstbyte.example"), 1, id="another site"),
    ],
)
async def test_with_tokens_whoever_may_look_may_ask(
    switchboard: Switchboard, desk: Desk, question: bytes, answered: int
) -> None:
    app = create_app(switchboard, access=TOKENS, desk=desk)
    async with both(app, desk, TOKENS) as (lane, fast, plain):
        assert await said(fast, [question]) == await said(plain, [question])

    assert lane.answered == answered


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"limit_concurrency": 1}, id="a limit on connections"),
        pytest.param({"root_path": "/firstbyte"}, id="a prefix"),
    ],
)
async def test_what_the_lane_does_not_see_to_is_left_to_the_app(
    app: FastAPI, desk: Desk, config: dict[str, object]
) -> None:
    async with both(app, desk, Access(), **config) as (lane, fast, plain):
        assert await said(fast, [PLAIN]) == await said(plain, [PLAIN])

    assert lane.answered == 0


async def test_a_move_is_in_the_very_next_answer(app: FastAPI, desk: Desk, switchboard: Switchboard) -> None:
    async with served(app, Counting(desk, Access())) as fast:
        before = await said(fast, [PLAIN])
        await switchboard.hold(PRIMARY.name, opened=True, who="anna", why="test", for_s=60)
        after = await said(fast, [PLAIN])

    assert PRIMARY.name.encode() in before.partition(b'"target": ')[2][:40]
    assert BACKUP.name.encode() in after.partition(b'"target": ')[2][:40]


async def test_the_lane_and_the_app_count_each_answer_once(app: FastAPI, desk: Desk) -> None:
    parts = [PLAIN, ANSWER, WAITS, ANSWER, asked(b"/route", b"If-None-Match: *"), ANSWER, BY_THE_APP, ANSWER]
    async with both(app, desk, Access()) as (lane, fast, plain):
        for server in (fast, plain):
            await said(server, parts)
        answered = lane.answered
    times = {(told.route, told.target, told.role.value): times for told, times in desk.prepared.given.times() if times}

    assert answered == 3
    assert times == {("coder", PRIMARY, "primary"): 6, ("default", OTHER, "primary"): 2}


async def test_questions_without_end_cost_a_bounded_memory(desk: Desk) -> None:
    lane = Lane(desk, Access())

    for number in range(MOST_QUESTIONS * 2 + 7):
        assert lane.question(asked(b"/route", b"Traceparent: %d" % number)) == Question(Asked("default"))

    assert len(lane._questions) == 7


async def test_an_idle_connection_is_closed_when_its_time_after_the_last_answer_is_over(
    app: FastAPI, desk: Desk
) -> None:
    async with both(app, desk, Access(), timeout_keep_alive=1) as (lane, fast, plain):
        for one in (fast, plain):
            reader, writer = await asyncio.open_connection(*one.place)
            writer.write(PLAIN)
            await reader.readuntil(b"}")
            answered_at = time.monotonic()
            async with asyncio.timeout(25):
                assert await reader.read() == b""
            assert time.monotonic() - answered_at > 0.9
            writer.close()

    assert lane.answered == 1


async def test_each_answer_puts_the_end_of_an_idle_connection_off(app: FastAPI, desk: Desk) -> None:
    async with served(app, Counting(desk, Access()), timeout_keep_alive=60) as fast:
        reader, writer = await asyncio.open_connection(*fast.place)
        writer.write(PLAIN)
        await reader.readuntil(b"}")
        (connection,) = fast.connections
        timer = connection.timeout_keep_alive_task
        connection.timeout_keep_alive_handler()  # as if 60 s had passed since an earlier answer

        assert not connection.transport.is_closing()
        assert connection.timeout_keep_alive_task not in (None, timer)
        connection._answered_at -= 61  # type: ignore[attr-defined] # the lane's
        connection.timeout_keep_alive_handler()
        assert await reader.read() == b""
        writer.close()


async def test_a_reader_that_is_slow_gets_all_its_answers_in_their_order(app: FastAPI, desk: Desk) -> None:
    lane = Counting(desk, Access())
    async with served(app, lane) as fast:
        reader, writer = await asyncio.open_connection(*fast.place)
        writer.write(PLAIN)
        heard = await reader.readuntil(b"}")
        (connection,) = fast.connections
        connection.pause_writing()  # as the transport does when its buffer is full
        for question in (PLAIN, asked(b"/route"), LAST):
            writer.write(question)
            for _ in range(20):
                await asyncio.sleep(0)
        connection.resume_writing()
        async with asyncio.timeout(25):
            heard += await reader.read()
        writer.close()

    assert re.findall(rb'"(?:route|alive)": "?(\w+)', heard) == [b"coder", b"coder", b"default", b"true"]
    assert lane.answered == 1


@pytest.mark.parametrize(
    "rubble", [b"rubble\r\n\r\n", b"\x01", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n"]
)
@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        pytest.param([PLAIN], [b"200"], id="a question"),
        pytest.param([LIVE + PLAIN + LIVE], [b"200"] * 3, id="several"),
        pytest.param([POST], [b"400"], id="a body"),
        pytest.param([WAITS], [b"304"], id="a wait"),
        pytest.param([WAITS, b""], [b"304"], id="a wait, apart"),
        pytest.param([BY_THE_APP + LIVE], [b"304", b"200"], id="a wait of the app's and another"),
    ],
)
async def test_rubble_takes_no_answer_away_that_was_owed_before_it(
    app: FastAPI, desk: Desk, sent: list[bytes], rubble: bytes, statuses: list[bytes]
) -> None:
    parts = [*sent[:-1], sent[-1] + rubble, PLAIN, END]
    async with both(app, desk, Access()) as (_, fast, plain):
        with_lane, without = await said(fast, parts), await said(plain, parts)

    assert with_lane == without
    assert re.findall(rb"HTTP/1.1 (\d+)", with_lane) == [*statuses, b"400"]
    assert with_lane.endswith(b'read as a request by HTTP/1.1"}')


async def test_who_waits_is_not_read_without_end(app: FastAPI, desk: Desk) -> None:
    tag = desk.prepared.answer(Asked("coder")).etag.encode()
    async with served(app, Counting(desk, Access())) as fast:
        reader, writer = await asyncio.open_connection(*fast.place)
        writer.write(asked(b"/route?route=coder&wait=60", b"If-None-Match: " + tag))
        async with asyncio.timeout(25):
            while len(desk.waiting) != 1:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
            (connection,) = fast.connections
            behind = PLAIN * 4_000
            writer.write(behind + LAST)
            while not connection.flow.read_paused:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
            desk.close()
            heard = await reader.read()
        writer.close()

    assert heard.count(b"HTTP/1.1 200 OK") == 4_001
    assert heard.startswith(b"HTTP/1.1 304 ")


async def test_a_server_that_stops_answers_who_waits(app: FastAPI, desk: Desk) -> None:
    tag = desk.prepared.answer(Asked("coder")).etag.encode()
    async with served(app, Counting(desk, Access())) as fast:
        reader, writer = await asyncio.open_connection(*fast.place)
        writer.write(asked(b"/route?route=coder&wait=60", b"If-None-Match: " + tag))
        async with asyncio.timeout(25):
            while len(desk.waiting) != 1:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
            await fast.stop()
            assert (await reader.read()).startswith(b"HTTP/1.1 304 ")
        writer.close()


async def test_a_server_that_stops_closes_idle_connections(app: FastAPI, desk: Desk) -> None:
    async with served(app, Counting(desk, Access())) as fast:
        reader, writer = await asyncio.open_connection(*fast.place)
        writer.write(PLAIN)
        await reader.readuntil(b"}")
        await fast.stop()

        assert await reader.read() == b""
        writer.close()


async def test_the_lane_times_some_of_its_answers(app: FastAPI, desk: Desk) -> None:
    """One in eight, so that timing costs next to nothing."""
    async with both(app, desk, Access()) as (_, fast, _):
        for _ in range(2 * EVERY):
            await said(fast, [PLAIN])

    assert sum(desk.times.counts) == 2
    assert 0 < desk.times.sum_s < 60


@pytest.mark.parametrize("lane", [True, False], ids=["lane", "app"])
@pytest.mark.parametrize("apart", [True, False], ids=["later", "at once"])
async def test_who_says_no_more_is_answered_and_does_not_wait(
    app: FastAPI, desk: Desk, *, lane: bool, apart: bool
) -> None:
    async with served(app, Lane(desk, Access()) if lane else None) as server:
        reader, writer = await asyncio.open_connection(*server.place)
        writer.write(WAITS.replace(b"wait=0.05", b"wait=60"))
        async with asyncio.timeout(25):
            while apart and len(desk.waiting) != 1:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
            writer.write_eof()
            assert (await reader.read()).startswith(b"HTTP/1.1 304 ")
        writer.close()
        assert len(desk.waiting) == 0


@pytest.mark.parametrize("lane", [True, False], ids=["lane", "app"])
@pytest.mark.parametrize("reset", [True, False], ids=["reset", "closed"])
async def test_who_goes_away_waits_no_more_whatever_it_has_asked_besides(
    app: FastAPI, desk: Desk, caplog: pytest.LogCaptureFixture, *, lane: bool, reset: bool
) -> None:
    async with served(app, Lane(desk, Access()) if lane else None) as server:
        _, writer = await asyncio.open_connection(*server.place)
        writer.write(BY_THE_APP.replace(b"wait=1", b"wait=60") + LIVE)
        async with asyncio.timeout(25):
            while not (len(desk.waiting) and server.connections[0].pipeline):  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.001)
            if reset:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            while len(desk.waiting) or server.connections:  # noqa: ASYNC110 # they have none
                await asyncio.sleep(0.001)

    assert caplog.records == []
