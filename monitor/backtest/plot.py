"""Draws runs: how long each step took, the slow limit, and the spans in which agents would have been elsewhere."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from breaker.log import Weight
from monitor.backtest.faults import PictureError
from monitor.backtest.tape import Played, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INSTALL = "in a clone: pip install '.[plot]'"
# More would be taller than a PNG can be.
MAX_PANELS = 100
_PNG = b"\x89PNG\r\n\x1a\n"
_DPI = 110
_WIDTH_IN, _PANEL_IN = 11.0, 3.0
_UNITS = (
    (4 * 86_400.0, 86_400.0, "days"),
    (2 * 3600.0, 3600.0, "hours"),
    (120.0, 60.0, "minutes"),
    (0.0, 1.0, "seconds"),
)
_OUT = "#d9480f"
_DOTS = (
    ("slow or failed", "#c92a2a"),
    ("far slower than usual", "#f08c00"),
    ("good", "#1864ab"),
    ("no sign", "#adb5bd"),
)


class Panel(NamedTuple):
    """One picture of several above each other."""

    title: str
    run: Run
    slow_s: float


def check(path: Path) -> None:
    """Raise PictureError where nothing can be drawn, or nothing may be put there: only a PNG is ever replaced."""
    try:
        import matplotlib.figure  # noqa: F401 # whether it is there
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "matplotlib":
            raise
        raise PictureError(f"--plot needs the package 'matplotlib'; {INSTALL}") from None
    if path.suffix.lower() != ".png":
        raise PictureError(f"--plot {path}: choose a name that ends in .png")
    try:
        with path.open("rb") as file:
            if file.read(len(_PNG)) not in (b"", _PNG):
                raise PictureError(f"--plot {path}: there is a file that is no picture; choose another name")
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise PictureError(f"--plot {path}: there is no folder {path.parent}") from None
    except OSError as error:
        raise PictureError(f"can't write {path}: {error.strerror}") from None


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Write a PNG with a panel each. Raises PictureError where it can't be written."""
    if len(panels) > MAX_PANELS:
        raise PictureError(f"--plot draws at most {MAX_PANELS} panels, not {len(panels)}; name fewer traces")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH_IN, _PANEL_IN * len(panels) + 0.4), layout="constrained")
    axes = figure.subplots(len(panels), squeeze=False)
    for panel, at in zip(panels, axes[:, 0], strict=True):
        _draw_one(panel, at)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=_DPI)
    try:
        path.write_bytes(picture.getvalue())
    except OSError as error:
        raise PictureError(f"can't write {path}: {error.strerror}") from None


def _draw_one(panel: Panel, axes: "Axes") -> None:
    run = panel.run
    length_s = run.end_s - run.began_s
    unit_s, unit = next((size, name) for least, size, name in _UNITS if length_s >= least)
    for number, (since, until) in enumerate(run.open_spans):
        span = [(moment - run.began_s) / unit_s for moment in (since, until)]
        axes.axvspan(*span, color=_OUT, alpha=0.18, lw=0, label=None if number else "open")
    kinds = [_kind(step) for step in run.steps]
    size = 4.0 if len(kinds) < 2_000 else 2.0
    for kind, (label, color) in reversed(list(enumerate(_DOTS))):
        steps = [step.step for step, its in zip(run.steps, kinds, strict=True) if its == kind]
        if steps:
            x = [(step.began_at_s - run.began_s) / unit_s for step in steps]
            axes.plot(x, [step.waited_s for step in steps], ".", ms=size, color=color, label=label)
    axes.axhline(panel.slow_s, color="#c92a2a", lw=1, ls="--", label=f"{panel.slow_s:g} s")
    axes.set(xlabel=unit, ylabel="first byte, seconds", ylim=(0, _top(panel)), xlim=(0, max(length_s / unit_s, 1e-9)))
    axes.set_title(panel.title, loc="left", fontsize="medium", parse_math=False)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=6, frameon=False, fontsize="small")


def _top(panel: Panel) -> float:
    """A height that shows the limit and nearly all steps; a few that took for ever don't flatten the rest."""
    waited = sorted(step.step.waited_s for step in panel.run.steps)
    return 1.15 * max(panel.slow_s, waited[int(0.998 * (len(waited) - 1))])


def _kind(step: Played) -> int:
    if step.weight is Weight.NOTHING:
        return 3
    if step.weight is not Weight.GOOD:
        return 0
    return 1 if step.sluggish else 2
