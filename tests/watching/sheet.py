"""A picture in pixels: boxes on it, text and axes in a box."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.axes import Axes  # after the choice of where it draws
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

TEXT = 12  # nothing is smaller than 11
INK, PALE, LINE = "#24292e", "#5d6570", "#d5d9de"
_DPI = 72  # so that a point is a pixel
_LETTER = 0.62  # how wide a letter is, of its height


@dataclass(frozen=True)
class Box:
    """A rectangle of a figure, in pixels from the figure's top left."""

    figure: Figure
    left: float
    top: float
    width: float
    height: float

    def within(self, left: float, top: float, right: float = 0, bottom: float = 0) -> "Box":
        """The box without so much at each side."""
        width, height = self.width - left - right, self.height - top - bottom
        return Box(self.figure, self.left + left, self.top + top, width, height)

    def say(self, x: float, y: float, text: str, size: float = TEXT, **more: Any) -> None:
        """Text whose middle is at this height of the box."""
        wide, tall = _size(self.figure)
        more = {"color": INK, "va": "center"} | more
        self.figure.text((self.left + x) / wide, 1 - (self.top + y) / tall, text, size=size, **more)

    def fill(self, colour: str, edge: str = "none") -> None:
        """Paint all of it."""
        wide, tall = _size(self.figure)
        at = (self.left / wide, 1 - (self.top + self.height) / tall)
        self.figure.add_artist(
            Rectangle(
                at, self.width / wide, self.height / tall, facecolor=colour, edgecolor=edge, linewidth=1, zorder=-1
            )
        )

    def axes(self) -> Axes:
        """Axes that fill it."""
        wide, tall = _size(self.figure)
        at = (self.left / wide, 1 - (self.top + self.height) / tall, self.width / wide, self.height / tall)
        axes = self.figure.add_axes(at)
        axes.tick_params(labelsize=11, length=3, color=LINE, labelcolor=PALE)
        for side in axes.spines.values():
            side.set_color(LINE)
        return axes


def sheet(width: int, height: int, ground: str) -> Box:
    """All of a new figure."""
    return Box(Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor=ground), 0, 0, width, height)


def save(box: Box, file: Path) -> None:
    """As PNG with few colours, which makes it small."""
    drawn = BytesIO()
    box.figure.savefig(drawn, dpi=_DPI)
    Image.open(drawn).convert("RGB").quantize(128).save(file, optimize=True)


def fitted(text: str, width: float, size: float = TEXT) -> str:
    """So much of a text as fits into so many pixels."""
    most = int(width / (size * _LETTER))
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"


def _size(figure: Figure) -> tuple[float, float]:
    wide, tall = figure.get_size_inches()
    return wide * _DPI, tall * _DPI
