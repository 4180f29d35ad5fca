"""The moves of circuits, as an agent's client hears of them."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable

import pytest

from breaker.client import AsyncFirstbyte, Door, DoorRefusedError, Events, Firstbyte, Moved
from breaker.client.moved import MOST_WAITING
from tests.api.world import BACKUP, OTHER, PRIMARY
from tests.client.serving import Process, Service, answering, eventually, nobody


def hold(url: str, target: str = PRIMARY.name, *, opened: bool = True) -> None:
    with Door(url, timeout_s=10.0) as door:
        act = door.hold_open if opened else door.hold_closed
        act(target, who="anna", why="new plan", for_s=60)


class Hearing:
    """Reads a stream in a thread."""

    def __init__(self, events: Events) -> None:
        self.heard: list[Moved] = []
        self.error: BaseException | None = None
        self._events = events
        self._thread = threading.Thread(target=self._hear)
        self._thread.start()

    def ended(self) -> bool:
        return not self._thread.is_alive()

    def targets(self) -> list[str]:
        return [moved.target for moved in self.heard]

    def _hear(self) -> None:
        try:
            self.heard.extend(self._events)
        except Exception as error:  # noqa: BLE001 # shown in the test's own thread
            self.error = error


def begun(url: str, hearing: Hearing) -> None:
    """Move another circuit until that is heard: from then on nothing is missed."""
    opened = True
    while not hearing.heard:
        hold(url, OTHER.name, opened=opened)
        opened = not opened
        time.sleep(0.05)
    hearing.heard.clear()


def test_moves_are_told_as_they_happen(url: str) -> None:
    with Firstbyte(url) as firstbyte, firstbyte.events() as events:
        hearing = Hearing(events)
        begun(url, hearing)
        hold(url)
        eventually(lambda: PRIMARY.name in hearing.targets(), "the move is told")
        events.close()
        eventually(hearing.ended, "the stream has ended")

    moved = next(moved for moved in hearing.heard if moved.target == PRIMARY.name)
    assert (moved.before, moved.after, moved.cause) == ("closed", "held-open", "manual")
    assert (moved.why, moved.said["generation"], moved.generation) == ("by hand, anna: new plan", 1, 1)
    assert hearing.error is None


def test_a_stream_may_be_of_one_target_or_of_a_routes(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        streams = [firstbyte.events(target=OTHER.name), firstbyte.events(route="reviewer")]
        hearings = [Hearing(events) for events in streams]
        for hearing in hearings:
            begun(url, hearing)
        hold(url)
        hold(url, OTHER.name)
        hold(url, OTHER.name, opened=False)
        for hearing in hearings:
            eventually(lambda hearing=hearing: len(hearing.heard) >= 2, "the moves are told")  # type: ignore[misc]
    for hearing in hearings:  # with the client they end
        eventually(hearing.ended, "the stream has ended")

        assert set(hearing.targets()) == {OTHER.name}


def test_a_stream_outlives_the_service_and_misses_nothing(service: Service, start: Callable[[int], Process]) -> None:
    with Firstbyte(service.url) as firstbyte, firstbyte.events(route="coder") as events:
        hearing = Hearing(events)
        eventually(lambda: events.after is not None, "the stream has begun")
        service.__exit__(None, None, None)
        process = start(service.port)
        hold(process.url, BACKUP.name)
        eventually(lambda: BACKUP.name in hearing.targets(), "the move is told")
        process.kill()
        process = start(service.port)
        hold(process.url)
        hold(process.url, opened=False)
        eventually(lambda: hearing.targets().count(PRIMARY.name) == 2, "the moves are told")
        events.close()
        eventually(hearing.ended, "the stream has ended")

    assert hearing.targets() == [BACKUP.name, PRIMARY.name, PRIMARY.name]


def test_a_stream_goes_on_after_an_id(url: str) -> None:
    with Firstbyte(url) as firstbyte:
        with firstbyte.events(route="coder") as events:
            eventually(lambda: events.after is not None, "the stream has begun")
            hold(url)
            first = next(events)
        hold(url, opened=False)
        with firstbyte.events(route="coder", after=first.id) as events:
            second = next(events)

    assert (first.after, second.after, second.generation) == ("held-open", "held-closed", 2)


@pytest.mark.parametrize("query", [{"target": "no/such"}, {"route": "codr"}, {"after": "nonsense"}])
def test_what_the_service_cant_serve_is_said(url: str, query: dict[str, str]) -> None:
    with Firstbyte(url) as firstbyte, pytest.raises(DoorRefusedError):
        next(firstbyte.events(**query))


async def test_moves_are_told_in_a_loop_too(url: str) -> None:
    async with AsyncFirstbyte(url) as firstbyte, firstbyte.events(route="coder") as events:
        async with asyncio.timeout(120):
            while events.after is None:  # noqa: ASYNC110 # it has no event
                await asyncio.sleep(0.01)
            await asyncio.to_thread(hold, url)
            moved = await anext(events)
        events.close()

        assert (moved.target, [later async for later in events]) == (PRIMARY.name, [])


async def test_a_stream_ends_with_its_client() -> None:
    firstbyte = AsyncFirstbyte(nobody())
    events = firstbyte.events()
    await firstbyte.aclose()

    assert [moved async for moved in events] == []
    assert [moved async for moved in firstbyte.events()] == []


def _event(number: int, **other: object) -> bytes:
    move = {"target": "a/b", "at": "now", "ago_s": 0.1, "before": "closed", "after": "open", "cause": "errors"}
    data = json.dumps({**move, "why": "so", "generation": number, **other})
    return b"id: 1-a-%d\nevent: move\ndata: %b\n\n" % (number, data.encode())


def test_a_reader_that_is_slow_gets_all_and_one_twice_told_once() -> None:
    many = 2 * MOST_WAITING

    def behave(line: socket.socket) -> None:
        asked = line.recv(65_536)
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        if b"/events" in asked:
            for number in range(many):
                line.sendall(_event(number) * 2)
            line.sendall(b": ping\n\nevent: news\ndata: {}\n\nevent: move\ndata: {\n\n" + _event(many, generation="?"))
            line.sendall(_event(many + 1))

    with answering(behave) as url, Firstbyte(url) as firstbyte, firstbyte.events() as events:
        time.sleep(0.1)
        heard = [next(events).generation for _ in range(many + 1)]

    assert heard == [*range(many), many + 1]


def test_a_stream_that_nobody_reads_any_more_ends() -> None:
    gone = threading.Event()

    def behave(line: socket.socket) -> None:
        asked = line.recv(65_536)
        line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        if b"/events" in asked:
            line.sendall(_event(1))
            while line.recv(65_536):
                pass
            gone.set()

    with answering(behave) as url, Firstbyte(url) as firstbyte:
        events = firstbyte.events()
        assert next(events).id == "1-a-1"
        del events

        assert gone.wait(20)
