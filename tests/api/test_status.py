"""GET /status.json, Statuspage's shape, the feed and the badges."""

import asyncio
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from breaker.api import Access, Besides, create_app
from breaker.api.notices import Spent
from breaker.api.page import View
from breaker.api.status import atom, badge, shapes, shaping, statuspage
from breaker.circuit import Cause, Circuit, Move, State
from breaker.history import History
from breaker.policy import Policy
from breaker.route import Route
from breaker.switchboard import Switchboard
from tests.api.scenes import NOW, circuit, held, scene
from tests.api.test_page_day import DAY, HOUR
from tests.api.world import BACKUP, OTHER, PRIMARY, URL, failed, good
from tests.reporting import report
from tests.store_server import StoreServer

OPEN = circuit(cause=Cause.SLOW, moved_s=212, left_s=388)
ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"
ALL_OUT = scene(primary=OPEN, backup=OPEN, other=OPEN)


def moved(why: str = "2 in a row", cause: Cause = Cause.SLOW) -> Move:
    return Move(at=NOW - 212, before=State.CLOSED, after=State.OPEN, cause=cause, why=why, circuit=OPEN)


def of(target: str, view: View) -> Any:  # Any: JSON
    return next(one for one in shaping.of_view(view)["targets"] if one["target"] == target)


# /status.json


def test_it_says_what_the_page_says() -> None:
    said = shaping.of_view(scene(primary=OPEN, moves=[(PRIMARY.name, moved())]))

    assert said["mood"] == "backup"
    assert said["headline"].startswith("coder is on its backup: zai/glm-5.3-flash is slow")
    coder, reviewer = said["routes"]
    assert (coder["target"], coder["role"], coder["in_order"]) == (BACKUP.name, "backup", 1)
    assert [(step["target"], step["chosen"], step["why"]) for step in coder["targets"]] == [
        (PRIMARY.name, False, "out: slow"),
        (BACKUP.name, True, "takes requests"),
    ]
    assert (reviewer["target"], reviewer["in_order"]) == (OTHER.name, 1)
    assert said["moves"][0]["text"] == "zai/glm-5.3-flash was taken out, slow"


def test_what_a_target_is_since_when_and_why_are_facts_apart() -> None:
    view = scene(primary=OPEN, heard_s={"primary": 3000.0})

    said = of(PRIMARY.name, view)
    assert (said["state"], said["cause"], said["why"], said["unheard"]) == ("open", "slow", "out: slow", True)
    assert (said["since"], said["until"]) == ("2026-11-30T11:56:28.000Z", "2026-11-30T12:06:28.000Z")
    assert said["last_answer_at"] == "2026-11-30T11:10:00.000Z"
    never = of(BACKUP.name, scene(heard_s={"backup": None}))
    assert (never["since"], never["last_answer_at"], never["last_verdict"], never["unheard"]) == (
        None,
        None,
        None,
        True,
    )


def test_of_a_part_of_the_store_that_is_gone_each_target_and_route_says_so() -> None:
    said = shaping.of_view(scene(gone={"other": 12.0}))

    assert (said["stale"], said["age_s"]) == (True, 12.0)
    assert [(one["route"], one["stale"]) for one in said["routes"]] == [("coder", False), ("reviewer", True)]
    assert [(one["target"], one["stale"]) for one in said["targets"]] == [
        (PRIMARY.name, False),
        (BACKUP.name, False),
        (OTHER.name, True),
    ]


def test_a_hold_by_hand_is_its_cause() -> None:
    assert of(PRIMARY.name, scene(primary=held(opened=True, left_s=60)))["cause"] == "manual"


def test_the_hour_and_the_day_say_how_long_they_are() -> None:
    said = of(PRIMARY.name, scene(histories={"primary": History(DAY, HOUR)}))

    assert said["hour"] == {"over_s": 3600.0, "count": 3, "missing": 1, "p50_s": 1.5, "p95_s": 52.0}
    assert (said["day"]["slot_s"], said["day"]["good"], said["day"]["bad"]) == (960.0, 1233, 18)
    assert [slot["out"] for slot in said["day"]["slots"]] == [0, 0, 12, 4, 0]
    assert said["day"]["slots"][2]["verdict"] == "http_error"


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/status.json", shapes.StatusShape),
        ("/api/v2/summary.json", shapes.SummaryShape),
        ("/api/v2/status.json", shapes.IndicatedShape),
    ],
)
async def test_an_answer_is_as_it_is_described(door: httpx.AsyncClient, path: str, shape: type) -> None:
    await report(door, [good("a"), failed("b"), failed("c")])

    said = await door.get(path)

    assert said.headers["cache-control"] == "no-store"
    assert TypeAdapter(shape).validate_json(said.text, strict=True) == said.json()


# Statuspage's shape


