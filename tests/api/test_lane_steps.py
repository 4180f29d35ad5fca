"""The lane answers what differs from step to step too, byte for byte as the app does, and keeps none of it."""

import asyncio
import re
from collections.abc import Sequence

import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.route import lane as lanes
from breaker.api.route import prepared
from breaker.api.route.desk import Desk
from breaker.api.route.lane import Lane
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Ability
from tests.api.lanes import ANSWER, END, HOST, Counting, both, said, served
from tests.api.world import BACKUP, MIXED, OTHER, PRIMARY, closes


def asked(target: bytes, *headers: bytes) -> bytes:
    return b"GET %s HTTP/1.1\r\n%s%s\r\n" % (target, HOST, b"".join(header + b"\r\n" for header in headers))


@pytest.fixture
def routes() -> tuple[Route, ...]:
    return Route(name="coder", targets=(PRIMARY, BACKUP)), Route(name="default", targets=(OTHER,)), MIXED


@pytest.fixture
def desk(switchboard: Switchboard, keeping: asyncio.Task[None]) -> Desk:
    return Desk.over(switchboard)


@pytest.fixture
def app(switchboard: Switchboard, desk: Desk) -> FastAPI:
    return create_app(switchboard, access=Access(), desk=desk)


# What is sent, and how many of the questions the lane may answer.
QUESTIONS = [
    pytest.param([asked(b"/route?route=coder&session=a")], 1, id="a session"),
    pytest.param([asked(b"/route?session=a")], 1, id="a session of the default route"),
    pytest.param([asked(b"/route?session=a&route=coder")], 1, id="a session before the name"),
    pytest.param([asked(b"/route?session=a&wait=9")], 1, id="a session before a wait"),
    pytest.param([asked(b"/route?needs=tools&route=mixed")], 1, id="needs before the name"),
    pytest.param([asked(b"/route&session=a")], 0, id="a path that looks like a session"),
    pytest.param([asked(b"/route&input_tokens=9")], 0, id="a path that looks like tokens"),
    pytest.param([asked(b"/route&needs=tools")], 0, id="a path that looks like needs"),
    pytest.param([asked(b"/route&wait=9")], 0, id="a path that looks like a wait"),
    pytest.param([asked(b"/route?session=a&wait=9"), ANSWER, asked(b"/route&wait=9")], 1, id="the like of it first"),
    pytest.param([asked(b"/route &session=a"), END], 0, id="a session behind the target"),
    pytest.param([asked(b"/route?route=coder&session=%61")], 0, id="a quoted session"),
    pytest.param([asked(b"/route?route=coder&session=a+b")], 0, id="a session with a blank"),
    pytest.param([asked(b"/route?route=coder&session=")], 0, id="an empty session"),
    pytest.param([asked(b"/route?route=coder&session=" + b"a" * 128)], 1, id="the longest session"),
    pytest.param([asked(b"/route?route=coder&session=" + b"a" * 129)], 0, id="a session that is too long"),
    pytest.param([asked(b"/route?route=coder&session=a&session=b")], 0, id="two sessions"),
    pytest.param([asked(b"/route?route=coder&session=a#b")], 0, id="a session with a fragment"),
    pytest.param([asked(b"/route?route=coder?session=a")], 0, id="a name that looks like a session"),
    pytest.param([asked(b"/route?route=/route?session=a")], 0, id="a name that looks like a session even more"),
    pytest.param([asked(b"/route?route=coder?wait=1", b"If-None-Match: *")], 0, id="a name that looks like a wait"),
    pytest.param([asked(b"/route?route=coder", b"X: GET /route?session=a ")], 1, id="a header that looks like one"),
    pytest.param([asked(b"/route?route=coder&session=a&wait=9")], 1, id="a session and a wait"),
    pytest.param([asked(b"/route?route=coder&session=a", b"If-None-Match: *")], 1, id="a session and a condition"),
    pytest.param([asked(b"/route?route=coder&session=a") * 2], 0, id="two with a session at once"),
    pytest.param([asked(b"/route?route=coder&needs=tools&input_tokens=9")], 1, id="needs that nobody declares"),
    pytest.param([asked(b"/route?route=mixed&needs=tools,vision&input_tokens=9")], 1, id="needs that a backup meets"),
    pytest.param([asked(b"/route?route=mixed&needs=audio&session=a&wait=9")], 1, id="needs that nobody meets"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=64000&session=a")], 1, id="tokens that a backup takes"),
    pytest.param([asked(b"/route?route=mixed&session=a&input_tokens=64001")], 1, id="tokens that nobody takes"),
    pytest.param([asked(b"/route?needs=&input_tokens=0")], 1, id="needs of the default route"),
    pytest.param([asked(b"/route?route=mixed&needs=&input_tokens=0")], 1, id="empty needs"),
    pytest.param([asked(b"/route?route=mixed&needs=,tools,,tools")], 1, id="a need twice, and none"),
    pytest.param([asked(b"/route?route=mixed&needs=tools&needs=vision")], 0, id="needs twice"),
    pytest.param([asked(b"/route?route=mixed&needs=tools,%20vision")], 0, id="needs with a blank"),
    pytest.param([asked(b"/route?route=mixed&needs=telepathy")], 0, id="an unknown need"),
    pytest.param([asked(b"/route?route=mixed&needs=Tools")], 0, id="a need in capitals"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=")], 0, id="no tokens"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=-1")], 0, id="fewer than no tokens"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=0040000")], 1, id="tokens with noughts before"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=4e4")], 0, id="tokens written otherwise"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=1000000000")], 0, id="the most tokens"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=1000000001")], 0, id="too many tokens"),
    pytest.param([asked(b"/route?route=mixed&input_tokens=1&input_tokens=2")], 0, id="tokens twice"),
]


