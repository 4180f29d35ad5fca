"""GET /targets and GET /moves."""

import asyncio
import time
from dataclasses import asdict, replace

import httpx
import pytest

from breaker.api import Access, create_app
from breaker.api.recent import READ, Recent
from breaker.api.shaping import by_target, of_standing
from breaker.circuit import Move
from breaker.log import Log
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import LOOK_S, Switchboard
from tests.api.scenes import NOW, entry, knows, scene
from tests.api.world import BACKUP, OTHER, PRIMARY, ROUTES, URL, failed, good, part_gone
from tests.compared import Compared
from tests.reporting import report
from tests.store_server import StoreServer

ONE = {"target": PRIMARY.name}


async def test_all_targets_stand_in_the_order_of_the_routes(door: httpx.AsyncClient) -> None:
    said = (await door.get("/targets")).json()

    assert [target["target"] for target in said["targets"]] == [PRIMARY.name, BACKUP.name, OTHER.name]
    assert [target["routes"] for target in said["targets"]] == [["coder"], ["coder"], ["reviewer"]]
    assert said["stale"] is False


async def test_of_many_targets_none_is_looked_for_among_all_routes(store: RedisStore) -> None:
    targets = [replace(PRIMARY, model=Compared(f"m{n}")) for n in range(100)]
    routes = [Route(name=f"r{n}", targets=tuple(targets[10 * n : 10 * n + 20])) for n in range(10)]
    app = create_app(Switchboard(store, routes, {target.name: Policy() for target in targets}), access=Access())
    Compared.times = 0
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as client:
        said = (await client.get("/targets")).json()["targets"]

    assert Compared.times < 1_000
    assert [target["routes"] for target in said] == [
        [f"r{n}" for n in (i // 10 - 1, i // 10) if n >= 0] for i in range(100)
    ]


async def test_a_target_that_was_never_asked_has_nothing_to_show(door: httpx.AsyncClient) -> None:
    said = (await door.get("/targets", params=ONE)).json()["targets"][0]

    assert (said["state"], said["cause"], said["since_s"], said["until_s"]) == ("closed", None, None, None)
    assert (said["held"], said["last_first_byte"], said["last_answer"]) == (None, None, None)


async def test_the_last_first_byte_stays_when_later_answers_have_none(door: httpx.AsyncClient) -> None:
    await report(door, [good("a", first_byte_s=1.23456), failed("b"), failed("c")])

    said = (await door.get("/targets", params=ONE)).json()["targets"][0]

    assert said["last_first_byte"]["first_byte_s"] == 1.235
    assert (said["last_answer"]["id"], said["last_answer"]["verdict"]) == ("c", "http_error")
    assert said["last_answer"]["class"] == "provider_failure"
    assert (said["state"], said["cause"], said["generation"]) == ("open", "errors", 1)
    assert 595 < said["until_s"] <= 600


async def test_targets_are_shown_while_the_store_is_gone(door: httpx.AsyncClient, server: StoreServer) -> None:
    await report(door, good("a"))
    server.kill()

    answer = await door.get("/targets", params=ONE)

    assert answer.status_code == 200
    assert answer.json()["targets"][0]["last_answer"]["id"] == "a"


async def test_while_a_part_of_the_store_is_gone_only_its_targets_are_stale(
    door: httpx.AsyncClient, switchboard: Switchboard
) -> None:
    part_gone(switchboard, OTHER, 100.0)

    whole, primary, other = [
        (await door.get("/targets", params=params)).json()
        for params in ({}, {"target": PRIMARY.name}, {"target": OTHER.name})
    ]

    assert [one["stale"] for one in whole["targets"]] == [False, False, True]
    assert [(one["stale"], one["age_s"] > 99) for one in (whole, primary, other)] == [
        (True, True),
        (False, False),
        (True, True),
    ]


async def test_what_was_never_read_is_called_stale(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    switchboard._snapshot._read_at = None

    said = (await door.get("/targets")).json()

    assert (said["stale"], said["age_s"]) == (True, None)


async def test_a_move_comes_with_the_answers_behind_it(door: httpx.AsyncClient) -> None:
    await report(door, [failed("a"), failed("b", status=502)])

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


async def test_without_a_target_the_newest_moves_of_all_come(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    for target in (PRIMARY, OTHER, BACKUP, PRIMARY):
        await switchboard.hold(target.name, opened=True, who="anna", why=target.model, for_s=60)

    said = (await door.get("/moves", params={"limit": 3})).json()

    assert said["target"] is None
    assert [move["target"] for move in said["moves"]] == [PRIMARY.name, BACKUP.name, OTHER.name]


class Counting:
    """A store that counts how often a ledger is read."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self.read = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def moves(self, target: str, limit: int) -> list[Move]:
        self.read += 1
        return await self._store.moves(target, limit)


@pytest.mark.parametrize("there", [True, False], ids=["store there", "store gone"])
async def test_however_many_ask_all_ledgers_are_read_once_a_second(
    store: RedisStore, server: StoreServer, *, there: bool
) -> None:
    counting, policies = Counting(store), {target.name: Policy() for target in (PRIMARY, BACKUP, OTHER)}
    board = Switchboard(counting, ROUTES, policies)  # type: ignore[arg-type] # it is the store but for one method
    await board.refresh()
    if not there:
        server.kill()
    app = create_app(board, access=Access())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as door:
        began = time.monotonic()
        asked = [door.get(path) for path in ("/feed.atom", "/moves", "/moves?limit=51") for _ in range(20)]
        answers = await asyncio.gather(*asked)
        seconds = time.monotonic() - began

    assert {answer.status_code for answer in answers} == {200 if there else 503}
    assert 0 < counting.read <= len(policies) * len(READ) * (1 + seconds / LOOK_S)


async def test_a_target_that_goes_while_ledgers_are_read_has_no_moves(switchboard: Switchboard) -> None:
    for target in (PRIMARY, OTHER):
        await switchboard.hold(target.name, opened=True, who="anna", why="a", for_s=60)
    reading = asyncio.create_task(Recent(switchboard).moves(5))
    await asyncio.sleep(0)
    switchboard.renew(ROUTES[:1], {target.name: Policy() for target in ROUTES[0].targets}, {})

    assert [target for target, _ in await reading] == [PRIMARY.name]


async def test_a_move_tells_which_numbers_were_compared(door: httpx.AsyncClient) -> None:
    await report(door, [failed("a"), failed("b")])

    (move,) = (await door.get("/moves", params=ONE)).json()["moves"]

    assert move["target"] == PRIMARY.name
    assert move["measures"] == [{"what": "errors_row", "value": 2, "limit": 2}]


async def test_an_answer_that_counted_for_nothing_says_why(door: httpx.AsyncClient) -> None:
    await report(door, good("a", suspect_timing=True))
    stalled = (await door.get("/targets", params=ONE)).json()["targets"][0]["last_answer"]
    await report(door, failed("b", status=None, ended="unreachable", self_suspect=True))
    cut_off = (await door.get("/targets", params=ONE)).json()["targets"][0]["last_answer"]
    await report(door, failed("c", status=429, retry_after_s=7.5))
    throttled = (await door.get("/targets", params=ONE)).json()["targets"][0]["last_answer"]

    assert (stalled["suspect_timing"], stalled["self_suspect"], stalled["retry_after_s"]) == (True, False, None)
    assert (cut_off["suspect_timing"], cut_off["self_suspect"]) == (False, True)
    assert (throttled["verdict"], throttled["retry_after_s"]) == ("rate_limited", 7.5)


async def test_a_hold_says_what_goes_on_underneath(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    await report(door, [failed("a"), failed("b")])
    await switchboard.hold(PRIMARY.name, opened=False, who="anna", why="I know better", for_s=60)

    said = (await door.get("/targets", params=ONE)).json()["targets"][0]

    automatic = said["held"]["automatic"]
    assert (said["state"], said["cause"], said["hold_s"]) == ("held-closed", "manual", 600)
    assert (automatic["state"], automatic["cause"]) == ("open", "errors")
    assert 595 < automatic["until_s"] <= 600
    assert 0 <= automatic["since_s"] < 5


async def test_a_target_comes_with_its_numbers(door: httpx.AsyncClient) -> None:
    said = (await door.get("/targets", params=ONE)).json()["targets"][0]

    assert said["policy"] == asdict(Policy())
    assert (said["hold_s"], said["usual_first_byte_s"], said["sluggish_above_s"]) == (0, None, None)


@pytest.mark.parametrize("slump", [True, False])
def test_usual_speed_is_told_once_it_is_known_and_a_limit_only_where_there_is_a_rule(slump: bool) -> None:
    view = scene(logs={"primary": knows(Log(probes=(entry(PRIMARY, 12),)), usual_s=3.0)})
    standing = replace(view.standings[0], policy=Policy(slump=slump))

    said = of_standing(standing, by_target(ROUTES), NOW)

    assert said["usual_first_byte_s"] == pytest.approx(3.0, rel=0.1)
    assert ((said["sluggish_above_s"] or 0.0) > 5.0) is slump


async def test_while_our_own_network_is_down_it_says_for_how_long(store: RedisStore) -> None:
    class Down:
        suspect_since: float | None = time.monotonic() - 40.0

        async def down(self, target: str) -> bool:
            raise AssertionError(target)

        def was_down(self, seconds: float) -> bool:
            raise AssertionError(seconds)

    policies = {target.name: Policy() for route in ROUTES for target in route.targets}
    board = Switchboard(store, ROUTES, policies, network=Down())
    await board.refresh()
    app = create_app(board, access=Access())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as door:
        said, page = (await door.get("/targets")).json(), (await door.get("/")).text

    assert 40 <= said["self_suspect_s"] < 60
    assert "Our own network seems to be down: nothing moves until it is back." in page


async def test_nobody_says_so_where_it_is_up(door: httpx.AsyncClient) -> None:
    assert (await door.get("/targets")).json()["self_suspect_s"] is None
