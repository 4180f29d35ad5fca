"""Draws the API's own description as a page: /docs, without anything from elsewhere."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import breaker
from breaker.api import marks
from breaker.api.page.sheet import Sheet
from breaker.api.reference.operations import Operation, article, operations

_SHEET = Sheet("breaker.api.reference", "reference.html", "reference.css", "reference.js", forms="'self'")
HEADERS = _SHEET.headers

Described = Mapping[str, Any]  # Any: an OpenAPI document


def render(described: Described) -> str:
    """The page's HTML of an OpenAPI document."""
    groups = _groups(operations(described))
    return _SHEET.filled(
        logo=marks.LOGO,
        version=escape(breaker.__version__),
        contents="\n".join(_contents(name, found) for name, found in groups.items()),
        groups="\n".join(_group(name, found, described) for name, found in groups.items()),
    )


def _groups(found: Sequence[Operation]) -> dict[str, list[Operation]]:
    groups: dict[str, list[Operation]] = {}
    for operation in found:
        groups.setdefault(operation.tag, []).append(operation)
    return groups


def _contents(name: str, found: Sequence[Operation]) -> str:
    links = "\n".join(
        f'<li><a href="#{one.anchor}"><span class="method {one.method}">{one.method}</span> {escape(one.path)}</a></li>'
        for one in found
    )
    return f"<h2>{escape(name)}</h2>\n<ul>\n{links}\n</ul>"


def _group(name: str, found: Sequence[Operation], described: Described) -> str:
    drawn = "\n".join(article(one, described) for one in found)
    return f"<section>\n<h2>{escape(name)}</h2>\n{drawn}\n</section>"
