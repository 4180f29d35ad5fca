"""Panels: what is shown, in the form of Grafana's classic JSON."""

from dataclasses import dataclass, field
from typing import Any

from breaker.verdict import Verdict
from dashboards.queries import Query, filtered

Json = dict[str, Any]
SOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
GREEN, YELLOW, ORANGE, RED, BLUE, GREY = "green", "yellow", "orange", "red", "blue", "text"
_HUES = (RED, ORANGE, "purple", YELLOW, BLUE)
# A share of failures, a first byte in seconds: from which value on a colour counts.
SHARE = ((None, GREEN), (0.01, ORANGE), (0.05, RED))
FIRST_BYTE = ((None, GREEN), (12, ORANGE), (40, RED))
PLAIN = ((None, GREEN),)
STATES = {0: ("closed", GREEN), 1: ("half-open", YELLOW), 2: ("open", RED), 3: ("held by hand", BLUE)}
COUNT: Json = {"decimals": 0}
UP_DOWN = {0: ("down", RED), 1: ("up", GREEN)}

Steps = tuple[tuple[float | None, str], ...]
Words = dict[int, tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel. `width` of 24, `height` in rows; `custom`, `options` and `overrides` are Grafana's own words."""

    kind: str
    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str
    width: int
    height: int = 8
    steps: Steps = PLAIN
    words: Words = field(default_factory=dict)
    defaults: Json = field(default_factory=dict)
    custom: Json = field(default_factory=dict)
    options: Json = field(default_factory=dict)
    overrides: tuple[Json, ...] = ()
    transformations: tuple[Json, ...] = ()
    interval: str = ""
    links: tuple[Json, ...] = ()

    def as_json(self, number: int, x: int, y: int, variables: tuple[str, ...]) -> Json:
        """The panel at its place."""
        made: Json = {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": SOURCE,
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            "fieldConfig": {"defaults": self._defaults(), "overrides": list(self.overrides)},
            "options": self.options,
            "targets": [_target(i, query, variables) for i, query in enumerate(self.queries)],
        }
        optional = {
            "transformations": list(self.transformations),
            "interval": self.interval,
        }
        return made | {key: value for key, value in optional.items() if value}

    def _defaults(self) -> Json:
        made: Json = {
            "unit": self.unit,
            "color": {"mode": "thresholds" if self.kind in ("stat", "bargauge", "table") else "palette-classic"},
            "thresholds": {"mode": "absolute", "steps": [{"color": c, "value": v} for v, c in self.steps]},
            "mappings": mappings(self.words),
            "noValue": "no data",
        }
        links = {"links": list(self.links)} if self.links else {}
        return made | self.defaults | links | ({"custom": self.custom} if self.custom else {})


def _target(index: int, query: Query, variables: tuple[str, ...]) -> Json:
    return {
        "refId": chr(ord("A") + index),
        "datasource": SOURCE,
        "editorMode": "code",
        "expr": filtered(query.expr, variables),
        "legendFormat": query.legend or "__auto",
        "instant": query.instant,
        "range": not query.instant,
        "format": query.form,
        "exemplar": query.exemplar,
    }


def mappings(words: Words) -> list[Json]:
    """The words and colours of values, in Grafana's form."""
    if not words:
        return []
    options = {str(value): {"text": text, "color": color, "index": value} for value, (text, color) in words.items()}
    return [{"type": "value", "options": options}]


def stat(title: str, description: str, expr: str, unit: str, *, width: int = 4, **more: Any) -> Panel:
    """One number of now, or one for each of several; `named` says which. `more` are a panel's other fields."""
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "none",
        "justifyMode": "auto",
        "orientation": "auto",
        "textMode": "value_and_name" if more.pop("named", False) else "auto",
        "wideLayout": False,
    }
    query = Query(expr=expr, legend=more.pop("legend", ""), instant=True)
    told: Json = {"kind": "stat", "title": title, "description": description, "queries": (query,), "unit": unit}
    return Panel(**(told | {"width": width, "height": 4, "options": options} | more))


