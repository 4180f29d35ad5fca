"""Runs through the door: what is told of a task, and whether it is done."""

import asyncio
import contextlib

import httpx
import pytest
import redis

from breaker.api import Access, create_app
from breaker.api.paths import runs
from breaker.store.runs import MOST_FACTS
from breaker.switchboard import Switchboard
from tests.api.world import PRIMARY, URL, good
from tests.run.made import answer
from tests.store_server import StoreServer

TOKENS = {"agent_token": "agent", "admin_token": "admin"}


def final(name: str, seq: int, **facts: object) -> dict[str, object]:
    """A report of a whole answer without a call."""
    return {**good(name), "seq": seq, "finish": "stop", "tool_calls": 0, **facts}


def calling(name: str, seq: int, **facts: object) -> dict[str, object]:
    """A report of an answer that calls a tool."""
    return {**good(name), "seq": seq, "finish": "tool_calls", "tool_calls": 1, "tools": True, **facts}


def stage(name: str, seq: int, state: str, **facts: object) -> dict[str, object]:
    """How far an operation that writes is."""
    return {"id": name, "tool": name, "seq": seq, "state": state, "effect": "write", **facts}


async def tell(door: httpx.AsyncClient, run: str, kind: str, *said: dict[str, object]) -> None:
    """Tell facts of a run, which are all taken."""
    reply = await door.post(f"/runs/{run}/{kind}", json=list(said))
    assert (reply.status_code, reply.json()["problems"]) == (202, []), reply.text


async def done(door: httpx.AsyncClient, run: str) -> dict[str, object]:
    """Whether it is done."""
    reply = await door.get(f"/runs/{run}/done")
    assert reply.status_code == 200
    said: dict[str, object] = reply.json()
    return said


