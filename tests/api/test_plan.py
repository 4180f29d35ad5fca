"""What decides where steps go, as an agent's client is told it."""

import httpx

from breaker.answer import Answer
from breaker.switchboard import Switchboard
from tests.api.world import BACKUP, OTHER, PRIMARY, failed, part_gone


async def test_each_route_names_its_targets_in_their_order(door: httpx.AsyncClient) -> None:
    said = (await door.get("/routes")).json()

    assert said["routes"] == [
        {"route": "coder", "targets": [PRIMARY.name, BACKUP.name], "max_open_share": 1.0, "stale": False},
        {"route": "reviewer", "targets": [OTHER.name], "max_open_share": 1.0, "stale": False},
    ]
    assert [one["target"] for one in said["targets"]] == [PRIMARY.name, BACKUP.name, OTHER.name]
    never = {"generation": 0, "cause": None, "since_s": None, "open_s": None, "hold_s": 0.0, "held": None}
    assert [one["circuit"] for one in said["targets"]] == [never] * 3


async def test_one_route_brings_its_own_targets_alone(door: httpx.AsyncClient) -> None:
    said = (await door.get("/routes?route=reviewer")).json()

    assert ([one["route"] for one in said["routes"]], [one["target"] for one in said["targets"]]) == (
        ["reviewer"],
        [OTHER.name],
    )


async def test_an_open_circuit_says_for_how_long(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    for name in "ab":
        await switchboard.report(Answer.from_facts(failed(name)))
    said = (await door.get("/routes?route=coder")).json()["targets"][0]["circuit"]

    assert (said["generation"], said["cause"], said["hold_s"], said["held"]) == (1, "errors", 600.0, None)
    assert 500 < said["open_s"] <= 600
    assert 0 <= said["since_s"] < 100


async def test_while_a_part_of_the_store_is_gone_only_routes_with_a_target_there_are_stale(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    part_gone(switchboard, OTHER, 100.0)

    whole, coder, reviewer = [
        (await door.get(f"/routes{one}")).json() for one in ("", "?route=coder", "?route=reviewer")
    ]

    assert [(one["route"], one["stale"]) for one in whole["routes"]] == [("coder", False), ("reviewer", True)]
    assert [one["stale"] for one in (whole, coder, reviewer)] == [True, False, True]


async def test_a_route_that_is_none_is_told_apart(door: httpx.AsyncClient) -> None:
    answer = await door.get("/routes?route=codr")

    assert (answer.status_code, answer.json()["known"]) == (404, ["coder", "reviewer"])
