"""GET /docs: the API's own description as a page."""

import re
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from breaker.api import reference
from breaker.api.reference import schemas
from tests.api.test_page import Reader
from tests.api.test_page_day import said

HOSTILE = "<script>alert(1)</script>"


def described(**operation: Any) -> dict[str, Any]:  # Any: OpenAPI
    return {"paths": {"/a/{b}": {"get": {"tags": ["agents"], "description": "Does it.", **operation}}}}


async def test_every_operation_is_there_with_its_parameters(app: FastAPI, door: httpx.AsyncClient) -> None:
    page = await door.get("/docs")
    told = said(page.text)

    assert page.status_code == 200
    for path, methods in app.openapi()["paths"].items():
        assert path in told
        for method, operation in methods.items():
            place = f'<article id="{method}-'
            assert place in page.text
            for parameter in operation.get("parameters", []):
                assert f"<code>{parameter['name']}</code>" in page.text


async def test_places_are_unique_and_each_is_linked_to(door: httpx.AsyncClient) -> None:
    elements = Reader((await door.get("/docs")).text).elements

    places = [attrs["id"] for tag, attrs in elements if tag == "article"]
    links = [(attrs["href"] or "")[1:] for tag, attrs in elements if tag == "a" and (attrs["href"] or "")[0] == "#"]
    assert sorted(places, key=str) == sorted(links)
    assert len(set(places)) == len(places)


async def test_it_loads_nothing_from_elsewhere_and_runs_its_own_script_alone(door: httpx.AsyncClient) -> None:
    page = await door.get("/docs")

    assert page.headers["content-security-policy"] == reference.HEADERS["Content-Security-Policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    for tag, attrs in Reader(page.text).elements:
        assert tag not in {"img", "iframe", "object", "embed"}
        assert not {"src", "style"} & set(attrs)
        assert not re.match(r"\w+://|//", attrs.get("href") or attrs.get("action") or "")


async def test_a_body_and_an_answer_are_told_field_by_field(door: httpx.AsyncClient) -> None:
    page = (await door.get("/docs")).text
    reports = page[page.index('<article id="post-reports">') :].split("</article>")[0]

    for part in ("What to send", "What comes back", "<code>first_byte_s</code>", "1 to 64 characters", "accepted"):
        assert part in reports
    assert "curl -X POST" in said(reports)


def test_what_only_reads_can_be_tried_by_a_form() -> None:
    asked = {"/x": {"get": {"parameters": [{"name": "target", "in": "query", "schema": {"type": "string"}}]}}}

    page = reference.render({"paths": asked})

    assert '<form action="x" method="get" hidden>' in page
    assert '<input id="get-x-target" name="target"' in page


def test_what_has_a_name_in_its_path_is_a_command() -> None:
    page = reference.render(described(parameters=[{"name": "b", "in": "path", "required": True, "schema": {}}]))

    assert "anything, in the path, needed" in said(page)
    assert 'curl -H "Authorization: Bearer $FIRSTBYTE_TOKEN" "' in page
    assert "<form" not in page


def test_nothing_in_a_description_becomes_part_of_the_page() -> None:
    schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "description": HOSTILE, "enum": [HOSTILE]}}}
    content = {"application/json": {"schema": schema}}
    parameter = {"name": HOSTILE, "in": "query", "description": HOSTILE, "schema": {"enum": [HOSTILE]}}

    page = reference.render(
        described(
            tags=[HOSTILE],
            description=HOSTILE,
            parameters=[parameter],
            requestBody={"content": content},
            responses={"200": {"content": content}},
        )
    )

    assert [tag for tag, _ in Reader(page).elements].count("script") == 1


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 64}, "text, 1 to 64 characters"),
        ({"type": "string", "maxLength": 1000}, "text, at most 1,000 characters"),
        ({"type": "string", "minLength": 1}, "text, not empty"),
        ({"type": "string", "minLength": 2}, "text, at least 2 characters"),
        ({"type": ["number", "null"], "minimum": 0.0}, "number or null, at least 0"),
        (
            {"anyOf": [{"type": "integer", "exclusiveMinimum": 0.5}, {"type": "null"}]},
            "whole number, more than 0.5 or null",
        ),
        ({"type": ["string", "null"], "enum": ["ok", None]}, "one of ok or null"),
        ({"type": "array", "items": {"type": "boolean"}}, "list of true or false"),
        ({"type": "array", "items": {"$ref": "#/x"}}, "list of object"),
        ({"type": "integer", "maximum": 200, "default": 50}, "whole number, at most 200, 50 if left out"),
        ({}, "anything"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_value_may_be_is_said_in_words(schema: dict[str, Any], words: str) -> None:
    assert schemas.words(schema) == words


def test_names_in_a_fields_description_are_set_apart() -> None:
    field = {"type": "number", "description": "0 where `open_s`\n  is <null>"}

    drawn = schemas.draw({"properties": {"hold_s": field}}, {})

    assert "<span>0 where <code>open_s</code> is &lt;null&gt;</span>" in drawn


def test_a_shape_that_holds_itself_is_drawn_only_so_deep() -> None:
    node = {"type": "object", "properties": {"inner": {"$ref": "#/components/schemas/Node"}}}

    drawn = schemas.draw({"$ref": "#/components/schemas/Node"}, {"components": {"schemas": {"Node": node}}})

    assert drawn.count("<dl") == 5


def test_a_body_without_fields_is_told_in_words() -> None:
    assert schemas.draw({"type": "string"}, {}) == "<p>text</p>"
