"""Tables: one row a target."""

from dataclasses import dataclass, field
from typing import Any

from dashboards.panels import Json, Panel, Steps, Words, mappings
from dashboards.queries import Query


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table: a number for each target; the column takes its colours from `steps` or `words`."""

    title: str
    expr: str
    unit: str
    decimals: int | None = None
    steps: Steps = ()
    words: Words = field(default_factory=dict)


def table(title: str, description: str, columns: tuple[Column, ...], *, width: int = 24, **more: Any) -> Panel:
    """One row a target."""
    names = {f"Value #{chr(ord('A') + i)}": column for i, column in enumerate(columns)}
    order = {name: i for i, name in enumerate(["provider", "model", *names])}
    organize = {
        "excludeByName": {"Time": True},
        "indexByName": order,
        "renameByName": {name: column.title for name, column in names.items()},
    }
    told: Json = {"kind": "table", "title": title, "description": description, "unit": "none", "width": width}
    told |= {
        "queries": tuple(Query(expr=column.expr, instant=True, form="table") for column in columns),
        "custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False},
        "options": {
            "cellHeight": "sm",
            "showHeader": True,
        },
        "overrides": tuple(map(_column, columns)),
        "transformations": ({"id": "merge", "options": {}}, {"id": "organize", "options": organize}),
    }
    return Panel(**(told | more))


def _column(column: Column) -> Json:
    properties: list[Json] = [{"id": "unit", "value": column.unit}]
    if column.decimals is not None:
        properties.append({"id": "decimals", "value": column.decimals})
    if column.steps or column.words:
        properties.append({"id": "custom.cellOptions", "value": {"type": "color-text"}})
    if column.steps:
        steps = [{"color": color, "value": value} for value, color in column.steps]
        properties.append({"id": "thresholds", "value": {"mode": "absolute", "steps": steps}})
    if column.words:
        properties.append({"id": "mappings", "value": mappings(column.words)})
    return {"matcher": {"id": "byName", "options": column.title}, "properties": properties}
