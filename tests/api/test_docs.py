"""docs/api.md tells of every path, and its examples have the fields of real answers."""

import json
import re
from enum import StrEnum
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from breaker.answer import Answer, Body, Ended, Fault, Finish
from breaker.api import Access, create_app
from breaker.done import Completion, Ground, Next
from breaker.policy import Policy
from breaker.route import Reason, Role
from breaker.run import Check, Stage
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Ability
from tests.api.world import MIXED, PRIMARY, URL, failed, good
from tests.reporting import report

# Where the store is away answers have more to say.
pytestmark = pytest.mark.usefixtures("keeping")

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
SECTIONS = dict(re.findall(r"^## `([A-Z]+ /\S*)`\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
ONE = {"target": PRIMARY.name}
WORDS = {"who": "anna", "why": "new plan"}


def examples(section: str) -> list[dict[str, object]]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", SECTIONS[section], re.DOTALL)]


def names(value: object, place: str = "") -> set[str]:
    """The names of all fields, with where they stand; of a list's items all together."""
    if isinstance(value, dict):
        return {f"{place}.{name}" for name in value}.union(*(names(v, f"{place}.{k}") for k, v in value.items()))
    if isinstance(value, list):
        return set().union(*(names(item, f"{place}[]") for item in value))
    return set()


def test_the_page_tells_of_every_path(app: FastAPI) -> None:
    paths = app.openapi()["paths"]
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}

    assert set(SECTIONS) == served | {"GET /metrics", "GET /openapi.json", "GET /docs", "POST /-/reload"}


def test_the_page_tells_of_every_fact() -> None:
    told = set(re.findall(r"`(\w+)`", SECTIONS["POST /reports"]))

    assert set(Answer.__dataclass_fields__) - {"source", "confirms"} <= told


@pytest.mark.parametrize("kind", [Body, Ended, Fault, Finish])
def test_the_page_tells_of_every_word_of_a_fact(kind: type[StrEnum]) -> None:
    told = set(re.findall(r"`(\w+)`", SECTIONS["POST /reports"]))

    assert {word.value for word in kind} <= told


def test_the_page_tells_of_every_problem() -> None:
    source = "".join(path.read_text() for path in (Path(__file__).parents[2] / "breaker" / "api").rglob("*.py"))
    raised = set(
        re.findall(r'(?:ProblemError\(\s*\d{3}|4\d\d: \(|kind, detail = details.get\([^(]*\()[,\s]*"([a-z-]+)"', source)
    )

    told = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", PAGE.split("## Errors")[1].split("## `GET /route`")[0]))
    assert raised >= {"no-token", "unknown-path", "store-gone", "too-long"}
    assert raised - {"refused"} <= told


@pytest.mark.parametrize("section", ["GET /route", "GET /routes", "GET /moves", "GET /targets", "GET /status.json"])
async def test_an_example_has_the_fields_of_a_real_answer(door: httpx.AsyncClient, section: str) -> None:
    await report(door, [good("a"), failed("b"), failed("c")])
    if section in ("GET /routes", "GET /targets"):
        await door.post("/circuit/open", params=ONE, json=WORDS)
    method, path = section.split()

    params = {"route": "coder"} if path.startswith("/route") else ONE
    real = (await door.request(method, path, params=params)).json()

    shown, *_ = examples(section)
    assert names(shown) == names(real)


async def test_the_example_of_reports_has_the_fields_of_a_real_answer(door: httpx.AsyncClient) -> None:
    real = (await door.post("/reports", json=[good("a"), {"target": PRIMARY.name}])).json()

    (shown,) = examples("POST /reports")
    assert names(shown) == names(real)
    assert shown["problems"] == real["problems"]


async def test_the_example_of_an_exchange_is_judged_as_the_page_says(door: httpx.AsyncClient) -> None:
    body, shown = examples("POST /judge")

    real = await door.post("/judge", json=body)

    assert (real.status_code, real.json()) == (200, shown)


async def test_the_example_of_a_hold_can_be_sent_and_has_the_fields_of_a_real_answer(door: httpx.AsyncClient) -> None:
    body, shown = examples("POST /circuit/open")

    real = await door.post("/circuit/open", params=ONE, json=body)

    assert real.status_code == 200
    assert names(shown) == names(real.json())


@pytest.mark.parametrize("kind", [Completion, Next])
def test_the_page_tells_of_every_word_of_a_decision_about_a_task(kind: type[StrEnum]) -> None:
    told = set(re.findall(r"`(\w+)`", SECTIONS["GET /runs/{run}/done"]))

    assert {word.value for word in kind} <= told


def test_runs_are_told_with_every_reason() -> None:
    page = (Path(__file__).parents[2] / "docs" / "runs.md").read_text()

    assert {reason.value for reason in Ground} == set(re.findall(r"`(\w+)`", _first_column(page, "### Reasons")))


def _first_column(page: str, title: str) -> str:
    rows = page.split(title)[1].split("\n\n")[1].splitlines()[2:]
    return "\n".join(row.split("|")[1] for row in rows)


@pytest.mark.parametrize(
    ("section", "kind"),
    [("POST /runs/{run}/operations", Stage), ("POST /runs/{run}/checks", Check)],
)
def test_the_page_tells_of_every_fact_of_a_run(section: str, kind: type[Stage | Check]) -> None:
    told = set(re.findall(r"[`\"](\w+)[`\"]", SECTIONS[section]))

    assert set(kind._fields) <= told


async def test_the_examples_of_runs_can_be_sent_and_have_the_fields_of_real_answers(door: httpx.AsyncClient) -> None:
    for kind in ("steps", "operations", "checks"):
        (sent,) = re.findall(r"-d '(.*?)'", SECTIONS[f"POST /runs/{{run}}/{kind}"], re.DOTALL)
        reply = await door.post(f"/runs/goal-17/{kind}", json=[json.loads(sent), {}])
        assert (reply.status_code, reply.json()["accepted"]) == (202, 1)
    (added,) = examples("POST /runs/{run}/operations")
    operation = {"id": "a", "seq": 1, "tool": "a", "state": "planned"}
    (run,), (done,) = examples("GET /runs/{run}"), examples("GET /runs/{run}/done")
    real = (await door.get("/runs/goal-17")).json()

    assert added["problems"] == (await door.post("/runs/g/operations", json=[operation, {}])).json()["problems"]
    assert names(run) | names(done, ".done") >= names(real) - {".done.last"}
    assert names((await door.get("/runs/goal-17/done")).json()) <= names(done)


async def test_the_example_of_last_runs_has_the_fields_of_a_real_answer(door: httpx.AsyncClient) -> None:
    await door.post("/runs/goal-17/steps", json=good("a", seq=1))
    await door.get("/runs/goal-17/done")

    (shown,) = examples("GET /runs")
    assert names(shown) == names((await door.get("/runs")).json())


@pytest.mark.parametrize("section", ["GET /livez", "GET /readyz"])
async def test_the_examples_of_health_are_real_answers(door: httpx.AsyncClient, section: str) -> None:
    assert examples(section) == [(await door.get(section.split()[1])).json()]


async def test_the_example_of_a_problem_is_a_real_answer(door: httpx.AsyncClient) -> None:
    (shown,) = [
        json.loads(b) for b in re.findall(r"```json\n(.*?)```", PAGE.split("## Errors")[1].split("## `")[0], re.DOTALL)
    ]

    assert shown == (await door.get("/route?route=codr")).json()


async def test_the_example_of_a_report_is_good(door: httpx.AsyncClient) -> None:
    (sent,) = re.findall(r"-d '(.*?)'", SECTIONS["POST /reports"], re.DOTALL)

    real = await door.post("/reports", json=json.loads(sent))

    assert real.json()["answers"][0]["verdict"] == "ok"


def test_the_description_of_a_report_knows_the_bounds_of_its_facts(app: FastAPI) -> None:
    body = app.openapi()["paths"]["/reports"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    facts = body["oneOf"][0]["properties"]

    assert facts["id"] == {"type": "string", "minLength": 1, "maxLength": 64}
    assert facts["target"] == {"type": "string", "minLength": 1, "maxLength": 192}
    assert facts["status"] == {"type": ["integer", "null"], "minimum": 100, "maximum": 999}
    assert facts["text_chars"] == {"type": ["integer", "null"], "minimum": 0, "maximum": 1e12}
    assert "minLength" not in facts["ended"]


async def test_the_example_of_a_step_with_needs_has_the_fields_of_a_real_answer(store: RedisStore) -> None:
    board = Switchboard(store, [MIXED], {target.name: Policy() for target in MIXED.targets})
    await board.refresh()
    transport = httpx.ASGITransport(app=create_app(board, access=Access()))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as door:
        real = (await door.get("/route?needs=tools,vision&input_tokens=40000")).json()

    assert names(examples("GET /route")[1]) == names(real)


@pytest.mark.parametrize("kind", [Reason, Role, Ability])
def test_the_page_tells_of_every_word_of_a_decision(kind: type[StrEnum]) -> None:
    told = set(re.findall(r"`(\w+)`", SECTIONS["GET /route"]))

    assert {word.value for word in kind} <= told


def test_the_page_tells_of_every_parameter(app: FastAPI) -> None:
    described = app.openapi()["paths"]["/route"]["get"]["parameters"]
    told = set(re.findall(r"`(\w+)`", SECTIONS["GET /route"].split("```json")[0]))

    assert {parameter["name"] for parameter in described} <= told
    assert all(ability in described[1]["description"] for ability in Ability)
