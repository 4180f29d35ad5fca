"""GET /targets and GET /moves."""

import httpx
import pytest

from breaker.switchboard import Switchboard
from tests.api.server import Server
from tests.api.world import BACKUP, OTHER, PRIMARY, failed, good

ONE = {"target": PRIMARY.name}


async def test_all_targets_stand_in_the_order_of_the_routes(door: httpx.AsyncClient) -> None:
    said = (await door.get("/targets")).json()

    assert [target["target"] for target in said["targets"]] == [PRIMARY.name, BACKUP.name, OTHER.name]
    assert [target["routes"] for target in said["targets"]] == [["coder"], ["coder"], ["reviewer"]]
    assert said["stale"] is False


async def test_a_target_that_was_never_asked_has_nothing_to_show(door: httpx.AsyncClient) -> None:
    said = (await door.get("/targets", params=ONE)).json()["targets"][0]

    assert (said["state"], said["cause"], said["since_s"], said["until_s"]) == ("closed", None, None, None)
    assert (said["held"], said["last_first_byte"], said["last_answer"]) == (None, None, None)


async def test_the_last_first_byte_stays_when_later_answers_have_none(door: httpx.AsyncClient) -> None:
    await door.post("/reports", json=[good("a", first_byte_s=1.23456), failed("b"), failed("c")])

    said = (await door.get("/targets", params=ONE)).json()["targets"][0]

    assert said["last_first_byte"]["first_byte_s"] == 1.235
    assert (said["last_answer"]["id"], said["last_answer"]["verdict"]) == ("c", "http_error")
    assert said["last_answer"]["class"] == "provider_failure"
    assert (said["state"], said["cause"], said["generation"]) == ("open", "errors", 1)
    assert 595 < said["until_s"] <= 600


async def test_targets_are_shown_while_the_store_is_gone(door: httpx.AsyncClient, server: Server) -> None:
    await door.post("/reports", json=good("a"))
    server.kill()

    answer = await door.get("/targets", params=ONE)

    assert answer.status_code == 200
    assert answer.json()["targets"][0]["last_answer"]["id"] == "a"


async def test_what_was_never_read_is_called_stale(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    switchboard._read_at = None

    said = (await door.get("/targets")).json()

    assert (said["stale"], said["age_s"]) == (True, None)


async def test_a_move_comes_with_the_answers_behind_it(door: httpx.AsyncClient) -> None:
    await door.post("/reports", json=[failed("a"), failed("b", status=502)])

    said = (await door.get("/moves", params=ONE)).json()

    (move,) = said["moves"]
    assert said["target"] == PRIMARY.name
    assert (move["before"], move["after"], move["cause"], move["generation"]) == ("closed", "open", "errors", 1)
    assert move["why"] == "two answers in a row failed: http error 500 (agent), http error 502 (agent)"
    assert [(a["id"], a["status"], a["source"]) for a in move["answers"]] == [
        ("a", 500, "report"),
        ("b", 502, "report"),
    ]
    assert move["at"].endswith("Z")


async def test_moves_come_newest_first_and_no_more_than_asked_for(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    for why in ("one", "two", "three"):
        await switchboard.hold(PRIMARY.name, opened=True, who="anna", why=why, for_s=60)

    said = (await door.get("/moves", params={**ONE, "limit": 2})).json()

    assert [move["why"] for move in said["moves"]] == ["by hand, anna: three", "by hand, anna: two"]


@pytest.mark.parametrize("limit", ["0", "201", "-1", "psst", "1.5"])
async def test_a_limit_out_of_bounds_is_refused_by_name_alone(door: httpx.AsyncClient, limit: str) -> None:
    answer = await door.get("/moves", params={**ONE, "limit": limit})

    assert answer.status_code == 422
    assert [field["field"] for field in answer.json()["fields"]] == ["limit"]
    assert "psst" not in answer.text


async def test_moves_of_no_target_are_refused(door: httpx.AsyncClient) -> None:
    answer = await door.get("/moves")

    assert (answer.status_code, answer.json()["detail"]) == (422, "target: Field required")
