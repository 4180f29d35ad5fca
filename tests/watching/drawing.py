"""Draws a panel as Grafana would show it: numbers, tables, bars, lanes and histograms; lines are in `plots`."""

import math
from collections.abc import Callable, Mapping
from itertools import groupby, pairwise

import numpy as np
from matplotlib.colors import to_hex

from tests.watching.plots import Found, in_minutes, lines
from tests.watching.sheet import INK, LINE, PALE, Box, fitted
from tests.watching.values import colour_of, overridden, told, words

_ROW = 24


def draw(box: Box, found: Found) -> None:
    """The panel in its box."""
    box.fill("white", LINE)
    box.say(10, 15, fitted(found.panel["title"], box.width + 20, 13), 12.5, weight="bold")
    if not any(found.series):
        box.say(box.width / 2, box.height / 2 + 8, "no data", 13, color=PALE, ha="center")
        return
    _KINDS.get(found.panel["type"], lines)(box, found)


def _numbers(box: Box, found: Found) -> None:
    shown = found.now()
    named = len(shown) > 1 or found.panel["options"]["textMode"] == "value_and_name"
    field = found.panel["fieldConfig"]["defaults"]
    wide, centre = box.width / len(shown), box.height / 2 + 10
    for i, (name, value) in enumerate(shown):
        middle, size = wide * (i + 0.5), 26 if wide > 180 or not named else 22
        shade = colour_of(value, field)
        box.say(middle, centre + (15 if named else 0), told(value, field), size, color=shade, ha="center")
        if named:
            text = 15 if wide > 400 else 11.5
            box.say(middle, centre - 18, fitted(name, wide - 8, text), text, ha="center")


def _table(box: Box, found: Found) -> None:
    columns = list(found.panel["transformations"][1]["options"]["renameByName"].values())
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for title, series in zip(columns, found.series, strict=True):
        for each in series:
            rows.setdefault((each.labels["provider"], each.labels["model"]), {})[title] = each.values[-1]
    lefts = [12.0, 112.0, *(212 + (box.width - 220) / len(columns) * i for i in range(len(columns)))]
    for left, title in zip(lefts, ["provider", "model", *columns], strict=True):
        box.say(left, 42, title, 11.5, weight="bold", color=PALE)
    for i, (target, cells) in enumerate(sorted(rows.items())[: int((box.height - 56) / _ROW)]):
        y = 42 + _ROW * (i + 1)
        box.within(8, y - _ROW / 2, 8, box.height - y + _ROW / 2 - 1).fill(LINE)
        for left, name in zip(lefts[:2], target, strict=True):
            box.say(left, y, name)
        for left, title in zip(lefts[2:], columns, strict=True):
            field = overridden(found.panel, title)
            value = cells.get(title, math.nan)
            coloured = "custom.cellOptions" in field and not math.isnan(value)
            box.say(left, y, told(value, {**field, "noValue": ""}), color=colour_of(value, field) if coloured else INK)


def _gauges(box: Box, found: Found) -> None:
    field = found.panel["fieldConfig"]["defaults"]
    shown = found.now()
    most = field.get("max") or max(value for _, value in shown)
    tall = min(34.0, (box.height - 36) / len(shown))
    for i, (name, value) in enumerate(shown):
        y = 32 + tall * (i + 0.5)
        box.say(10, y, fitted(name, 130))
        bar = box.within(140, y - tall * 0.36, 76, box.height - y - tall * 0.36)
        bar.fill("#eceef1")
        reached = bar.width * min(1, value / most)
        bar.within(0, 0, bar.width - max(2, reached)).fill(colour_of(value, field))
        box.say(box.width - 10, y, told(value, field), color=colour_of(value, field), ha="right")


def _lanes(box: Box, found: Found) -> None:
    """One lane for each of several, in which equal values that follow each other are one."""
    field = found.panel["fieldConfig"]["defaults"]
    lanes = found.series[0]
    plot = box.within(min(200, 24 + 7 * max(len(each.legend) for each in lanes)), 30, 18, 46)
    axes = plot.axes()
    pixels = plot.width / found.span_s
    for lane, each in enumerate(lanes):
        points = zip(each.times, each.values, strict=True)
        for value, group in groupby(points, key=lambda point: point[1]):
            times = [float(at) for at, _ in group]
            long = times[-1] - times[0] + found.step_s
            axes.barh(lane, long, left=times[0], height=0.82, color=colour_of(value, field))
            word = told(value, field)
            if len(word) * 7.5 < long * pixels:
                axes.text(times[0] + 4 / pixels, lane, word, size=11, color="white", va="center")
    axes.set_yticks(range(len(lanes)), [each.legend for each in lanes])
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    in_minutes(axes, found)
    x = 12.0
    seen = {float(value) for each in lanes for value in each.values}
    for value, word, shade in words(field):
        if value in seen:
            box.within(x, box.height - 20, box.width - x - 11, 9).fill(shade)
            box.say(x + 17, box.height - 14, word, 11.5, color=PALE)
            x += 36 + 7.5 * len(word)


def _histogram(box: Box, found: Found) -> None:
    """Buckets as Grafana takes them apart: how many came within each bound, but not within the one below."""
    series = sorted(found.series[0], key=lambda each: float(each.labels["le"]))
    cumulated = np.array([found.on_grid(each, 0) for each in series])
    cells = np.diff(cumulated, axis=0, prepend=0)
    used = [i for i in range(len(series)) if cells[i].max() > 0.5]
    low, high = max(0, used[0] - 1), used[-1] + 1
    plot = box.within(58, 30, 18, 46)
    axes = plot.axes()
    edges = np.append(found.grid() - found.step_s, 0)
    shown = np.ma.masked_less(cells[low:high], 0.5)
    mesh = axes.pcolormesh(edges, np.arange(low, high + 1), shown, cmap="Oranges", vmin=0, edgecolor="white")
    names = [f"{float(each.labels['le']):g} s" for each in series]
    axes.set_yticks([i + 1 for i in range(low, high)], names[low:high])
    bounds = [math.log(max(1e-3, float(each.labels["le"]))) for each in series[:-1]]
    for at, value in found.exemplars:
        axes.plot(at, _place(math.log(value), bounds), "D", markersize=3, color="#b83fb8", alpha=0.7)
    in_minutes(axes, found)
    for i in range(10):
        box.within(12 + 12 * i, box.height - 20, box.width - 24 - 12 * i, 9).fill(to_hex(mesh.cmap(i / 9)))
    text = f"0 to {shown.max():.0f} probes in {found.step_s:g} s; each dot is one of them"
    box.say(142, box.height - 14, text, 11.5, color=PALE)


def _place(value: float, bounds: list[float]) -> float:
    """Where on an axis of equally high buckets a value lies."""
    for i, (below, above) in enumerate(pairwise(bounds)):
        if value <= above:
            return max(0.0, i + 1 + (value - below) / (above - below))
    return float(len(bounds))


_KINDS: Mapping[str, Callable[[Box, Found], None]] = {
    "stat": _numbers,
    "table": _table,
    "bargauge": _gauges,
    "state-timeline": _lanes,
    "heatmap": _histogram,
}
