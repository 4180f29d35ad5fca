"""GET /route?session=…: after a circuit has closed, sessions return over a minute, and hear of their turn."""

import asyncio
import math
import time

import httpx
import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app
from breaker.api.feed import Feed
from breaker.api.route import waiting
from breaker.api.route.asked import Asked
from breaker.api.route.desk import Desk
from breaker.api.route.prepared import Prepared, Said
from breaker.policy import Policy
from breaker.route import turn_s
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard, snapshot
from breaker.switchboard.snapshot import OLD_AFTER_S
from breaker.target import Target
from tests.api.lanes import Counting, served
from tests.api.world import BACKUP, OTHER, PRIMARY, ROUTES, closes
from tests.reporting import report

SESSION = "agent-7"
TURN_S = turn_s(SESSION)  # 48.6 s


@pytest.fixture
def desk(switchboard: Switchboard, keeping: asyncio.Task[None]) -> Desk:
    return Desk.over(switchboard)


@pytest.fixture
def app(switchboard: Switchboard, desk: Desk) -> FastAPI:
    return create_app(switchboard, access=Access(), desk=desk)


async def ask(door: httpx.AsyncClient, session: str | None = SESSION, tag: str = "", **more: str) -> httpx.Response:
    query = {"route": "coder", **({} if session is None else {"session": session}), **more}
    return await door.get("/route", params=query, headers={"If-None-Match": tag} if tag else {})


async def test_a_session_stays_on_the_backup_until_its_turn(
    door: httpx.AsyncClient, switchboard: Switchboard, store: RedisStore
) -> None:
    await closes(switchboard, store, PRIMARY, ago_s=10)

    waits, first, nameless = await ask(door), await ask(door, "a-9"), await ask(door, None)

    said = waits.json()
    assert turn_s("a-9") < 10
    assert (said["target"], said["role"], said["reason"]) == (BACKUP.name, "backup", "returning")
    assert 30 < said["until_s"] <= TURN_S - 10
    assert (said["valid_for_s"], waits.headers["cache-control"]) == (5.0, "max-age=5")
    for answer in (first, nameless):
        assert (answer.json()["role"], answer.json()["reason"]) == ("primary", "healthy")
        assert answer.json()["until_s"] is None
    assert first.headers["etag"] == nameless.headers["etag"] != waits.headers["etag"]


async def test_nobody_goes_on_beyond_its_turn(
    door: httpx.AsyncClient, switchboard: Switchboard, store: RedisStore
) -> None:
    await closes(switchboard, store, PRIMARY, ago_s=TURN_S - 2.5)

    answer = await ask(door)
    said = answer.json()

    if said["reason"] == "returning":  # on a machine that took less than 2.5 s for it
        assert 0 < said["valid_for_s"] <= said["until_s"] < 2.5
        assert answer.headers["cache-control"] == f"max-age={int(said['valid_for_s'])}"


async def test_a_circuit_that_closes_by_itself_begins_the_ramp(store: RedisStore) -> None:
    policies = {target.name: Policy(hold_s=0.05, probing=False) for target in (PRIMARY, BACKUP, OTHER)}
    board = Switchboard(store, ROUTES, policies)
    await board.refresh()
    prepared = Prepared(board)
    app = create_app(board, access=Access())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as door:
        bad = [{"target": PRIMARY.name, "id": i, "ended": "complete", "seconds": 0.1, "status": 500} for i in "ab"]
        await report(door, bad)
        async with asyncio.timeout(25):
            while board.standing(PRIMARY.name).state != "closed":
                await board.settle()

    told = prepared.answer(prepared.asked("coder", session=SESSION)).decision
    assert (told.target, told.reason) == (BACKUP, "returning")
    assert prepared.answer(prepared.asked("coder")).decision.target == PRIMARY


