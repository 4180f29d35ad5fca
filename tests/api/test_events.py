"""GET /events: moves as they become known, and what was missed."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from fastapi import FastAPI

from breaker.api import Access, create_app, feed
from breaker.api.feed import Feed
from breaker.api.paths import routing
from breaker.api.reader import MOST_BEHIND, OPENING, Cursor, Event, Reader
from breaker.api.route.desk import Desk
from breaker.circuit import Move
from breaker.errors import StoreGoneError, UnknownNameError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from tests.api.lanes import served
from tests.api.world import BACKUP, OTHER, PRIMARY, closes
from tests.store_server import StoreServer

ALL = [PRIMARY.name, BACKUP.name, OTHER.name]
Said = dict[str, str]


@pytest.fixture
async def desk(switchboard: Switchboard) -> AsyncIterator[Desk]:
    made = Desk.over(switchboard)
    yield made
    made.close()


@pytest.fixture
def app(switchboard: Switchboard, desk: Desk) -> FastAPI:
    return create_app(switchboard, access=Access(), desk=desk)


@pytest.fixture
async def place(app: FastAPI) -> AsyncIterator[str]:
    async with served(app, None) as server:
        yield f"http://{server.place[0]}:{server.place[1]}"


async def hold(board: Switchboard, target: str = PRIMARY.name, *, opened: bool = True) -> None:
    await board.hold(target, opened=opened, who="anna", why="test", for_s=60)


async def refreshed(board: Switchboard) -> bool:
    try:
        await board.refresh()
    except StoreGoneError:
        return False
    return True


@contextlib.asynccontextmanager
async def listening(place: str, last: str | None = None, **params: str) -> AsyncIterator[AsyncIterator[Said]]:
    """The events of a stream that has begun, each as its fields."""
    headers = {} if last is None else {"Last-Event-ID": last}
    async with (
        httpx.AsyncClient(base_url=place, trust_env=False, timeout=60) as door,
        door.stream("GET", "/events", params=params, headers=headers) as answer,
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        lines = answer.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        yield events(lines)


async def events(lines: AsyncIterator[str]) -> AsyncIterator[Said]:
    said: Said = {}
    async for line in lines:
        name, colon, value = line.partition(": ")
        if colon and name:
            said[name] = value
        elif not line and said:
            yield said
            said = {}


async def heard(stream: AsyncIterator[Said], count: int) -> list[tuple[str, int]]:
    """The targets and generations of the next events."""
    async with asyncio.timeout(60):
        return [moved(await anext(stream)) for _ in range(count)]


def moved(said: Said) -> tuple[str, int]:
    move = json.loads(said["data"])
    return move["target"], move["generation"]


async def test_a_move_is_told_as_the_ledger_has_it(place: str, switchboard: Switchboard) -> None:
    async with listening(place) as stream:
        await hold(switchboard)
        said = await anext(stream)

    async with httpx.AsyncClient(base_url=place, trust_env=False, timeout=60) as door:
        (move,) = (await door.get("/moves", params={"target": PRIMARY.name})).json()["moves"]
    told = json.loads(said["data"])
    assert said["event"] == "move"
    assert {**told, "ago_s": 0} == {**move, "ago_s": 0}
    assert 0 <= told["ago_s"] < 5


async def test_moves_of_another_replica_are_told_too(
    place: str, switchboard: Switchboard, store: RedisStore, routes: Sequence[Route]
) -> None:
    other = Switchboard(store, routes, switchboard._roster.policies)
    await other.refresh()
    async with listening(place) as stream:
        await hold(other)
        await hold(other, opened=False)
        await switchboard.refresh()

        assert await heard(stream, 2) == [(PRIMARY.name, 1), (PRIMARY.name, 2)]


@pytest.mark.parametrize(
    ("params", "targets"),
    [
        pytest.param({}, ALL, id="all"),
        pytest.param({"target": BACKUP.name}, [BACKUP.name], id="one target"),
        pytest.param({"route": "coder"}, [PRIMARY.name, BACKUP.name], id="a route"),
        pytest.param({"route": "coder", "target": BACKUP.name}, [BACKUP.name], id="both"),
    ],
)
async def test_only_what_is_asked_for_is_told(
    place: str, switchboard: Switchboard, params: dict[str, str], targets: Sequence[str]
) -> None:
    async with listening(place, **params) as stream:
        for name in ALL:
            await hold(switchboard, name)
        for name in ALL:
            await hold(switchboard, name, opened=False)

        expected = [(name, generation) for generation in (1, 2) for name in targets]
        assert await heard(stream, len(expected)) == expected


async def test_a_reader_resumes_where_it_was(place: str, switchboard: Switchboard) -> None:
    async with listening(place) as stream:
        await hold(switchboard)
        first = await anext(stream)
    await hold(switchboard, BACKUP.name)
    await hold(switchboard, opened=False)
    async with listening(place) as _, listening(place, first["id"]) as stream:
        assert await heard(stream, 2) == [(BACKUP.name, 1), (PRIMARY.name, 2)]
        await hold(switchboard, OTHER.name)
        assert await heard(stream, 1) == [(OTHER.name, 1)]


async def test_a_reader_resumes_at_another_replica_by_the_ledger(
    place: str, switchboard: Switchboard, store: RedisStore, routes: Sequence[Route]
) -> None:
    async with listening(place) as stream:
        await hold(switchboard)
        await hold(switchboard, opened=False)
        first = await anext(stream)
    await hold(switchboard, BACKUP.name)
    other = Switchboard(store, routes, switchboard._roster.policies)
    await other.refresh()
    desk = Desk.over(other)
    async with served(create_app(other, access=Access(), desk=desk), None) as replica:
        async with listening(f"http://{replica.place[0]}:{replica.place[1]}", first["id"]) as stream:
            assert await heard(stream, 2) == [(PRIMARY.name, 2), (BACKUP.name, 1)]
            await hold(other)
            third = await anext(stream)
        desk.close()

    assert moved(third) == (PRIMARY.name, 3)
    assert Cursor.read(third["id"]) == Cursor.of((await other.moves(PRIMARY.name))[0])


async def test_a_store_that_was_emptied_takes_no_event_away(
    place: str, switchboard: Switchboard, server: StoreServer
) -> None:
    async with listening(place) as stream:
        await hold(switchboard)
        await anext(stream)
        server.fresh()
        await switchboard.refresh()  # puts the circuit back, under another epoch
        said = await anext(stream)

    assert json.loads(said["data"])["cause"] == "restored"


async def test_a_replica_that_begins_without_the_store_tells_only_what_moves_from_then_on(
    store: RedisStore, switchboard: Switchboard
) -> None:
    for ago_s in (60, 50):
        await closes(switchboard, store, PRIMARY, ago_s)
    begun = Switchboard(store, switchboard.routes, switchboard._roster.policies)
    made = Feed(begun)
    reader = await made.reader(lambda: ALL, None)
    stream = reader.stream()
    assert await anext(stream) == OPENING
    await hold(switchboard)
    await hold(switchboard, BACKUP.name)

    await begun.refresh()
    said = b""
    async with asyncio.timeout(60):
        while said.count(b"event: move") < 2:
            said += await anext(stream)
        await hold(begun, opened=False)
        while said.count(b"event: move") < 3:
            said += await anext(stream)

    told = [json.loads(line[6:]) for line in said.splitlines() if line.startswith(b"data: ")]
    assert sorted((move["target"], move["generation"]) for move in told) == [
        (BACKUP.name, 1),
        (PRIMARY.name, 3),
        (PRIMARY.name, 4),
    ]
    made.close()


async def test_a_reader_hears_later_of_what_the_store_could_not_tell(
    switchboard: Switchboard,
    monkeypatch: pytest.MonkeyPatch,
    server: StoreServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(feed, "_AGAIN_S", 0.01)
    asks, ask = 0, switchboard.moves

    async def counted(target: str, limit: int) -> list[Move]:
        nonlocal asks
        asks += 1
        return await ask(target, limit)

    monkeypatch.setattr(switchboard, "moves", counted)
    made = Feed(switchboard)
    reader = await made.reader(lambda: ALL, None)
    stream = reader.stream()
    await anext(stream)
    await hold(switchboard)  # the ledger is read in a moment
    server.kill()
    told = asyncio.ensure_future(anext(stream))
    async with asyncio.timeout(60):
        while asks < 5:  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.005)
    server.fresh()

    async with asyncio.timeout(60):
        while not await refreshed(switchboard):
            pass
        assert b'"target": "zai/glm-5.3-flash"' in await told
    assert caplog.text.count("are told later") == 1
    made.close()


@pytest.mark.parametrize(
    ("params", "last", "status", "kind"),
    [
        pytest.param({"target": "zai/none"}, None, 404, "unknown-target", id="target"),
        pytest.param({"route": "codr"}, None, 404, "unknown-route", id="route"),
        pytest.param({"target": OTHER.name, "route": "coder"}, None, 400, "not-of-route", id="a target of another"),
        pytest.param({}, "17", 422, "bad-field", id="an id of another kind"),
        pytest.param({}, "1-e-" + "9" * 99, 422, "bad-field", id="an id without end"),
    ],
)
async def test_what_cannot_be_told_is_refused(
    door: httpx.AsyncClient, params: dict[str, str], last: str | None, status: int, kind: str
) -> None:
    headers = {} if last is None else {"Last-Event-ID": last}

    answer = await door.get("/events", params=params, headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:firstbyte:problem:{kind}")


async def test_without_its_ledger_nobody_resumes(door: httpx.AsyncClient, desk: Desk, server: StoreServer) -> None:
    server.kill()

    answer = await door.get("/events", headers={"Last-Event-ID": "1796040000000-e-7"})

    assert (answer.status_code, len(desk.feed)) == (503, 0)


async def test_many_who_resume_at_once_read_a_ledger_once(
    switchboard: Switchboard, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart all come back at the same time, and the store has others to answer."""
    await hold(switchboard)
    reads: list[str] = []
    moves = switchboard.moves

    async def counted(target: str, limit: int = 50) -> list[Move]:
        reads.append(target)
        return await moves(target, limit)

    monkeypatch.setattr(switchboard, "moves", counted)
    wanted, cursor = [PRIMARY.name, BACKUP.name], Cursor(at_ms=0, epoch="another", generation=1)
    async with asyncio.timeout(60):
        readers = await asyncio.gather(*(desk.feed.reader(lambda: wanted, cursor) for _ in range(300)))
    began = [await anext(reader.stream()) for reader in readers]
    for reader in readers:
        reader.leave()

    assert {said.count(b"event: move") for said in began} == {1}
    assert sorted(reads) == sorted(wanted)


