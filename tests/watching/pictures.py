"""Draws each dashboard from a real Prometheus, without Grafana: `python -m tests.watching.pictures FOLDER`."""

import asyncio
import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt  # after the choice of where it draws
from matplotlib.axes import Axes

from tests.watching.grafana import COMMITTED, filled, panels
from tests.watching.live import Watched, watching

Series = list[tuple[dict[str, str], list[tuple[float, float]]]]
# A dashboard is 24 columns wide; a row of it is so many inches high, a column so many wide.
COLUMN, ROW = 0.75, 0.36
BACK_S = 40.0
_COLOURS = {"green": "#2e9e63", "yellow": "#e0b400", "orange": "#d98a1f", "red": "#d64541", "blue": "#3f74c9"}
_MOST_LINES, _MOST_ROWS = 12, 8
NOTE = "Drawn by Firstbyte's own script from a real Prometheus, with simulated providers; not a picture of Grafana."


async def draw_all(folder: Path) -> list[str]:
    """Draw every dashboard; gives the pictures' names."""
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made:
        async with watching(Path(made)) as seen:
            asked = {name: await _asked(seen, dashboard) for name, dashboard in COMMITTED.items()}
    for name, found in asked.items():
        _draw(COMMITTED[name], found, folder / f"dashboard-{name}.png")
    return [f"dashboard-{name}.png" for name in asked]


async def _asked(seen: Watched, dashboard: Mapping[str, Any]) -> dict[int, list[Series]]:
    """What each query of each panel gives, by the panel's number."""
    found: dict[int, list[Series]] = {}
    for panel in panels(dashboard):
        found[panel["id"]] = [await _series(seen, filled(each["expr"])) for each in panel["targets"]]
    return found


async def _series(seen: Watched, expr: str) -> Series:
    now = time.time()
    said = (await seen.asks("query_range", query=expr, start=now - BACK_S, end=now, step=1))["result"]
    return [(one["metric"], [(float(at) - now, float(value)) for at, value in one["values"]]) for one in said]


def _draw(dashboard: Mapping[str, Any], found: Mapping[int, list[Series]], file: Path) -> None:
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"])
    width, height = 24 * COLUMN, rows * ROW + 0.9
    figure = plt.figure(figsize=(width, height), facecolor="white")
    figure.text(0.01, 1 - 0.35 / height, f"{dashboard['title']}", size=15, weight="bold")
    figure.text(0.01, 1 - 0.62 / height, NOTE, size=8, color="#555")
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        top = 1 - (0.9 + at["y"] * ROW) / height
        if panel["type"] == "row":
            figure.text(0.01, top - 0.24 / height, panel["title"], size=11, weight="bold", color="#333")
            continue
        left, tall = at["x"] / 24, at["h"] * ROW / height
        wide = panel["type"] in ("state-timeline", "bargauge")
        margin = 0.075 if wide else 0.028  # names stand before the lanes
        box = (left + margin, top - tall + 0.34 / height, at["w"] / 24 - margin - 0.012, tall - 0.78 / height)
        axes = figure.add_axes(box)
        axes.set_title(panel["title"], size=8, loc="left", pad=3)
        _PANELS.get(panel["type"], _lines)(axes, panel, found[panel["id"]])
    figure.savefig(file, dpi=72)
    plt.close(figure)


def _lines(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series]) -> None:
    drawn = 0
    for target, series in zip(panel["targets"], found, strict=True):
        for labels, points in series[:_MOST_LINES]:
            times, values = zip(*points, strict=True)
            axes.plot(times, values, linewidth=1.1, marker=".", markersize=2, label=_legend(target, labels))
            drawn += 1
    axes.tick_params(labelsize=6, length=2)
    axes.grid(visible=True, color="#eee", linewidth=0.6)
    if drawn:
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=5, loc="upper left", ncols=2, frameon=False)


def _number(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series]) -> None:
    values = _last(found[0]) if found else []
    defaults = panel["fieldConfig"]["defaults"]
    value = values[0][1] if values else math.nan
    text = _told(value, defaults["unit"])
    axes.text(0.5, 0.45, text, size=16, ha="center", va="center", color=_colour(value, defaults))
    axes.axis("off")


def _table(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series]) -> None:
    rows: dict[str, list[str]] = {}
    for place, series in enumerate(found):
        for labels, value in _last(series):
            name = "/".join(labels.get(key, "") for key in ("provider", "model") if key in labels) or "all"
            rows.setdefault(name, [""] * len(found))[place] = f"{value:.3g}"
    shown = [[name, *cells] for name, cells in list(rows.items())[:_MOST_ROWS]]
    axes.axis("off")
    if shown:
        titles = ["", *panel["transformations"][1]["options"]["renameByName"].values()]
        made = axes.table(cellText=shown, colLabels=titles, loc="upper left", cellLoc="left", edges="horizontal")
        made.set_fontsize(6)


def _bars(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series]) -> None:
    values = [(_legend(panel["targets"][0], labels), value) for labels, value in _last(found[0])[:_MOST_LINES]]
    axes.barh([name for name, _ in values], [value for _, value in values], color="#3f74c9", height=0.6)
    axes.tick_params(labelsize=6, length=2)


def _timeline(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series]) -> None:
    words = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
    names = []
    for lane, (labels, points) in enumerate(found[0][:_MOST_LINES]):
        names.append(_legend(panel["targets"][0], labels))
        for at, value in points:
            colour = words.get(f"{value:g}", {}).get("color", "grey")
            axes.barh(lane, 1, left=at - 1, color=_COLOURS.get(colour, "#999"), height=0.8)
    axes.set_yticks(range(len(names)), names, size=6)
    axes.tick_params(labelsize=6, length=2)


def _heatmap(axes: Axes, panel: Mapping[str, Any], found: Sequence[Series]) -> None:
    series = sorted(found[0], key=lambda one: float(one[0].get("le", "inf")))
    most = max((len(points) for _, points in series), default=0)
    cells = [[value for _, value in points] + [0.0] * (most - len(points)) for _, points in series]
    if cells and most:
        axes.imshow(cells, aspect="auto", origin="lower", cmap="Oranges")
        axes.set_yticks(range(len(series)), [one[0].get("le", "") for one in series], size=5)
        axes.set_xticks([])


_PANELS = {"stat": _number, "table": _table, "bargauge": _bars, "state-timeline": _timeline, "heatmap": _heatmap}


def _last(series: Series) -> list[tuple[dict[str, str], float]]:
    """The newest value of each."""
    return [(labels, points[-1][1]) for labels, points in series if points]


def _legend(target: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    text = str(target["legendFormat"])
    for name, value in labels.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    return text


def _told(value: float, unit: str) -> str:
    if math.isnan(value):
        return "none"
    match unit:
        case "percentunit":
            return f"{value:.1%}"
        case "s":
            return f"{value:.3g} s"
        case "currencyUSD":
            return f"${value:.3g}"
        case _:
            return f"{value:.4g}"


def _colour(value: float, defaults: Mapping[str, Any]) -> str:
    """Of the threshold that a value has reached."""
    steps = defaults.get("thresholds", {}).get("steps", [])
    reached = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
    return _COLOURS.get(reached[-1], "#333") if reached else "#333"


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(*asyncio.run(draw_all(Path(sys.argv[1]))))  # noqa: T201
