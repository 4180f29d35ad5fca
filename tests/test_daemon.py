"""The service's own socket and its start."""

import asyncio
import gc
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from breaker.api.access import Access
from breaker.api.looking import Besides
from breaker.api.route.desk import Desk
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Provider, Target
from breaker.wire.signs import Phrase
from monitor import daemon
from monitor.doorway import Doorway, lane_of
from monitor.listening import DoorTakenError, bind, bounded
from monitor.metrics import Metrics
from monitor.settings import Door, Settings, TargetPlan
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


TARGET = Target(provider=Provider(name="p", base_url="http://127.0.0.1:1/v1", wire="openai-chat"), model="m")
PLAIN = Settings(
    targets=(TargetPlan(target=TARGET, policy=Policy()),),
    routes=(Route(name="coder", targets=(TARGET,)),),
    data=Path("/nowhere"),
)


def doorway() -> Doorway:
    board = Switchboard(RedisStore.from_url("redis://127.0.0.1:1"), PLAIN.routes, {TARGET.name: Policy()})
    return Doorway(board, PLAIN, metrics=Metrics(PLAIN).asgi(), besides=Besides(), reload=None)


async def test_a_door_goes_by_other_settings_from_one_request_to_the_next() -> None:
    door = doorway()
    said = {"target": TARGET.name, "id": "1", "ended": "complete", "seconds": 1.0, "phrase": "ours"}
    chunk = {"at_ms": 1, "data": 'data: {"choices": [{"delta": {"content": "Zu viel los."}}]}\n\ndata: [DONE]\n\n'}
    exchange = {"wire": "openai-chat", "stream": True, "status": 200, "chunks": [chunk], "end": "close"}
    shown = {"Authorization": "Bearer a-token-of-agents"}

    async with httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://127.0.0.1") as client:

        async def asked(**headers: str) -> tuple[int, int, Any]:
            report = await client.post("/reports", json=said, headers=headers)
            judged = await client.post("/judge", json=exchange, headers=headers)
            return report.status_code, judged.status_code, judged.json().get("facts", {}).get("phrase")

        before = await asked()
        renew = await door.prepare(
            replace(PLAIN, door=Door(agent_token="a-token-of-agents"), phrases=(Phrase("ours", "Zu viel los.", 0),))
        )
        still = await asked()
        renew()

        assert before == still == (400, 200, None)
        assert await asked() == (401, 401, None)
        assert await asked(**shown) == (202, 200, "ours")


async def test_no_door_is_renewed_to_one_that_anyone_on_the_network_may_use() -> None:
    with pytest.raises(ValueError, match=r"bound to '0\.0\.0\.0'"):
        await doorway().prepare(replace(PLAIN, door=Door(host="0.0.0.0")))


async def test_a_door_keeps_nothing_of_the_settings_before() -> None:
    """FastAPI remembers endpoints by the thousand: an app made anew each time would stay, with all that it holds."""
    door = doorway()

    async def things(renewals: int) -> int:
        for _ in range(renewals):
            (await door.prepare(PLAIN))()
        gc.collect()
        return len(gc.get_objects())

    before = await things(5)

    assert await things(20) - before < 20 * 50
