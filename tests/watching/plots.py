"""What a panel's queries gave, and lines over it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, MultipleLocator, NullFormatter

from tests.watching.sheet import PALE, Box, fitted
from tests.watching.values import colour, overridden, scale, told

_PALETTE = ("#56a64b", "#3274d9", "#e0a800", "#a352cc", "#ff780a", "#1f9e9e", "#e02f8a", "#7a5c3e", "#6e7681")
_ROW = 16


@dataclass(frozen=True)
class Seen:
    """A series: when (seconds before the end) it had which value."""

    legend: str
    labels: Mapping[str, str]
    times: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Found:
    """What each query of a panel gave over so many seconds, a point each step; `marks` are moves with their colour."""

    panel: Mapping[str, Any]
    series: Sequence[Sequence[Seen]]
    step_s: float
    span_s: float
    marks: Sequence[tuple[float, str]] = ()
    exemplars: Sequence[tuple[float, float]] = ()

    def now(self) -> list[tuple[str, float]]:
        """The newest value of each series of all queries."""
        return [(each.legend, float(each.values[-1])) for series in self.series for each in series]

    def grid(self) -> np.ndarray:
        """All moments that were asked for."""
        return np.arange(-int(self.span_s / self.step_s), 1) * self.step_s

    def on_grid(self, each: Seen, missing: float = np.nan) -> np.ndarray:
        """A series with a value at each of them."""
        values = np.full(len(self.grid()), float(missing))
        values[np.rint(each.times / self.step_s).astype(int) - 1] = each.values
        return values


def lines(box: Box, found: Found) -> None:
    """Lines, points or bars with a legend below that tells the last and the largest value of each."""
    field = found.panel["fieldConfig"]["defaults"]
    shown = [each for series in found.series for each in series]
    room = int((box.height - 180) / _ROW)
    rows = min(len(shown), room if len(shown) <= room else room - 1)
    axes = box.within(74, 32, 18, 30 + _ROW * (min(len(shown), room) + 1)).axes()
    colours = [_colour(found, each, i) for i, each in enumerate(shown)]
    _plotted(axes, found, shown, colours)
    if field["custom"]["thresholdsStyle"]["mode"] == "line":
        last = field["thresholds"]["steps"][-1]
        axes.axhline(last["value"], color=colour(last["color"]), linestyle="--", linewidth=1.2)
    for at, shade in found.marks:
        axes.axvline(at, color=shade, linestyle=":", linewidth=1, zorder=0)
    _scaled(axes, field)
    in_minutes(axes, found)
    _legend(box, found, shown[:rows], colours, len(shown) - rows)


def in_minutes(axes: Axes, found: Found) -> None:
    """The axis of time, from the beginning to now."""
    axes.set_xlim(-found.span_s, 0)
    axes.xaxis.set_major_locator(MultipleLocator(60))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at / 60:.0f} min" if at < -1 else "now"))


def _plotted(axes: Axes, found: Found, shown: Sequence[Seen], colours: Sequence[str]) -> None:
    custom = found.panel["fieldConfig"]["defaults"]["custom"]
    stack = custom["stacking"]["mode"]
    values = [found.on_grid(each, 0 if stack != "none" else np.nan) for each in shown]
    if stack == "percent":
        whole = np.sum(values, axis=0)
        values = [np.divide(each, whole, out=np.zeros_like(each), where=whole > 0) for each in values]
    base = np.zeros(len(found.grid()))
    for each, one, shade in zip(shown, values, colours, strict=True):
        style = custom | {
            key.removeprefix("custom."): value for key, value in overridden(found.panel, each.legend).items()
        }
        if style["drawStyle"] == "bars":
            axes.bar(found.grid() - found.step_s / 2, one, found.step_s * 0.86, bottom=base, color=shade)
        elif style["drawStyle"] == "points":
            axes.plot(found.grid(), one, "o", markersize=3, color=shade, markeredgewidth=0)
        else:
            axes.plot(found.grid(), base + one, "--" if "lineStyle" in style else "-", linewidth=1.4, color=shade)
            if stack != "none":
                axes.fill_between(found.grid(), base, base + one, color=shade, alpha=0.35, linewidth=0)
        base = base + one if stack != "none" else base


def _scaled(axes: Axes, field: Mapping[str, Any]) -> None:
    """The axis of values."""
    percent = field["custom"]["stacking"]["mode"] == "percent"
    unit = "percentunit" if percent else field["unit"]
    axes.grid(axis="y", color="#e8eaed", linewidth=0.8)
    if field["custom"]["scaleDistribution"]["type"] == "log":
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        counted = field.get("decimals") == 0
        top = 1.0 if percent else field.get("max") or max(axes.get_ylim()[1], 1.0 if counted else 1e-9)
        by, _ = scale(top, unit)
        axes.set_yticks([tick * by for tick in MaxNLocator(4, integer=counted).tick_values(0, top / by)])
        axes.set_ylim(0, top * 1.04)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value, {"unit": unit})))
    axes.set_axisbelow(True)


def _colour(found: Found, each: Seen, place: int) -> str:
    fixed = overridden(found.panel, each.legend)["color"].get("fixedColor")
    return colour(fixed) if fixed else _PALETTE[place % len(_PALETTE)]


def _legend(box: Box, found: Found, shown: Sequence[Seen], colours: Sequence[str], left_out: int) -> None:
    columns = (("Last", box.width - 110), ("Max", box.width - 14))
    y = box.height - 12 - _ROW * (len(shown) + bool(left_out))
    for name, right in columns:
        box.say(right, y, name, 11, color=PALE, ha="right")
    for each, shade in zip(shown, colours, strict=False):
        y += _ROW
        field = overridden(found.panel, each.legend)
        box.within(14, y - 2, box.width - 28, box.height - y - 2).fill(shade)
        box.say(34, y, fitted(each.legend, box.width - 220, 11.5), 11.5)
        known = each.values[~np.isnan(each.values)]
        for (_, right), value in zip(columns, (known[-1], known.max()), strict=True):
            box.say(right, y, told(float(value), field), 11.5, ha="right")
    if left_out:
        box.say(34, y + _ROW, f"and {left_out} more", 11, color=PALE)