@pytest.mark.parametrize(("parts", "answered"), QUESTIONS)
async def test_both_lanes_say_the_same(app: FastAPI, desk: Desk, parts: Sequence[bytes], answered: int) -> None:
    async with both(app, desk, Access()) as (lane, fast, plain):
        for _ in range(2):  # the second time the question is known
            with_lane, without = await said(fast, parts), await said(plain, parts)

            assert with_lane == without
            assert with_lane.startswith(b"HTTP/1.1 ")

    assert lane.answered == 2 * answered


@pytest.mark.parametrize("target", [b"/route?route=coder&session=%s", b"/route?route=coder&session=%s&wait=0.05"])
async def test_both_lanes_tell_a_session_that_waits_for_its_turn_the_same(
    app: FastAPI, desk: Desk, switchboard: Switchboard, store: RedisStore, target: bytes
) -> None:
    await closes(switchboard, store, PRIMARY)
    question = asked(target % b"agent-7")  # its turn comes after 48 s
    async with both(app, desk, Access()) as (lane, fast, plain):
        answers = [await said(one, [question]) for one in (fast, plain)]
        known = asked(target % b"agent-7", b"If-None-Match: " + re.search(rb"etag: (\S+)", answers[0])[1])  # type: ignore[index] # it has one
        again = [await said(one, [known]) for one in (fast, plain)]

    # It counts down, and may have been made anew between two answers.
    with_lane, without = (re.sub(rb'("(since|until)_s": |age=)[\d.]+', rb"\1", answer) for answer in answers)
    assert with_lane == without
    assert b'"reason": "returning"' in with_lane
    assert [answer[:12] for answer in again] == [b"HTTP/1.1 304"] * 2
    assert lane.answered == 2


async def test_no_session_is_kept(app: FastAPI, desk: Desk, switchboard: Switchboard, store: RedisStore) -> None:
    await closes(switchboard, store, PRIMARY)
    targets = (
        b"/route?route=coder&session=psst-%d",
        b"/route?route=coder&session=psst-%d&session=psst",
        b"/route?session=psst-%d",
        b"/route?session=psst-%d&route=coder",
        b"/route?route=coder&%%73ession=psst-%d",
        b"/route?route=coder&session=psst-%d&wait=0.01",
    )
    lane = Counting(desk, Access())
    async with served(app, lane) as fast:
        for number in range(3):
            for target in targets:
                assert b"psst" not in await said(fast, [asked(target % number, b"If-None-Match: *")])
            await said(fast, [asked(targets[0] % number), asked(targets[0] % number)])

    assert lane._questions
    assert lane._written
    for where in (vars(lane), vars(desk.prepared), vars(desk.waiting), vars(switchboard)):
        assert "psst" not in repr(where)


async def test_what_differs_from_step_to_step_is_asked_alike(desk: Desk) -> None:
    lane = Lane(desk, Access())

    for number in range(100):
        question = lane.question(
            asked(b"/route?route=mixed&needs=vision&input_tokens=%d&session=s%d" % (number, number))
        )
        assert question is not None
        assert question.asked == desk.prepared.asked("mixed", [Ability.VISION], number, f"s{number}")

    assert len(lane._questions) == 1


async def test_answers_without_end_cost_a_bounded_memory(
    desk: Desk, switchboard: Switchboard, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (prepared, lanes):
        monkeypatch.setattr(module, "MOST_KEPT", 50)
    await closes(switchboard, store, PRIMARY)
    lane = Lane(desk, Access())

    for number in range(1_000):
        question = lane.question(asked(b"/route?route=coder&session=s%d" % number))
        assert question is not None
        lane.answer(question, [])

    assert 0 < len(lane._written) <= 50
    assert 0 < len(desk.prepared._said) <= 50