async def test_who_resumes_while_a_ledger_is_read_reads_it_anew(
    switchboard: Switchboard, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before it came may lack what was told before it came."""
    moves, read, go_on = switchboard.moves, asyncio.Event(), asyncio.Event()

    async def slow(target: str, limit: int = 50) -> list[Move]:
        found = await moves(target, limit)
        read.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(switchboard, "moves", slow)
    cursor = Cursor(at_ms=0, epoch="another", generation=1)

    async def resumed() -> bytes:
        reader = await desk.feed.reader(lambda: [PRIMARY.name], cursor)
        try:
            return await anext(reader.stream())
        finally:
            reader.leave()

    async with asyncio.timeout(60):
        first = asyncio.create_task(resumed())
        await read.wait()
        await hold(switchboard)
        second = asyncio.create_task(resumed())
        await asyncio.sleep(0)
        go_on.set()
        said = await asyncio.gather(first, second)

    assert [one.count(b"event: move") for one in said] == [0, 1]


async def test_one_stream_too_many_is_refused(
    place: str, door: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "MOST_STREAMS", 1)
    async with listening(place):
        answer = await door.get("/events")

    assert (answer.status_code, answer.json()["type"]) == (503, "urn:firstbyte:problem:busy")


async def test_who_goes_away_frees_its_place(place: str, desk: Desk) -> None:
    async with listening(place):
        assert len(desk.feed) == 1

    async with asyncio.timeout(60):
        while len(desk.feed):  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.005)


async def test_all_streams_end_when_the_service_stops(place: str, desk: Desk) -> None:
    async with listening(place) as stream:
        desk.close()
        async with asyncio.timeout(60):
            assert [said async for said in stream] == []
    async with listening(place) as stream:  # whoever comes late
        async with asyncio.timeout(60):
            assert [said async for said in stream] == []


async def test_a_reader_that_is_too_far_behind_is_dropped() -> None:
    left: list[Reader] = []
    reader = Reader(lambda: ALL, left.append)
    stream = reader.stream()
    await anext(stream)

    kept = [reader.tell(Event(PRIMARY.name, str(number), b"x")) for number in range(MOST_BEHIND + 1)]

    assert kept == [True] * MOST_BEHIND + [False]
    assert left[:1] == [reader]
    assert [text async for text in stream] == []


async def test_readers_that_are_dropped_are_counted(
    desk: Desk, switchboard: Switchboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("breaker.api.reader.MOST_BEHIND", 0)
    await desk.feed.reader(lambda: [OTHER.name], None)
    await desk.feed.reader(lambda: ALL, None)

    await hold(switchboard)
    async with asyncio.timeout(60):
        while not desk.feed.dropped:  # noqa: ASYNC110 # it has no event
            await asyncio.sleep(0.001)

    assert (desk.feed.dropped, len(desk.feed)) == (1, 1)


async def test_a_stream_ends_where_its_target_has_left_its_route(
    place: str, desk: Desk, switchboard: Switchboard
) -> None:
    async with listening(place, target=BACKUP.name, route="coder") as told:
        policies = {target.name: Policy() for target in (PRIMARY, BACKUP)}
        left = [Route(name="coder", targets=(PRIMARY,)), Route(name="other", targets=(BACKUP,))]
        switchboard.renew(left, policies, {})
        desk.renew()

        async with asyncio.timeout(10):
            assert [one async for one in told] == []


async def test_a_quiet_stream_is_pinged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("breaker.api.reader.PING_S", 0.01)
    stream = Reader(lambda: ALL, lambda _: None).stream()

    assert [await anext(stream) for _ in range(3)] == [OPENING, b": ping\n\n", b": ping\n\n"]


async def test_a_stream_follows_its_targets_to_another_configuration_and_ends_where_they_go(
    desk: Desk, switchboard: Switchboard
) -> None:
    targets = [PRIMARY.name]

    def wanted() -> list[str]:
        if not targets:
            raise UnknownNameError("route", "coder", [])
        return targets

    reader = await desk.feed.reader(wanted, None)
    stream = reader.stream()
    await anext(stream)
    targets.append(OTHER.name)
    desk.renew()
    await switchboard.hold(OTHER.name, opened=True, who="anna", why="test", for_s=60)
    async with asyncio.timeout(60):
        assert OTHER.name.encode() in await anext(stream)
    targets.clear()
    desk.renew()

    assert [text async for text in stream] == []
    assert len(desk.feed) == 0
