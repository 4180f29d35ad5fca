"""POST /circuit/open, /close and /release."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from breaker.switchboard import Switchboard
from tests.api.world import BACKUP, PRIMARY, failed
from tests.reporting import report

ONE = {"target": PRIMARY.name}
WORDS = {"who": "anna", "why": "new plan"}


async def test_a_circuit_held_open_sends_agents_elsewhere(door: httpx.AsyncClient) -> None:
    answer = await door.post("/circuit/open", params=ONE, json={**WORDS, "for_s": 60})

    said = answer.json()
    assert (answer.status_code, said["target"], said["state"], said["cause"]) == (
        200,
        *ONE.values(),
        "held-open",
        "manual",
    )
    assert {name: said["held"][name] for name in ("opened", "who", "why")} == {"opened": True, **WORDS}
    assert 59 < said["until_s"] <= 60
    decision = (await door.get("/route?route=coder")).json()
    assert (decision["target"], decision["reason"]) == (BACKUP.name, "manual")


async def test_a_circuit_held_closed_is_used_whatever_is_measured(door: httpx.AsyncClient) -> None:
    answer = await door.post("/circuit/close", params=ONE, json=WORDS)
    await report(door, [failed("a"), failed("b")])

    assert answer.json()["state"] == "held-closed"
    assert (await door.get("/route?route=coder")).json()["target"] == PRIMARY.name


async def test_a_hold_lasts_ten_minutes_unless_said_otherwise(door: httpx.AsyncClient) -> None:
    said = (await door.post("/circuit/open", params=ONE, json=WORDS)).json()

    assert 599 < said["until_s"] <= 600


async def test_a_hold_may_last_until_a_moment(door: httpx.AsyncClient) -> None:
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()

    said = (await door.post("/circuit/open", params=ONE, json={**WORDS, "until": until})).json()

    assert 3598 < said["until_s"] <= 3600


async def test_a_release_gives_the_circuit_back(door: httpx.AsyncClient) -> None:
    await door.post("/circuit/open", params=ONE, json=WORDS)

    answer = await door.post("/circuit/release", params=ONE, json=WORDS)

    assert (answer.status_code, answer.json()["state"], answer.json()["held"]) == (200, "closed", None)


async def test_a_release_without_a_hold_changes_nothing(door: httpx.AsyncClient) -> None:
    answer = await door.post("/circuit/release", params=ONE, json=WORDS)

    assert (answer.status_code, answer.json()["generation"]) == (200, 0)


def ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        pytest.param({}, ["who", "why"], id="nothing"),
        pytest.param({"who": "", "why": "psst" * 51}, ["who", "why"], id="empty and too long"),
        pytest.param({"who": " ", "why": "psst\n"}, ["who", "why"], id="blank and unprintable"),
        pytest.param({"who": 3, "why": ["psst"]}, ["who", "why"], id="wrong types"),
        pytest.param({**WORDS, "how": "psst"}, ["how"], id="unknown"),
        pytest.param({**WORDS, "for_s": 0}, ["for_s"], id="no time"),
        pytest.param({**WORDS, "for_s": 30 * 86_400 + 1}, ["for_s"], id="more than thirty days"),
        pytest.param({**WORDS, "for_s": "psst"}, ["for_s"], id="no number"),
        pytest.param({**WORDS, "until": "psst"}, ["until"], id="no moment"),
        pytest.param({**WORDS, "until": "2999-01-01T00:00:00"}, ["until"], id="a moment without its zone"),
        pytest.param({**WORDS, "until": ago(seconds=5)}, ["until"], id="a moment that has passed"),
        pytest.param({**WORDS, "until": ago(days=-31)}, ["until"], id="a moment too far"),
        pytest.param({**WORDS, "until": ago(days=-1), "for_s": 3}, ["body"], id="two ends"),
        pytest.param([], ["body"], id="no object"),
    ],
)
async def test_a_hold_that_says_too_little_or_too_much_is_refused_by_name(
    door: httpx.AsyncClient, switchboard: Switchboard, body: object, fields: list[str]
) -> None:
    answer = await door.post("/circuit/open", params=ONE, json=body)

    assert answer.status_code == 422
    assert [field["field"] for field in answer.json()["fields"]] == fields
    assert "psst" not in answer.text
    assert switchboard.standing(PRIMARY.name).circuit.generation == 0


async def test_a_body_that_is_not_json_is_refused(door: httpx.AsyncClient) -> None:
    answer = await door.post(
        "/circuit/open", params=ONE, content=b"{psst", headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 422
    assert "psst" not in answer.text


@pytest.mark.parametrize("what", ["open", "close", "release"])
async def test_an_unknown_target_is_told_the_names_there_are(door: httpx.AsyncClient, what: str) -> None:
    answer = await door.post(f"/circuit/{what}", params={"target": "x/y"}, json=WORDS)

    assert (answer.status_code, answer.json()["known"][0]) == (404, PRIMARY.name)
