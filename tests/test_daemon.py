"""The service's own socket and its start."""

import asyncio
import gc
import socket
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from breaker.api.access import Access
from breaker.api.app import create_app
from breaker.api.desk import Desk
from breaker.api.looking import Besides, Looking
from breaker.policy import Policy
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from monitor import daemon
from monitor.doorway import Doorway, lane_of
from monitor.listening import DoorTakenError, bind, bounded
from monitor.settings import Door
from monitor.simulator import Simulator
from tests.service import plan, running, settings


def test_a_reply_waits_for_no_acknowledgement_of_its_first_part() -> None:
    with bind(Door(port=0)) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_that_is_taken_is_named_with_the_remedy() -> None:
    with bind(Door(port=0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(DoorTakenError, match=rf"can't listen at 127.0.0.1 port {port}: .*FIRSTBYTE_PORT"):
            bind(Door(port=port))


def test_an_address_of_another_machine_isnt_blamed_on_another_service() -> None:
    with pytest.raises(DoorTakenError, match=r"can't listen at 192\.0\.2\.1 port 0: [A-Z][a-z ]+\. Set FIRSTBYTE_PORT"):
        bind(Door(host="192.0.2.1", port=0))


@pytest.mark.parametrize("missing", ["httptools", "uvicorn.protocols.http.httptools_impl"])
def test_without_what_the_lane_needs_the_app_answers_alone(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk.over(Switchboard(RedisStore.from_url("redis://127.0.0.1:1"), [], {}))
    assert lane_of(desk, Access()) is not None

    for module in ("breaker.api.connection", "breaker.api.route.lane", "breaker.api.route.question"):
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)

    assert lane_of(desk, Access()) is None
    assert bounded() == "auto"


async def test_the_door_is_made_before_replies_of_the_store_are_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes longer than such a reply may, on a busy machine."""
    tasks: list[str] = []

    class Watched(Doorway):
        def __init__(self, *args: Any, **more: Any) -> None:
            tasks.extend(getattr(task.get_coro(), "__name__", "") for task in asyncio.all_tasks())
            super().__init__(*args, **more)

    monkeypatch.setattr(daemon, "Doorway", Watched)
    async with (
        Simulator(["aurora/swift-1"]) as providers,
        running(settings([plan(providers, "aurora/swift-1", Policy())], tmp_path)),
    ):
        pass

    assert tasks
    assert "_forever" not in tasks


def test_an_app_that_another_replaces_is_forgotten() -> None:
    """FastAPI remembers endpoints for long; each must not keep its whole app alive."""
    board = Switchboard(RedisStore.from_url("redis://127.0.0.1:1"), [], {})
    desk = Desk.over(board)
    looking = Looking(board, Besides(), metrics=True)
    old = weakref.ref(create_app(board, access=Access(), desk=desk, looking=looking))
    gc.collect()

    assert old() is None
