"""The dashboards as Grafana reads them: their panels, their queries, and what stands for the variables."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dashboards import ALL
from tests.processes import ROOT

FOLDER = ROOT / "dashboards"
# What Grafana puts in the place of its own variables, and ours with everything chosen.
CHOSEN = {
    "__rate_interval": "30s",
    "__interval": "15s",
    "__range": "30s",
    "job": ".+",
    "instance": ".+",
    "provider": ".+",
    "model": ".+",
    "route": ".+",
    "window": "30s",
    "slo": "40.0",
}


class Asked(NamedTuple):
    """One query, where it stands, and the labels that its legend names."""

    where: str
    expr: str
    legend: str
    unit: str


def read(name: str) -> dict[str, Any]:
    """A committed dashboard."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


COMMITTED = {dashboard.name: read(dashboard.name) for dashboard in ALL}


def panels(dashboard: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All panels but the headings."""
    return (panel for panel in dashboard["panels"] if panel["type"] != "row")


def targets(dashboard: Mapping[str, Any]) -> Iterator[Asked]:
    """All queries of all panels."""
    for panel in panels(dashboard):
        for target in panel["targets"]:
            where = f"{dashboard['uid']}: {panel['title']} {target['refId']}"
            yield Asked(where, target["expr"], target["legendFormat"], panel["fieldConfig"]["defaults"]["unit"])


def annotations(dashboard: Mapping[str, Any]) -> Iterator[Asked]:
    """All queries of annotations."""
    for each in dashboard["annotations"]["list"]:
        if "expr" in each:
            yield Asked(f"{dashboard['uid']}: {each['name']}", each["expr"], each["textFormat"], "none")


def filled(expr: str, chosen: Mapping[str, str] = CHOSEN) -> str:
    """An expression with a value in the place of each variable."""
    for name, value in chosen.items():
        expr = expr.replace(f"${name}", value)
    assert "$" not in expr, expr
    return expr
