"""Draws each dashboard from a real Prometheus, without Grafana: `python -m tests.watching.pictures FOLDER`."""

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.watching.drawing import draw
from tests.watching.grafana import CHOSEN, COMMITTED, filled, panels
from tests.watching.live import Watched
from tests.watching.plots import Found, Seen
from tests.watching.sheet import PALE, save, sheet
from tests.watching.story import FASTER, LASTS_S, told
from tests.watching.values import colour

Asked = Mapping[int, Found]
WIDTH, COLUMN, ROW, HEAD = 1200, 50, 36, 84
_SPANS = {"m": 60, "h": 3600}
_SCRAPED_S, _MARKED_S = 1, 3
# As of six hours that are some 600 pixels wide.
_STEP_S = 2
# A window of an hour, and one provider where a dashboard shows one.
_CHOSEN = {**CHOSEN, "window": "3m", "slo": "12.0", "__range": f"{LASTS_S:.0f}s"}
_ONE = {"provider": "aurora"}
NOTE = (
    "Not a picture of Grafana: drawn by Firstbyte's own script from a real Prometheus that watched five minutes of"
    " simulated providers, probed every 3 s."
)


async def draw_all(folder: Path) -> list[str]:
    """Let the story happen and draw every dashboard; gives the pictures' names."""
    with tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made:
        async with told(Path(made)) as seen:
            asked = await ask_all(seen, time.time())
    return [draw_one(name, found, folder) for name, found in asked.items()]


async def ask_all(seen: Watched, now: float) -> dict[str, Asked]:
    """What each query of each dashboard gives, by the panel's number."""
    return {name: await _dashboard(seen, dashboard, now) for name, dashboard in COMMITTED.items()}


def draw_one(name: str, asked: Asked, folder: Path) -> str:
    """Draw a dashboard; gives the picture's name."""
    dashboard = COMMITTED[name]
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"])
    page = sheet(WIDTH + 16, rows * ROW + HEAD + 8, "#f4f5f5")
    page.say(12, 24, dashboard["title"], 20, weight="bold")
    page.say(12, 50, _variables(dashboard), 12)
    page.say(12, 70, NOTE, 11.5, color=PALE)
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        box = page.within(8 + at["x"] * COLUMN, HEAD + at["y"] * ROW)
        box = box.within(0, 0, box.width - at["w"] * COLUMN, box.height - at["h"] * ROW)
        if panel["type"] == "row":
            box.say(6, 20, panel["title"], 15, weight="bold")
        else:
            draw(box.within(3, 3, 3, 3), asked[panel["id"]])
    save(page, folder / f"dashboard-{name}.png")
    return f"dashboard-{name}.png"


def _variables(dashboard: Mapping[str, Any]) -> str:
    """What is chosen, as the head of a dashboard says it."""
    chosen = _chosen(dashboard)
    shown = [one for one in dashboard["templating"]["list"] if one["name"] in CHOSEN]
    return "     ".join(
        f"{one['label']}: {'All' if chosen[one['name']] == '.+' else chosen[one['name']]}" for one in shown
    )


def _chosen(dashboard: Mapping[str, Any]) -> dict[str, str]:
    single = {one["name"] for one in dashboard["templating"]["list"] if one["type"] == "query" and not one["multi"]}
    return _CHOSEN | {name: value for name, value in _ONE.items() if name in single}


async def _dashboard(seen: Watched, dashboard: Mapping[str, Any], now: float) -> Asked:
    chosen = _chosen(dashboard)
    marks = await _marks(seen, dashboard, chosen, now)
    return {panel["id"]: await _panel(seen, panel, chosen, now, marks) for panel in panels(dashboard)}


async def _marks(
    seen: Watched, dashboard: Mapping[str, Any], chosen: Mapping[str, str], now: float
) -> list[tuple[float, str]]:
    """When an annotation begins, with its colour."""
    found = []
    for each in dashboard["annotations"]["list"]:
        if "expr" in each:
            expr = filled(each["expr"].replace("[2m]", f"[{2 * _MARKED_S}s]"), chosen)
            for one in await _range(seen, expr, "", _MARKED_S, now):
                begins = np.diff(one.times, prepend=-1e9) > 1.5 * _MARKED_S
                found += [(float(at), colour(each["iconColor"])) for at in one.times[begins]]
    return found


async def _panel(
    seen: Watched, panel: Mapping[str, Any], chosen: Mapping[str, str], now: float, marks: Sequence[tuple[float, str]]
) -> Found:
    """As Grafana asks, only so many times as often as probes come more often than by default."""
    given = re.fullmatch(r"(\d+)([mh])", panel.get("interval", ""))
    step = int(given[1]) * _SPANS[given[2]] // FASTER if given else _STEP_S
    words = {**chosen, "__interval": f"{step}s", "__rate_interval": f"{max(step + _SCRAPED_S, 4 * _SCRAPED_S)}s"}
    series = []
    for target in panel["targets"]:
        expr = filled(target["expr"], words)
        legend = target["legendFormat"]
        instant = target["instant"]
        series.append(await (_now(seen, expr, legend, now) if instant else _range(seen, expr, legend, step, now)))
    exemplars = await _exemplars(seen, chosen, now) if panel["type"] == "heatmap" else []
    return Found(panel, series, step, LASTS_S // step * step, marks, exemplars)


async def _now(seen: Watched, expr: str, legend: str, now: float) -> list[Seen]:
    found = (await seen.asks("query", query=expr, time=now))["result"]
    return [_seen(one["metric"], [one["value"]], legend, now) for one in found]


async def _range(seen: Watched, expr: str, legend: str, step: int, now: float) -> list[Seen]:
    since = now - LASTS_S // step * step
    found = (await seen.asks("query_range", query=expr, start=since, end=now, step=step))["result"]
    return [_seen(one["metric"], one["values"], legend, now) for one in found]


def _seen(labels: Mapping[str, str], points: Sequence[tuple[float, str]], legend: str, now: float) -> Seen:
    for name, value in labels.items():
        legend = legend.replace(f"{{{{{name}}}}}", value)
    times, values = zip(*points, strict=True)
    return Seen(legend, labels, np.array(times, dtype=float) - now, np.array(values, dtype=float))


async def _exemplars(seen: Watched, chosen: Mapping[str, str], now: float) -> list[tuple[float, float]]:
    expr = f'firstbyte_probe_first_byte_seconds_bucket{{provider=~"{chosen["provider"]}"}}'
    found = await seen.asks("query_exemplars", query=expr, start=now - LASTS_S, end=now)
    return [(each["timestamp"] - now, float(each["value"])) for one in found for each in one["exemplars"]]


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(*asyncio.run(draw_all(Path(sys.argv[1]))))  # noqa: T201