async def test_after_a_hold_by_hand_every_session_is_back_at_once(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    await switchboard.hold(PRIMARY.name, opened=True, who="anna", why="test", for_s=60)
    away = await ask(door)
    await switchboard.release(PRIMARY.name, who="anna", why="test")

    assert away.json()["reason"] == "manual"
    assert (await ask(door)).json()["role"] == "primary"


async def test_a_hold_that_keeps_a_target_in_use_ends_the_ramp(
    door: httpx.AsyncClient, switchboard: Switchboard, store: RedisStore
) -> None:
    await closes(switchboard, store, PRIMARY)
    await switchboard.hold(PRIMARY.name, opened=False, who="anna", why="test", for_s=60)

    assert (await ask(door)).json()["role"] == "primary"


@pytest.mark.parametrize("fast", [pytest.param(True, id="in the lane"), pytest.param(False, id="in the app")])
async def test_who_waits_is_told_at_its_turn(
    app: FastAPI, desk: Desk, switchboard: Switchboard, store: RedisStore, fast: bool
) -> None:
    async with served(app, Counting(desk, Access()) if fast else None) as server:
        host, port = server.place
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", trust_env=False, timeout=60) as door:
            for left_s in (0.6, 6.0, 30.0):  # a slow machine needs more to ask in time
                at = time.monotonic() + left_s
                await closes(switchboard, store, PRIMARY, ago_s=TURN_S - left_s)
                if (before := await ask(door)).json()["reason"] == "returning":
                    break
            async with asyncio.timeout(60):
                answer = await ask(door, tag=before.headers["etag"], wait="50")

    assert time.monotonic() > at - 0.2  # the store's clock and ours meet at a read
    assert (answer.status_code, answer.json()["role"], answer.json()["reason"]) == (200, "primary", "healthy")
    assert len(desk.waiting) == 0


@pytest.mark.parametrize("fast", [pytest.param(True, id="in the lane"), pytest.param(False, id="in the app")])
async def test_who_waits_hears_of_the_close_and_then_of_its_turn(
    app: FastAPI, desk: Desk, switchboard: Switchboard, store: RedisStore, fast: bool
) -> None:
    await switchboard.hold(PRIMARY.name, opened=True, who="anna", why="test", for_s=60)
    async with served(app, Counting(desk, Access()) if fast else None) as server:
        host, port = server.place
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", trust_env=False, timeout=60) as door:
            away = await ask(door)
            asking = asyncio.create_task(ask(door, tag=away.headers["etag"], wait="15"))
            async with asyncio.timeout(25):
                while len(desk.waiting) != 1:  # noqa: ASYNC110 # it has no event
                    await asyncio.sleep(0.005)
            await switchboard.release(PRIMARY.name, who="anna", why="test")
            assert (await asking).json()["role"] == "primary"
            await closes(switchboard, store, PRIMARY)
            assert (await ask(door)).json()["reason"] == "returning"


class _Sleeper:
    """Somebody who waits, without a connection."""

    def __init__(self, desk: Desk, session: str) -> None:
        self._desk = desk
        self._asked = desk.prepared.asked("coder", session=session)
        self.turn_s = turn_s(session)
        self.told_at: float | None = None
        self.told: Target | None = None
        self._said = desk.prepared.answer(self._asked)
        assert self._said.decision.reason == "returning"
        assert desk.waiting.enter(self._said, self)

    def wake(self) -> None:
        self.told_at = time.monotonic()
        self.told = self._desk.prepared.answer(self._asked).decision.target
        self._desk.waiting.leave(self._said, self)


@pytest.mark.parametrize("at_once", [500, 7])
async def test_thousands_wait_in_as_many_rooms_as_there_are_turns(
    desk: Desk, switchboard: Switchboard, store: RedisStore, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(waiting, "AT_ONCE", at_once)
    sessions = [name for name in (f"s{i}" for i in range(20_000)) if turn_s(name) > 57]
    closed_at = time.monotonic() - 54.0
    await closes(switchboard, store, PRIMARY, ago_s=54.0)
    sleepers = [_Sleeper(desk, session) for session in sessions]

    rooms, timers = len(desk.waiting._rooms), desk.waiting._next
    async with asyncio.timeout(120):
        while len(desk.waiting):  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.05)

    assert len(sessions) > 800
    assert rooms <= 30 < len(sessions)
    assert timers is not None
    for sleeper in sleepers:
        assert sleeper.told_at is not None
        assert sleeper.told == PRIMARY
        assert sleeper.told_at > closed_at + sleeper.turn_s - 0.5  # the store's clock and ours meet at a read
    assert desk.waiting._rooms == {}


class _Counting(Prepared):
    """Counts how often it is asked."""

    looks = 0

    def answer(self, asked: Asked) -> Said:
        self.looks += 1
        return super().answer(asked)


@pytest.mark.usefixtures("keeping")
async def test_those_who_wait_are_looked_at_only_when_their_answer_may_change(
    switchboard: Switchboard, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "OLD_AFTER_S", OLD_AFTER_S)
    prepared = _Counting(switchboard)
    desk = Desk(prepared, waiting.Waiting(prepared), Feed(switchboard))
    await closes(switchboard, store, PRIMARY)
    for session in (name for name in (f"s{i}" for i in range(3_000)) if turn_s(name) > 40):
        _Sleeper(desk, session)
    prepared.looks, began, rooms = 0, time.monotonic(), len(desk.waiting._rooms)
    while time.monotonic() - began < 1.0:  # noqa: ASYNC110 # it is the clock that is waited for
        await asyncio.sleep(0.02)

    # Each room once in the time after which the store would be called gone, not at each tick of others' turns; an
    # answer for a session asks for that of all others too.
    assert 150 < rooms <= 200
    assert prepared.looks <= 2 * rooms * math.ceil(time.monotonic() - began)
    assert len(desk.waiting) > 900
    desk.close()
