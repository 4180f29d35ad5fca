"""GET /route and POST /reports."""

import asyncio
import gzip
import json

import httpx
import pytest

from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from tests.api.world import BACKUP, OTHER, PRIMARY, ROUTES, failed, good, slow
from tests.reporting import recorded, report
from tests.store_server import StoreServer

TARGET = PRIMARY.name


async def test_a_healthy_route_goes_to_its_primary(door: httpx.AsyncClient) -> None:
    answer = await door.get("/route?route=coder")

    assert answer.status_code == 200
    assert list(answer.json().items()) == [
        ("route", "coder"),
        ("target", "zai/glm-5.3-flash"),
        ("provider", "zai"),
        ("model", "glm-5.3-flash"),
        ("base_url", "https://zai.example/v4"),
        ("wire", "openai-chat"),
        ("api_key_env", "ZAI_API_KEY"),
        ("role", "primary"),
        ("state", "closed"),
        ("primary", "zai/glm-5.3-flash"),
        ("reason", "healthy"),
        ("since_s", None),
        ("until_s", None),
        ("generation", 0),
        ("valid_for_s", 5.0),
        ("stale", False),
    ]


@pytest.mark.parametrize(
    ("reports", "reason"),
    [
        pytest.param([failed("a"), failed("b")], "errors", id="two failed"),
        pytest.param([slow("a"), slow("b")], "slow", id="two slow"),
    ],
)
async def test_bad_reports_send_the_next_step_to_the_backup(
    door: httpx.AsyncClient, reports: list[dict[str, object]], reason: str
) -> None:
    await report(door, [*reports])

    said = (await door.get("/route?route=coder")).json()

    assert (said["target"], said["role"], said["reason"]) == (BACKUP.name, "backup", reason)
    assert said["generation"] == 1
    assert 595 < said["until_s"] <= 600
    assert 0 <= said["since_s"] < 5
    assert "retry_after_s" not in said


async def test_a_route_without_a_target_in_order_has_a_last_resort(door: httpx.AsyncClient) -> None:
    await report(door, [*(failed(f"{t.name}{i}", t) for t in (PRIMARY, BACKUP) for i in range(2))])

    answer = await door.get("/route?route=coder")

    assert answer.status_code == 200
    assert answer.json()["role"] == "last_resort"
    assert 595 < answer.json()["retry_after_s"] <= 600


async def test_a_decision_that_stands_is_not_sent_again(door: httpx.AsyncClient) -> None:
    tag = (await door.get("/route?route=coder")).headers["etag"]

    same = await door.get("/route?route=coder", headers={"If-None-Match": f'"other", {tag}'})
    await report(door, [failed("a"), failed("b")])
    other = await door.get("/route?route=coder", headers={"If-None-Match": tag})

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert same.headers["cache-control"] == "max-age=5"
    assert (other.status_code, other.headers["etag"] != tag) == (200, True)


async def test_two_routes_never_share_a_tag(door: httpx.AsyncClient) -> None:
    tags = [(await door.get(f"/route?route={name}")).headers["etag"] for name in ("coder", "reviewer")]

    assert len(set(tags)) == 2