# Of targets with limits of their own the lowest counts.
_SLOW = Query(expr="min(firstbyte_probe_slow_limit_seconds)", legend="slow limit")
_SLOW_LINE: Json = {
    "matcher": {"id": "byName", "options": _SLOW.legend},
    "properties": [
        {"id": "color", "value": {"mode": "fixed", "fixedColor": RED}},
        {"id": "custom.drawStyle", "value": "line"},
        {"id": "custom.showPoints", "value": "never"},
        {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
    ],
}


def lines(
    title: str, description: str, queries: tuple[Query, ...], unit: str, *, width: int = 12, **more: Any
) -> Panel:
    """Lines over time.

    `slow` draws the policy's limit beside first bytes, `edge` a threshold; `points` stand apart, `stacked` pile up.
    """
    slow, edge, points, stacked = (more.pop(word, False) for word in ("slow", "edge", "points", "stacked"))
    custom: Json = {
        "drawStyle": "points" if points else more.pop("draw", "line"),
        "lineWidth": 1,
        "fillOpacity": 40 if stacked else 0,
        "pointSize": 6 if points else 4,
        "showPoints": "always" if points else "never",
        "spanNulls": False,
        "axisSoftMin": 0,
        "stacking": {"group": "A", "mode": more.pop("stack", "normal") if stacked else "none"},
        "thresholdsStyle": {"mode": "line" if edge else "off"},
        "scaleDistribution": {"type": "log", "log": 10} if more.pop("log", False) else {"type": "linear"},
    }
    options = {
        "legend": {"calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    told: Json = {"kind": "timeseries", "title": title, "description": description, "queries": queries, "unit": unit}
    told |= {"custom": custom, "options": options, "width": width}
    if slow:
        told |= {"queries": (*queries, _SLOW), "overrides": (_SLOW_LINE,)}
    return Panel(**(told | more))


def bars(title: str, description: str, query: Query, *, width: int = 12, **more: Any) -> Panel:
    """How often something happened, in bars of five minutes or more."""
    told: Json = {"width": width, "stacked": True, "draw": "bars", "interval": "5m", "defaults": COUNT}
    return lines(title, description, (query,), "short", **(told | more))


def colors(**named: str) -> tuple[Json, ...]:
    """Overrides that give series, by their names, colours of their own."""
    return tuple(_color(name, {"mode": "fixed", "fixedColor": color}) for name, color in named.items())


def _color(name: str, color: Json) -> Json:
    return {"matcher": {"id": "byName", "options": name}, "properties": [{"id": "color", "value": color}]}


# A verdict has the same colour everywhere, and no failure that of a good one.
_SHADES = (f"{shade}{color}" for shade in ("", "dark-", "light-", "semi-dark-", "super-light-") for color in _HUES)
_GOOD = (Verdict.OK, Verdict.TOOL_CALL)
_FAILURES = (verdict for verdict in Verdict if verdict not in _GOOD)
VERDICTS = colors(**dict.fromkeys(_GOOD, GREEN), **dict(zip(_FAILURES, _SHADES, strict=False)))


def timeline(title: str, description: str, query: Query, words: Words, *, width: int = 24, **more: Any) -> Panel:
    """What state each of several was in over time."""
    options = {
        "mergeValues": True,
        "showValue": "auto",
        "alignValue": "left",
        "rowHeight": 0.85,
        "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "single", "sort": "none"},
    }
    told: Json = {
        "kind": "state-timeline",
        "title": title,
        "description": description,
        "queries": (query,),
        "unit": "none",
    }
    told |= {"words": words, "custom": {"fillOpacity": 80, "lineWidth": 0}, "options": options, "width": width}
    return Panel(**(told | more))


def gauges(title: str, description: str, query: Query, unit: str, *, width: int = 12, **more: Any) -> Panel:
    """One bar for each of several, as they are now."""
    options = {
        "displayMode": "gradient",
        "orientation": "horizontal",
        "minVizHeight": 16,
        "minVizWidth": 8,
        "namePlacement": "auto",
        "showUnfilled": True,
        "sizing": "auto",
        "valueMode": "color",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    told: Json = {"kind": "bargauge", "title": title, "description": description, "queries": (query,), "unit": unit}
    return Panel(**(told | {"options": options, "width": width} | more))


def heatmap(title: str, description: str, query: Query, unit: str, *, width: int = 24, **more: Any) -> Panel:
    """A histogram over time."""
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {
            "mode": "scheme",
            "scheme": "Oranges",
            "fill": "dark-orange",
            "exponent": 0.5,
            "steps": 64,
            "reverse": False,
        },
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "tooltip": {"mode": "single", "showColorScale": False, "yHistogram": False},
        "yAxis": {"axisPlacement": "left", "reverse": False, "unit": unit},
    }
    told: Json = {"kind": "heatmap", "title": title, "description": description, "queries": (query,), "unit": "short"}
    return Panel(**(told | {"options": options, "width": width, "interval": "10m"} | more))