@pytest.mark.parametrize(
    ("view", "indicator"),
    [
        pytest.param(scene(), "none", id="well"),
        pytest.param(scene(primary=OPEN), "minor", id="on the backup"),
        pytest.param(scene(primary=OPEN, backup=OPEN), "major", id="one route lost"),
        pytest.param(ALL_OUT, "critical", id="all routes lost"),
        pytest.param(scene(age_s=12.0), "minor", id="stale is not none"),
        pytest.param(scene(heard_s={"primary": None}), "minor", id="unheard is not none"),
        pytest.param(scene(self_suspect_s=40.0), "major", id="our own network"),
    ],
)
def test_the_indicator_is_of_routes(view: View, indicator: str) -> None:
    assert statuspage.indicated(view)["status"]["indicator"] == indicator


@pytest.mark.parametrize(
    ("found", "view", "expected"),
    [
        pytest.param(Circuit(), {}, "operational", id="closed"),
        pytest.param(OPEN, {}, "major_outage", id="open"),
        pytest.param(circuit(cause=Cause.SLOW, moved_s=620, left_s=-1), {}, "partial_outage", id="half-open"),
        pytest.param(held(opened=True, left_s=60), {}, "under_maintenance", id="held open"),
        pytest.param(held(opened=False, left_s=60), {}, "operational", id="held closed"),
        pytest.param(Circuit(), {"age_s": 9.0}, "degraded_performance", id="stale"),
        pytest.param(Circuit(), {"gone": {"other": 9.0}}, "degraded_performance", id="its part of the store is gone"),
        pytest.param(Circuit(), {"gone": {"primary": 9.0}}, "operational", id="another part of the store is gone"),
        pytest.param(Circuit(), {"heard_s": {"other": None}}, "degraded_performance", id="unheard"),
    ],
)
def test_a_component_is_operational_only_where_that_is_known(
    found: Circuit, view: dict[str, Any], expected: str
) -> None:
    parts = statuspage.summary(scene(other=found, **view))["components"]

    assert {part["name"]: part["status"] for part in parts}[OTHER.name] == expected


def test_components_are_routes_and_targets_and_keep_their_ids() -> None:
    before, after = statuspage.summary(scene())["components"], statuspage.summary(ALL_OUT)["components"]

    assert [part["name"] for part in before] == ["coder", "reviewer", PRIMARY.name, BACKUP.name, OTHER.name]
    assert [part["id"] for part in before] == [part["id"] for part in after]
    assert len({part["id"] for part in before}) == 5
    assert {part["status"] for part in after} == {"major_outage"}


# The feed


def test_the_feed_tells_each_move_once_in_plain_words() -> None:
    feed = ET.fromstring(atom.feed([(PRIMARY.name, moved()), (BACKUP.name, moved(cause=Cause.QUOTA))], NOW))

    assert feed.findtext(f"{ATOM}updated") == "2026-11-30T11:56:28.000Z"
    first, second = feed.findall(f"{ATOM}entry")
    assert first.findtext(f"{ATOM}title") == "zai/glm-5.3-flash was taken out, slow"
    assert first.findtext(f"{ATOM}content") == "2 in a row"
    assert first.findtext(f"{ATOM}id") != second.findtext(f"{ATOM}id")


def test_a_feed_without_moves_is_one_all_the_same() -> None:
    assert ET.fromstring(atom.feed([], NOW)).findtext(f"{ATOM}updated") == "2026-11-30T12:00:00.000Z"


def test_nothing_from_outside_breaks_the_feed() -> None:
    hostile = "]]><script>&\x00\x0b\ud800\"'"

    feed = ET.fromstring(atom.feed([("a/<b>&", moved(why=hostile))], NOW).encode())

    assert feed.findtext(f"{ATOM}entry/{ATOM}content") == "]]><script>&\ufffd\ufffd\ufffd\"'"
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == "a/<b>& was taken out, slow"


async def test_the_feed_is_served(door: httpx.AsyncClient) -> None:
    await report(door, [failed("b"), failed("c")])

    said = await door.get("/feed.atom")

    assert said.headers["content-type"].startswith("application/atom+xml")
    assert ET.fromstring(said.text).findtext(f"{ATOM}entry/{ATOM}title") == f"{PRIMARY.name} was taken out, failing"


async def test_without_the_store_there_is_no_feed(door: httpx.AsyncClient, server: StoreServer) -> None:
    server.kill()

    assert (await door.get("/feed.atom")).status_code == 503


# Badges


def decision(view: View, number: int = 0) -> Any:  # Any: a decision
    return view.decisions[number]


