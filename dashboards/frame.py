"""What all dashboards share: variables, annotations, links, and the places of their panels."""

import json
from dataclasses import dataclass
from typing import Any

from dashboards.panels import SOURCE, Json, Panel
from dashboards.queries import CLOSES, OPENS, TARGET, filtered

WIDTH = 24
TAG = "firstbyte"
_BUILD = "firstbyte_build_info"
_QUERIES = {
    "job": f"label_values({_BUILD}, job)",
    "instance": f'label_values({_BUILD}{{job=~"$job"}}, instance)',
    "provider": 'label_values(firstbyte_target_info{job=~"$job"}, provider)',
    "model": 'label_values(firstbyte_target_info{job=~"$job", provider=~"$provider"}, model)',
    "route": 'label_values(firstbyte_route_targets{job=~"$job"}, route)',
}
_CUSTOM = {
    "window": ("Window", ("15m", "30m", "1h", "3h", "6h", "1d"), "1h"),
    # Bounds of the histogram, as Prometheus writes them.
    "slo": ("First byte within (s)", ("1.0", "2.0", "3.0", "5.0", "8.0", "12.0", "20.0", "30.0", "40.0"), "40.0"),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """Panels under one heading."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """A dashboard. `variables` are those besides data source, job and instance; of `single` one value is chosen."""

    name: str
    title: str
    description: str
    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    single: str | None = None

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.json"

    def text(self) -> str:
        """The file's text."""
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"

    def as_json(self) -> Json:
        """The dashboard in Grafana's classic form."""
        return {
            "uid": f"firstbyte-{self.name}",
            "title": f"Firstbyte / {self.title}",
            "description": self.description,
            "tags": [TAG],
            "schemaVersion": 39,
            "version": 1,
            "editable": False,
            "graphTooltip": 1,
            "timezone": "browser",
            "weekStart": "",
            "refresh": "30s",
            "fiscalYearStartMonth": 0,
            "liveNow": False,
            "time": {"from": "now-6h", "to": "now"},
            "timepicker": {},
            "links": _links(),
            "templating": {"list": self._variables()},
            "annotations": {"list": _annotations(self.variables)},
            "panels": self._panels(),
        }

    def _variables(self) -> list[Json]:
        asked = [
            _query(name, multi=name != self.single) for name in ("job", "instance", *self.variables) if name in _QUERIES
        ]
        custom = [_custom(name) for name in self.variables if name in _CUSTOM]
        return [_source(), *asked, *custom, _status_page()]

    def _panels(self) -> list[Json]:
        made: list[Json] = []
        y = 0
        for row in self.rows:
            heading = {"type": "row", "title": row.title, "collapsed": False, "panels": []}
            made.append({"id": len(made) + 1, **heading, "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": y}})
            y, x, height = y + 1, 0, 0
            for panel in row.panels:
                if x + panel.width > WIDTH:
                    y, x, height = y + height, 0, 0
                made.append(panel.as_json(len(made) + 1, x, y, self.variables))
                x, height = x + panel.width, max(height, panel.height)
            y += height
        return made


def _source() -> Json:
    return {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "hide": 0,
        "multi": False,
        "includeAll": False,
        "regex": "",
        "options": [],
    }


def _query(name: str, *, multi: bool) -> Json:
    query = _QUERIES[name]
    made: Json = {
        "name": name,
        "label": name.title(),
        "type": "query",
        "datasource": SOURCE,
        "query": {"qryType": 1, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"},
        "refresh": 2,
        "sort": 1,
        "hide": 0,
        "regex": "",
        "multi": multi,
        "includeAll": multi,
        "options": [],
    }
    everything = {"selected": True, "text": ["All"], "value": ["$__all"]}
    return made | ({"allValue": ".+", "current": everything} if multi else {})


def _custom(name: str) -> Json:
    label, values, chosen = _CUSTOM[name]
    options = [{"selected": value == chosen, "text": value, "value": value} for value in values]
    return {
        "name": name,
        "label": label,
        "type": "custom",
        "query": ",".join(values),
        "hide": 0,
        "multi": False,
        "includeAll": False,
        "options": options,
        "current": {"selected": True, "text": chosen, "value": chosen},
    }


def _status_page() -> Json:
    here = "http://127.0.0.1:8642/"
    value = {"selected": True, "text": here, "value": here}
    told = {"name": "status_page", "label": "Status page", "type": "textbox", "query": here, "hide": 0}
    return {**told, "options": [value], "current": value}


def _links() -> list[Json]:
    plain = {"asDropdown": False, "icon": "external link", "includeVars": False, "keepTime": False, "tags": []}
    others = {**plain, "title": "Firstbyte", "type": "dashboards", "tags": [TAG], "includeVars": True, "keepTime": True}
    page = {**plain, "title": "Status page", "type": "link", "url": "${status_page:raw}", "targetBlank": True}
    return [
        {**others, "url": "", "tooltip": "The other dashboards", "targetBlank": False},
        {**page, "tooltip": "Firstbyte's own page"},
    ]


def _annotations(variables: tuple[str, ...]) -> list[Json]:
    grafana = {"type": "grafana", "uid": "-- Grafana --"}
    built_in: dict[str, Any] = {"builtIn": 1, "type": "dashboard", "hide": True}
    # Grafana asks for a point a minute; with twice that no change falls between two windows.
    moves = 'sum by (provider, model, cause) (increase(firstbyte_circuit_moves_total{cause=~"%s"}[2m])) > 0'
    starts = "changes(process_start_time_seconds[2m]) > 0"
    reads = "changes(firstbyte_config_last_reload_success_timestamp_seconds[2m]) > 0"
    told = f"{TARGET}: {{{{cause}}}}"
    return [
        {
            **built_in,
            "name": "Annotations & Alerts",
            "datasource": grafana,
            "enable": True,
            "iconColor": "rgba(0, 211, 255, 1)",
        },
        _annotation("Circuit opened", "red", filtered(moves % OPENS, variables), told),
        _annotation("Circuit closed", "green", filtered(moves % CLOSES, variables), told),
        _annotation("By hand", "blue", filtered(moves % "manual|hold_over", variables), told),
        _annotation("Configuration read", "blue", filtered(reads, variables), "{{instance}}"),
        _annotation("Started anew", "purple", filtered(starts, variables), "{{instance}}"),
    ]


def _annotation(name: str, color: str, expr: str, text: str) -> Json:
    return {
        "name": name,
        "datasource": SOURCE,
        "enable": True,
        "hide": False,
        "iconColor": color,
        "expr": expr,
        "titleFormat": name,
        "textFormat": text,
        "step": "60s",
        "useValueForTime": False,
    }
