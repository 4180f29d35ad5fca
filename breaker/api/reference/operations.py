"""Draws what can be asked for: each operation with its parameters, its body, its answer, and how to try it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from breaker.api.reference import schemas

Described = Mapping[str, Any]  # Any: an OpenAPI document
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """Something that can be asked for."""

    method: str
    path: str
    tag: str
    text: str
    parameters: Sequence[Described]
    body: Described | None
    answers: Mapping[str, Described]

    @property
    def anchor(self) -> str:
        """The name of its place on the page."""
        return f"{self.method}-{re.sub('[^a-z0-9]+', '-', self.path).strip('-') or 'page'}"

    @property
    def tried(self) -> bool:
        """Whether a browser can ask it by a form: it only reads, and nothing stands in its path."""
        return self.method == "get" and "{" not in self.path


def operations(described: Described) -> list[Operation]:
    """All operations of a document, in its order."""
    return [
        Operation(
            method=method,
            path=path,
            tag=(said.get("tags") or ["more"])[0],
            text=said.get("description") or said.get("summary", ""),
            parameters=said.get("parameters", []),
            body=_json_of(said.get("requestBody", {})),
            answers=said.get("responses", {}),
        )
        for path, methods in described["paths"].items()
        for method, said in methods.items()
        if method in _METHODS
    ]


def article(one: Operation, described: Described) -> str:
    """An operation as it stands on the page."""
    said = "\n".join(f"<p>{schemas.worded(part)}</p>" for part in one.text.strip().split("\n\n"))
    parts = filter(None, [_parameters(one), _body(one, described), _answer(one, described), _try(one)])
    return (
        f'<article id="{one.anchor}"><h3><span class="method {one.method}">{one.method}</span> '
        f"<code>{escape(one.path)}</code></h3>\n{said}\n{chr(10).join(parts)}\n</article>"
    )


def _parameters(one: Operation) -> str:
    if not one.parameters:
        return ""
    rows = "\n".join(_parameter(each) for each in one.parameters)
    return f'<h4>Parameters</h4>\n<dl class="fields">\n{rows}\n</dl>'


def _parameter(each: Described) -> str:
    kind = schemas.words(each.get("schema", {})).removesuffix(" or null")  # left out, it is null
    where = "" if each["in"] == "query" else f", in the {'path' if each['in'] == 'path' else 'headers'}"
    needed = ", needed" if each.get("required") else ""
    said = f"<span>{schemas.worded(each['description'])}</span>" if each.get("description") else ""
    return f"<div><dt><code>{escape(each['name'])}</code></dt><dd>{escape(f'{kind}{where}{needed}')}{said}</dd></div>"


def _body(one: Operation, described: Described) -> str:
    if one.body is None:
        return ""
    return f"<details><summary>What to send</summary>\n{schemas.draw(one.body, described)}\n</details>"


def _answer(one: Operation, described: Described) -> str:
    for code, answer in one.answers.items():
        found = _json_of(answer)
        if code.isdecimal() and found:
            return f"<details><summary>What comes back</summary>\n{schemas.draw(found, described)}\n</details>"
    return ""


def _try(one: Operation) -> str:
    """A form for what a browser can ask, a command for all else. Only a script leaves out what was left empty."""
    if not one.tried:
        return _command(one)
    fields = "".join(_field(each, one.anchor) for each in one.parameters if each["in"] == "query")
    action, hidden = escape(one.path.removeprefix("/") or "./"), " hidden" if fields else ""
    return f'<form action="{action}" method="get"{hidden}>{fields}<button>Ask</button></form>'


def _command(one: Operation) -> str:
    words = ["curl"] if one.method == "get" else [f"curl -X {one.method.upper()}"]
    # What is only read, and has a name in its path, is an agent's task: told to agents alone.
    words.append('-H "Authorization: Bearer $FIRSTBYTE_TOKEN"')
    if one.body is not None:
        words += ["-H 'Content-Type: application/json'", "-d @body.json"]
    here = f'"<span data-here>http://127.0.0.1:8642</span>{escape(one.path)}"'
    return f'<pre tabindex="0">{" ".join(words)} {here}</pre>'


def _field(each: Described, anchor: str) -> str:
    name, label = escape(each["name"]), f"{anchor}-{escape(each['name'])}"
    return f'<p><label for="{label}">{name}</label><input id="{label}" name="{name}" autocomplete="off"></p>'


def _json_of(said: Described) -> Described | None:
    """The schema of a JSON body; None where there is none, or an empty one."""
    found = said.get("content", {}).get("application/json", {}).get("schema")
    return found or None