@pytest.mark.parametrize(
    ("view", "message", "known"),
    [
        pytest.param(scene(), "on its primary", True, id="primary"),
        pytest.param(scene(primary=OPEN), "on a backup", True, id="backup"),
        pytest.param(ALL_OUT, "no working target", True, id="last resort"),
        pytest.param(scene(age_s=12.0), "stale", False, id="stale"),
        pytest.param(scene(gone={"backup": 12.0}), "stale", False, id="one of its targets is stale"),
        pytest.param(scene(gone={"other": 12.0}), "on its primary", True, id="another route is stale"),
        pytest.param(scene(heard_s={"primary": None}), "not heard of", False, id="unheard"),
    ],
)
def test_a_routes_badge_says_where_it_goes(view: View, message: str, known: bool) -> None:
    made = badge.of_route(decision(view), view)

    assert (made.label, made.message, made.mark is not None) == ("coder", message, known)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        pytest.param(scene(), "takes requests", id="closed"),
        pytest.param(scene(primary=OPEN), "out: slow", id="open"),
        pytest.param(scene(primary=held(opened=True, left_s=9)), "out: by hand", id="held open"),
        pytest.param(scene(age_s=12.0), "stale", id="stale"),
        pytest.param(scene(gone={"other": 12.0}), "takes requests", id="another is stale"),
        pytest.param(scene(heard_s={"primary": None}), "not heard of", id="unheard"),
    ],
)
def test_a_targets_badge_says_how_it_stands(view: View, message: str) -> None:
    made = badge.of_target(view.standing(PRIMARY), view)

    assert (made.label, made.message) == (PRIMARY.name, message)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        pytest.param(scene(), "all well", id="well"),
        pytest.param(scene(primary=OPEN), "on a backup", id="backup"),
        pytest.param(ALL_OUT, "no working target", id="last resort"),
        pytest.param(scene(age_s=12.0), "stale", id="stale"),
        pytest.param(scene(self_suspect_s=9.0), "not heard of", id="our own network"),
    ],
)
def test_the_badge_of_all_says_the_worst(view: View, message: str) -> None:
    assert badge.of_all(view).message == message


def test_states_differ_in_colour_and_in_shape() -> None:
    views = [scene(), scene(primary=OPEN), scene(primary=held(opened=True, left_s=9)), scene(age_s=9.0)]
    made = [badge.of_target(view.standing(PRIMARY), view) for view in views]

    assert len({one.colour for one in made}) == 4
    assert len({one.mark for one in made}) == 4


def test_a_badge_is_wide_enough_and_holds_nothing_but_text() -> None:
    drawn = ET.fromstring(badge.draw(badge.Badge("<b>&mMil", "out: slow", "#000", State.OPEN)))

    texts = drawn.findall(f".//{SVG}text")
    assert [text.text for text in texts] == ["<b>&mMil", "out: slow"]
    assert float(texts[1].get("x", 0)) + float(texts[1].get("textLength", 0)) < float(drawn.get("width", 0))
    assert drawn.get("aria-label") == "<b>&mMil: out: slow"


@pytest.mark.parametrize(
    ("params", "label"),
    [({"route": "coder"}, "coder"), ({"target": PRIMARY.name}, PRIMARY.name), ({}, "firstbyte")],
)
async def test_badges_are_served(door: httpx.AsyncClient, params: dict[str, str], label: str) -> None:
    said = await door.get("/badge.svg", params=params)

    assert (said.status_code, said.headers["content-type"]) == (200, "image/svg+xml")
    assert said.headers["content-security-policy"] == "default-src 'none'"
    assert (ET.fromstring(said.text).get("aria-label") or "").startswith(f"{label}: ")


@pytest.mark.parametrize(
    ("params", "code"),
    [({"route": "<svg>"}, 404), ({"target": "a/b"}, 404), ({"route": "coder", "target": PRIMARY.name}, 422)],
)
async def test_a_name_that_is_not_configured_is_on_no_badge(
    door: httpx.AsyncClient, params: dict[str, str], code: int
) -> None:
    said = await door.get("/badge.svg", params=params)

    assert (said.status_code, said.headers["content-type"]) == (code, "application/problem+json")


@pytest.mark.parametrize("params", [{"route": "coder"}, {"target": PRIMARY.name}], ids=["route", "target"])
async def test_a_badge_is_of_what_there_is_after_the_last_wait(
    switchboard: Switchboard, params: dict[str, str]
) -> None:
    other = replace(PRIMARY, provider=replace(PRIMARY.provider, base_url="https://elsewhere.example/v4"))

    async def spent() -> list[Spent]:
        await asyncio.sleep(0)
        switchboard.renew([Route(name="coder", targets=(other,))], {other.name: Policy()}, {})
        return []

    app = create_app(switchboard, access=Access(), besides=Besides(spent=spent))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=URL) as door:
        said = await door.get("/badge.svg", params=params)

    assert (said.status_code, said.headers["content-type"]) == (200, "image/svg+xml")


def test_a_move_by_another_epoch_is_another_entry() -> None:
    one, other = moved(), replace(moved(), circuit=replace(OPEN, epoch="f"))

    feed = ET.fromstring(atom.feed([(PRIMARY.name, one), (PRIMARY.name, other)], NOW))

    assert len({entry.findtext(f"{ATOM}id") for entry in feed.findall(f"{ATOM}entry")}) == 2
