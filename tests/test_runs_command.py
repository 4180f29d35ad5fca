"""`firstbyte runs`: what a person reads of agents' tasks."""

import asyncio
import json
import re
import time
from collections.abc import Iterator

import httpx
import pytest

from monitor.cli import main
from tests.api.conftest import _worker_server, app, door, routes, server, store, switchboard
from tests.api.test_runs import calling, final, stage, tell
from tests.probes.raw_server import Exchange, raw_server

__all__ = ["_worker_server", "app", "door", "routes", "server", "store", "switchboard"]


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def shown(door: httpx.AsyncClient, *words: str) -> int:
    """Run the command against a door."""

    async def answer(exchange: Exchange) -> None:
        path = exchange.first.split()[1]
        await exchange.whole((await door.get(path)).content)

    async with raw_server(answer) as server:
        return await asyncio.to_thread(main, ["runs", "--url", server.url, *words])


async def refunded(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-17", "steps", calling("a", 1), final("b", 9, says="done"))
    await tell(
        door,
        "goal-17",
        "operations",
        stage("update_customer", 2, "succeeded", seconds=0.4),
        stage("refund", 4, "unknown", error="timeout", seconds=30, reference="re_7"),
        stage("send_email", 5, "planned", needs=["refund"]),
    )
    await tell(door, "goal-17", "checks", {"id": "c", "seq": 6, "name": "ledger", "outcome": "unknown"})


async def test_one_run_is_told_from_its_first_answer_to_what_its_user_may_be_told(
    door: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    await refunded(door)
    code = await shown(door, "goal-17")
    lines = capsys.readouterr().out.splitlines()

    assert code == 1
    assert lines[0].startswith("goal-17 (")
    assert re.search(r", begun at [\d:]+ \S.*: partially completed$", lines[0])
    assert "`send_email`, which needs refund" in lines[1]
    assert lines[2] == "Because: operation unknown, operation blocked, check unknown. Next: stop."
    assert [line.split()[:3] for line in lines[5:]] == [
        ["answer", "zai/glm-5.3-flash", "tool"],
        ["operation", "update_customer", "succeeded"],
        ["operation", "refund", "unknown"],
        ["operation", "send_email", "planned"],
        ["check", "ledger", "unknown"],
        ["answer", "zai/glm-5.3-flash", "ok"],
    ]
    assert "writes; took 30 s; timeout; named re_7; nobody knows" in lines[7]
    assert "says done" in lines[10]


async def test_a_run_that_is_done_is_good(door: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]) -> None:
    await tell(door, "goal-17", "steps", final("a", 1))
    code = await shown(door, "goal-17", "--json")

    assert code == 0
    assert json.loads(capsys.readouterr().out)["done"]["completion_allowed"] is True


async def test_a_notice_is_shown(door: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]) -> None:
    await tell(door, "goal-17", "steps", calling("a", 1), final("b", 2, says="next"))
    await tell(door, "goal-17", "operations", stage("refund", 3, "succeeded", attempt=2, required=False))
    code = await shown(door, "goal-17")
    said = capsys.readouterr().out

    assert code == 1
    assert "To the model: You have announced a next step" in said
    assert "not needed; attempt 2" in said


async def test_all_runs_are_told_by_their_marks_and_claims_by_provider(
    door: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    await tell(door, "goal-17", "steps", calling("a", 1), final("b", 2, text_chars=0))
    await door.get("/runs/goal-17/done")
    await door.get("/runs/goal-18/done")
    code = await shown(door)
    lines = capsys.readouterr().out.splitlines()

    assert code == 0
    assert lines[0] == "zai: 1 of 1 claimed completions were untrue (100%)."
    assert lines[1].split() == ["RUN", "AGO", "DECISION", "BECAUSE", "PROVIDER", "ANSWERS", "OPERATIONS"]
    assert "not finished  not an answer: empty  zai" in lines[2]
    assert lines[2].endswith("prevented")
    assert "goal-17" not in "".join(lines)
    assert len(lines) == 3


async def test_without_any_run_it_says_that_nobody_has_asked(
    door: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await shown(door) == 0
    assert capsys.readouterr().out == "No agent has asked yet whether its task is done.\n"


async def test_a_run_that_nobody_knows_is_said(door: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]) -> None:
    async def answer(exchange: Exchange) -> None:
        problem = {"type": "urn:firstbyte:problem:unknown-run", "detail": "nothing is known of this run"}
        await exchange.whole(json.dumps(problem).encode(), status="404 Not Found")

    async with raw_server(answer) as server:
        code = await asyncio.to_thread(main, ["runs", "goal-17", "--url", server.url])

    assert code == 2
    assert "nothing is known of this run" in capsys.readouterr().err