async def test_no_cache_keeps_a_decision_beyond_its_validity(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    await switchboard.hold(TARGET, opened=True, who="anna", why="test", for_s=2.9)

    answer = await door.get("/route?route=coder")

    assert 0 < answer.json()["valid_for_s"] < 3
    assert answer.headers["cache-control"] == f"max-age={int(answer.json()['valid_for_s'])}"


@pytest.mark.parametrize("routes", [pytest.param((ROUTES[1],), id="one route")])
async def test_the_only_route_needs_no_name(door: httpx.AsyncClient, routes: tuple[Route, ...]) -> None:
    assert (await door.get("/route")).json()["route"] == "reviewer"


async def test_an_unknown_parameter_changes_nothing(door: httpx.AsyncClient) -> None:
    assert (await door.get("/route?route=coder&shape=new")).json()["route"] == "coder"


async def test_the_route_is_said_while_the_store_is_gone(door: httpx.AsyncClient, server: StoreServer) -> None:
    await report(door, [failed("a"), failed("b")])
    server.kill()

    said = await door.get("/route?route=coder")

    assert said.json()["target"] == BACKUP.name


async def test_a_report_is_told_what_it_was(door: httpx.AsyncClient) -> None:
    answer = await door.post("/reports", json=good("step-17", finish="stop"))

    assert answer.status_code == 202
    assert answer.json() == {
        "accepted": 1,
        "problems": [],
        "answers": [{"id": "step-17", "verdict": "ok", "class": "ok", "why": "a complete answer"}],
    }


BAD: list[object] = [
    pytest.param({**good(), "text": "psst"}, "'text' is not a fact of an answer", id="text of an answer"),
    pytest.param({**good(), "x" * 70: 1}, "a name that is no fact's", id="a long name"),
    pytest.param({**good(), "psst\n": 1}, "a name that is no fact's", id="an unprintable name"),
    pytest.param({**good(), "id": "psst\x00"}, "id has characters that can't be printed", id="unprintable"),
    pytest.param({**good(), "target": "psst/x"}, "there is no target 'psst/x'; there are: zai/", id="unknown target"),
    pytest.param({"target": TARGET}, "'id' is missing", id="missing"),
    pytest.param({**good(), "seconds": -1}, "seconds must be a number from 0 to 1e12", id="negative"),
    pytest.param({**good(), "seconds": 10**400}, "seconds must be a number from 0 to 1e12", id="no float is as large"),
    pytest.param({**good(), "seconds": "psst"}, "seconds is a text (not shown); it must be", id="wrong type"),
    pytest.param({**good(), "finish": "psst"}, "finish is a text (not shown); it is one", id="prose for a word"),
    pytest.param({**good(), "psst, said the model": 1}, "a name that is no fact's", id="prose for a name"),
    pytest.param({**good(), "ended": ["psst"]}, "ended is made of several values", id="a list"),
    pytest.param({**good(), "phrase": "I'm sorry, but psst"}, "phrase is not the id of a known phrase", id="prose"),
    pytest.param({**good(), "other_wire": "psst"}, "other_wire is not the name of a wire", id="prose for a wire"),
    pytest.param({**good(), "confirms": "other"}, "'confirms' belongs to probes", id="confirms"),
    pytest.param("psst", "a report must be an object of facts", id="no object"),
]


@pytest.mark.parametrize(("bad", "wrong"), BAD)
async def test_a_malformed_report_is_named_and_takes_no_other_with_it(
    door: httpx.AsyncClient, bad: object, wrong: str
) -> None:
    answer = await door.post("/reports", json=[good("one"), bad, good("two")])

    said = answer.json()
    assert (answer.status_code, said["accepted"]) == (202, 2)
    assert [judged["id"] for judged in said["answers"]] == ["one", "two"]
    assert [flaw["index"] for flaw in said["problems"]] == [1]
    assert said["problems"][0]["wrong"].startswith(wrong)
    assert "psst" not in said["problems"][0]["wrong"].replace("psst/x", "")


@pytest.mark.parametrize(("bad", "wrong"), BAD)
async def test_reports_of_which_none_counts_are_refused(door: httpx.AsyncClient, bad: object, wrong: str) -> None:
    answer = await door.post("/reports", json=[bad])

    assert answer.status_code == 400
    assert answer.json()["type"] == "urn:firstbyte:problem:bad-report"
    assert answer.json()["detail"].startswith(wrong)
    assert answer.json()["problems"][0]["index"] == 0


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        pytest.param(b"{", 400, "unreadable", id="half a body"),
        pytest.param(b"", 400, "unreadable", id="nothing"),
        pytest.param(b'{"seconds": NaN}', 400, "unreadable", id="NaN"),
        pytest.param(b"\xff", 400, "unreadable", id="not UTF-8"),
        pytest.param(b"[" * 100_000, 400, "unreadable", id="deeper than can be read"),
        pytest.param(b"3", 400, "no-report", id="a number"),
        pytest.param(b"[]", 400, "no-report", id="an empty list"),
        pytest.param(b"[" + b"{}," * 1000 + b"{}]", 400, "no-report", id="1001 reports"),
        pytest.param(b'{"id": "\\ud800"}', 400, "bad-report", id="half a character"),
        pytest.param(b" " * 1_000_001, 413, "too-long", id="too long"),
    ],
)
async def test_what_is_no_report_is_refused(door: httpx.AsyncClient, body: bytes, status: int, kind: str) -> None:
    answer = await door.post("/reports", content=body, headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:firstbyte:problem:{kind}")


async def test_a_body_of_unsaid_length_is_cut_off_too(door: httpx.AsyncClient) -> None:
    async def endless() -> object:
        for _ in range(11):
            yield b" " * 100_000

    answer = await door.post("/reports", content=endless(), headers={"Content-Type": "application/json"})  # type: ignore[arg-type] # an async generator is what httpx takes

    assert answer.status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_only_json_is_read(door: httpx.AsyncClient, kind: str) -> None:
    answer = await door.post("/reports", content=b"{}", headers={"Content-Type": kind})

    assert answer.status_code == 415


@pytest.mark.parametrize(
    "path", ["/reports", "/judge", "/runs/goal-17/checks", "/circuit/open?target=zai/glm-5.3-flash"]
)
async def test_a_packed_body_is_not_unpacked(door: httpx.AsyncClient, path: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    answer = await door.post(path, content=gzip.compress(json.dumps(good()).encode()), headers=headers)

    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")
    assert answer.json()["detail"] == "send it unpacked, without 'Content-Encoding'"


async def test_a_body_that_is_called_as_it_is_is_read(door: httpx.AsyncClient) -> None:
    answer = await door.post("/reports", json=good(), headers={"Content-Encoding": "Identity"})

    assert answer.status_code == 202


async def test_a_thousand_reports_are_taken_at_once(door: httpx.AsyncClient, store: RedisStore) -> None:
    sent = [good(f"step-{i}", (PRIMARY, BACKUP)[i % 2]) for i in range(1000)]
    answer = await report(door, sent)

    said = answer.json()
    assert said["accepted"] == 1000
    assert [one["id"] for one in said["answers"]] == [one["id"] for one in sent]
    for target in (PRIMARY, BACKUP):
        assert sum(one.ok for one in (await store.look(target.name)).log.bins) == 500


FLAWS: list[object] = [
    pytest.param({**good("step-7"), "finish": "psst"}, "step-7", "finish", id="a fact of another type"),
    pytest.param({**good("step-7"), "text_chars": -1}, "step-7", "text_chars", id="a fact out of range"),
    pytest.param({**good("step-7"), "status": 0}, "step-7", "status", id="no status"),
    pytest.param({**good("step-7"), "status": 1000}, "step-7", "status", id="a status of four digits"),
    pytest.param({**good("step-7"), "target": "psst/x"}, "step-7", "target", id="a target that isn't there"),
    pytest.param({**good("step-7"), "ended": "pending"}, "step-7", "ended", id="an end that can't be"),
    pytest.param({**good("step-7"), "text": "psst"}, "step-7", None, id="no fact"),
    pytest.param({"target": TARGET, "ended": "complete", "seconds": 1}, None, "id", id="no id"),
    pytest.param({**good(), "id": "psst\x00"}, None, "id", id="an id that can't be printed"),
    pytest.param({**good(), "id": 7}, None, "id", id="an id that is a number"),
    pytest.param({**good(), "id": "x" * 65}, None, "id", id="an id that is too long"),
    pytest.param(["psst"], None, None, id="no object"),
]


@pytest.mark.parametrize(("fact", "digits"), [("text_chars", "9" * 5000), ("seconds", "-" + "1" * 5000)])
async def test_a_number_of_thousands_of_digits_spoils_no_other_report(
    door: httpx.AsyncClient, fact: str, digits: str
) -> None:
    body = json.dumps([good("a"), {**good("step-7"), fact: "HERE"}, good("b")]).replace('"HERE"', digits)

    answer = await door.post("/reports", content=body, headers={"Content-Type": "application/json"})

    said = answer.json()
    assert (answer.status_code, said["accepted"]) == (202, 2)
    assert said["problems"] == [
        {"index": 1, "id": "step-7", "field": fact, "wrong": f"{fact} must be a number from 0 to 1e12"}
    ]


@pytest.mark.parametrize(("bad", "name", "field"), FLAWS)
async def test_a_malformed_report_is_named_by_place_id_and_field(
    door: httpx.AsyncClient, bad: object, name: str | None, field: str | None
) -> None:
    """Wherever it stands; reports are read a few at a time."""
    sent = [bad if i in (0, 24, 25, 99) else good(f"step-{i}") for i in range(100)]
    said = (await door.post("/reports", json=sent)).json()

    assert [(flaw["index"], flaw["id"], flaw["field"]) for flaw in said["problems"]] == [
        (index, name, field) for index in (0, 24, 25, 99)
    ]
    assert (said["accepted"], len(said["answers"])) == (96, 96)


async def test_requests_with_many_reports_take_turns(door: httpx.AsyncClient, switchboard: Switchboard) -> None:
    requests = [[good(f"{name}-{i}") for i in range(200)] for name in "abc"]

    answers = await asyncio.gather(*(door.post("/reports", json=sent) for sent in requests))

    for sent, answer in zip(requests, answers, strict=True):
        assert [one["id"] for one in answer.json()["answers"]] == [one["id"] for one in sent]
    await recorded(door)
    assert sum(one.ok for one in switchboard.standing(TARGET).log.bins) == 600


async def test_nobody_can_pass_for_a_probe(door: httpx.AsyncClient) -> None:
    await report(door, [{**good("sly"), "source": "probe"}])

    said = (await door.get("/targets", params={"target": TARGET})).json()
    assert said["targets"][0]["last_answer"]["source"] == "report"


async def test_reports_are_judged_and_wait_while_the_store_is_gone(
    door: httpx.AsyncClient, switchboard: Switchboard, server: StoreServer
) -> None:
    server.kill()

    answer = await door.post("/reports", json=[failed("a"), good("b", OTHER)])

    assert answer.status_code == 202
    assert [judged["verdict"] for judged in answer.json()["answers"]] == ["http_error", "ok"]
    assert switchboard.waiting() == 2


async def test_a_store_that_gives_no_answer_holds_up_no_reporter(
    door: httpx.AsyncClient, switchboard: Switchboard, server: StoreServer
) -> None:
    server.freeze()
    try:
        for number in range(3):
            answer = await door.post("/reports", json=[good(f"{number}-{i}") for i in range(100)])
            assert answer.json()["accepted"] == 100
        assert switchboard.waiting() == 300
    finally:
        server.thaw()
    await recorded(door)
    assert sum(one.ok for one in switchboard.standing(TARGET).log.bins) == 300