async def test_a_task_without_tools_is_complete_by_its_answer(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", final("a", 1))
    said = await done(door, "goal-1")

    assert (said["decision"], said["completion_allowed"], said["reason"]) == ("completed", True, "agreed")


async def test_a_last_answer_that_was_none_is_refused_with_its_three_records_apart(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", calling("a", 1), final("b", 2, text_chars=0))
    await tell(door, "goal-1", "checks", {"id": "c", "seq": 3, "name": "tests", "outcome": "passed"})
    said = await done(door, "goal-1")

    assert (said["decision"], said["reason"], said["next"]) == ("not_finished", "not_an_answer", "ask_again")
    last = said["last"]
    assert isinstance(last, dict)
    assert last["protocol"] == {"ended": "complete", "status": 200, "end_mark": True, "finish": "stop"}
    assert (last["detector"]["verdict"], last["detector"]["class"]) == ("empty", "provider_failure")
    assert said["checks"] == [{"id": "c", "seq": 3, "name": "tests", "outcome": "passed"}]


async def test_the_story_of_a_refund(door: httpx.AsyncClient) -> None:
    """Sent, and nothing came back: it isn't repeated, what depends on it never starts, and the message names both."""
    await tell(door, "goal-1", "steps", calling("a", 1))
    await tell(
        door,
        "goal-1",
        "operations",
        stage("update_customer", 2, "succeeded"),
        stage("refund", 3, "executing"),
        stage("refund", 4, "unknown", error="timeout"),
        stage("send_email", 5, "planned", needs=["refund"]),
    )
    await tell(door, "goal-1", "steps", final("b", 6, says="done"))
    said, run = await done(door, "goal-1"), (await door.get("/runs/goal-1")).json()

    assert (said["decision"], said["completion_allowed"]) == ("partially_completed", False)
    assert said["unknown"] == [{"id": "refund", "tool": "refund"}]
    assert said["never_started"] == [{"id": "send_email", "tool": "send_email"}]
    assert "`refund`" in str(said["message"])
    assert "`send_email`" in str(said["message"])
    starts = {one["id"]: (one["may_start"], one["why_not"], one["waits_for"]) for one in run["operations"]}
    assert starts == {
        "update_customer": (False, "done", []),
        "refund": (False, "nobody_knows", []),
        "send_email": (False, "needs", ["refund"]),
    }


async def test_with_an_idempotency_key_one_retry_is_safe(door: httpx.AsyncClient) -> None:
    first = stage("refund", 1, "unknown", idempotency_key="k-1")
    await tell(door, "goal-1", "operations", first, stage("send_email", 2, "planned", needs=["refund"]))
    may = {one["id"]: one["may_start"] for one in (await door.get("/runs/goal-1")).json()["operations"]}
    again = stage("refund", 3, "succeeded", attempt=2, idempotency_key="k-1")
    await tell(door, "goal-1", "operations", again, stage("send_email", 4, "succeeded"))
    await tell(door, "goal-1", "steps", final("b", 6, says="done"))

    assert may == {"refund": True, "send_email": False}
    assert (await done(door, "goal-1"))["completion_allowed"] is True


async def test_facts_may_come_in_any_order_and_again(door: httpx.AsyncClient) -> None:
    facts = [stage("a", 1, "executing"), stage("a", 2, "succeeded")]
    await tell(door, "one", "operations", *facts)
    await tell(door, "one", "steps", calling("s1", 0), final("s2", 3))
    for _ in range(2):
        await tell(door, "two", "steps", final("s2", 3))
        await tell(door, "two", "operations", *reversed(facts))
        await tell(door, "two", "steps", calling("s1", 0))

    assert {**await done(door, "one"), "run": ""} == {**await done(door, "two"), "run": ""}


async def test_a_report_that_names_a_run_is_a_step_of_it_too(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    """One road: the circuit hears of it, and so does the run."""
    reply = await door.post("/reports", json=[final("a", 1, run="goal-1"), good("b"), final("c", 1, run="goal-2")])
    await switchboard.drain(30)
    moved = (await door.get("/targets", params={"target": PRIMARY.name})).json()["targets"][0]["last_answer"]

    assert (reply.status_code, reply.json()["accepted"], reply.json()["problems"]) == (202, 3, [])
    assert moved["id"] in ("a", "b", "c")
    assert (await done(door, "goal-1"))["completion_allowed"] is True
    assert (await done(door, "goal-2"))["completion_allowed"] is True


async def test_a_late_part_is_no_step(door: httpx.AsyncClient) -> None:
    late = {"target": PRIMARY.name, "id": "a", "ended": "pending", "part": "late", "seconds": 41.0, "seq": 1}
    await tell(door, "goal-1", "steps", late)

    assert (await door.get("/runs/goal-1")).status_code == 404


async def test_calls_are_compared_by_what_they_say_and_never_kept(door: httpx.AsyncClient, server: StoreServer) -> None:
    secret = "ACCT-5512-8841"
    for seq in range(3):
        calls = [
            {"name": "look", "arguments": {"account": secret, "n": 1} if seq else f'{{"n":1,"account":"{secret}"}}'}
        ]
        await tell(door, "goal-1", "steps", calling(f"s{seq}", seq, calls=calls))
    said = await done(door, "goal-1")

    assert (said["reason"], said["next"]) == ("same_calls", "stop")
    with contextlib.closing(redis.Redis.from_url(server.url)) as raw:
        kept = b"".join(raw.dump(key) or b"" for key in raw.keys())  # noqa: SIM118 # no dictionary
    assert b"goal-1" not in kept
    assert secret.encode() not in kept


@pytest.mark.parametrize(
    ("kind", "item", "field"),
    [
        ("steps", final("a", 1, run="goal-2"), "run"),
        ("steps", good("a"), "seq"),
        ("steps", final("a", -1), "seq"),
        ("steps", final("a", 1, says="Task complete"), "says"),
        ("steps", final("a", 1, calls="look()"), "calls"),
        ("steps", final("a", 1, calls=[{"tool": "look"}]), "calls"),
        ("steps", final("a", 1, status="x"), "status"),
        ("steps", 7, None),
        ("operations", stage("a b", 1, "planned"), "id"),
        ("operations", {"id": "a"}, "seq"),
        ("operations", [], None),
        ("checks", {"id": "c", "seq": 1, "name": "tests", "outcome": "great"}, "outcome"),
    ],
)
async def test_what_is_wrong_is_said_of_each_by_itself(
    door: httpx.AsyncClient, kind: str, item: object, field: str | None
) -> None:
    reply = await door.post(f"/runs/goal-1/{kind}", json=[item])

    assert (reply.status_code, reply.json()["type"]) == (400, "urn:firstbyte:problem:bad-report")
    assert [flaw["field"] for flaw in reply.json()["problems"]] == [field]


async def test_what_is_wrong_with_one_takes_no_other_with_it(door: httpx.AsyncClient) -> None:
    reply = await door.post("/runs/goal-1/operations", json=[{"id": "x"}, stage("a", 1, "succeeded")])
    steps = await door.post("/reports", json=[final("a", 1, run="no run"), final("b", 1)])

    assert (reply.json()["accepted"], [flaw["id"] for flaw in reply.json()["problems"]]) == (1, ["x"])
    # Without a run a place in one is no fact of an answer.
    assert steps.status_code == 400


@pytest.mark.parametrize("run", ["a b", "a,b", "x" * 129, "ä"])
async def test_what_can_be_no_id_of_a_run_is_a_problem(door: httpx.AsyncClient, run: str) -> None:
    reply = await door.get(f"/runs/{run}/done")

    assert (reply.status_code, reply.json()["fields"][0]["field"]) == (422, "path.run")


async def test_of_a_run_that_nobody_told_of_nothing_is_done(door: httpx.AsyncClient) -> None:
    said = await done(door, "goal-1")

    assert (said["completion_allowed"], said["reason"]) == (False, "no_answer")
    assert (await door.get("/runs/goal-1")).json()["type"] == "urn:firstbyte:problem:unknown-run"


async def test_bounds_may_be_chosen(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", calling("a", 1), final("b", 2, says="next"))
    limited = (await door.get("/runs/goal-1/done?steps=1")).json()
    handed = (await door.get("/runs/goal-1/done?hand_backs=0")).json()

    assert limited["reason"] == "step_limit"
    assert (handed["reason"], handed["next"], handed["notice"]) == ("announced", "stop", None)
    assert (await door.get("/runs/goal-1/done?steps=0")).status_code == 422


async def test_what_was_said_is_said_again_until_something_new_is_known(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", final("a", 1))
    first, second = await done(door, "goal-1"), await done(door, "goal-1")
    await tell(door, "goal-1", "operations", stage("a", 2, "planned"))
    third, bounded = await done(door, "goal-1"), (await door.get("/runs/goal-1/done?hand_backs=0")).json()

    assert first == second
    assert (first["decision"], third["decision"]) == ("completed", "not_finished")
    assert (third["next"], bounded["next"]) == ("go_on", "stop")


async def test_no_more_answers_are_kept_than_there_is_room_for(switchboard: Switchboard) -> None:
    deciding = runs.Deciding(switchboard, most_bytes=3_000)
    for number in range(9):
        await switchboard.runs.add(f"run-{number}", [answer(1)])
        await deciding.say(f"run-{number}", {})
        await deciding.say(f"run-{number}", {})

    assert 1 <= len(deciding._said) <= 4
    assert 0 < deciding._said.bytes <= 3_000


async def test_each_claim_is_counted_once_by_its_provider(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", calling("a", 1), final("b", 2, text_chars=0))
    await asyncio.gather(*(done(door, "goal-1") for _ in range(10)))
    await tell(door, "goal-1", "steps", final("c", 3))
    await done(door, "goal-1")
    said = (await door.get("/runs")).json()

    assert said["claims"] == [{"provider": "zai", "claimed": 2, "prevented": 1}]
    assert [(run["decision"], run["reason"], run["prevented"]) for run in said["runs"]] == [
        ("completed", "agreed", False),
        ("not_finished", "not_an_answer", True),
    ]
    assert len({run["mark"] for run in said["runs"]}) == 1
    assert "goal-1" not in str(said)


async def test_with_tokens_a_run_is_told_to_agents_alone(switchboard: Switchboard) -> None:
    transport = httpx.ASGITransport(app=create_app(switchboard, access=Access(host="0.0.0.0", **TOKENS)))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as door:
        agent = {"Authorization": "Bearer agent"}
        told = await door.post("/runs/goal-1/steps", json=final("a", 1), headers=agent)
        asked = [await door.get(path) for path in ("/runs/goal-1/done", "/runs/goal-1", "/runs")]
        knowing = await door.get("/runs/goal-1/done", headers=agent)
        blind = await door.post("/runs/goal-1/operations", json=stage("a", 1, "planned"))

    assert (told.status_code, knowing.status_code, blind.status_code) == (202, 200, 401)
    assert [reply.status_code for reply in asked] == [401, 401, 200]


async def test_while_the_store_is_gone_a_step_is_judged_and_said_to_be_missing(
    door: httpx.AsyncClient, server: StoreServer
) -> None:
    server.kill()
    told = await door.post("/runs/goal-1/steps", json=final("a", 1))
    other = await door.post("/runs/goal-1/operations", json=stage("a", 1, "planned"))

    assert (told.status_code, told.json()["answers"][0]["verdict"]) == (202, "ok")
    assert told.json()["problems"][0]["field"] == "run"
    assert "send it again" in told.json()["problems"][0]["wrong"]
    assert (other.status_code, other.json()["type"]) == (503, "urn:firstbyte:problem:store-gone")
    assert (await door.get("/runs/goal-1/done")).status_code == 503


async def test_a_run_holds_so_much_and_then_nobody_can_say(door: httpx.AsyncClient) -> None:
    await tell(door, "goal-1", "steps", final("a", 2_000))
    many = [stage(f"op-{seq}", seq, "succeeded") for seq in range(MOST_FACTS)]
    reply = await door.post("/runs/goal-1/operations", json=many)
    step = await door.post("/runs/goal-1/steps", json=final("b", 2_001))

    assert reply.json() == {"accepted": MOST_FACTS, "problems": [], "overfull": True}
    assert "as many facts" in step.json()["problems"][0]["wrong"]
    assert (await done(door, "goal-1"))["reasons"] == ["overfull"]
