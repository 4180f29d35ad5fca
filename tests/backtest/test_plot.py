"""Pictures: drawn whatever the run was, and never over something else."""

from pathlib import Path

import pytest

from breaker.policy import Policy
from monitor.backtest import Step, run
from monitor.backtest.faults import PictureError
from monitor.backtest.plot import MAX_PANELS, Panel, check, draw
from tests.backtest.test_tape import PLAIN, every_minute, failed, good

PNG = b"\x89PNG\r\n\x1a\n"


def panel(*steps: Step, policy: Policy = PLAIN, title: str = "a.csv") -> Panel:
    """One panel over some steps."""
    return Panel(title, run(steps, policy), policy.slow_s)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([good(0)], id="one step"),
        pytest.param([good(0, 0)], id="no time at all"),
        pytest.param([failed(0), failed(60)], id="open at the end"),
        pytest.param([failed(0), failed(60), *every_minute(since_s=120, until_s=400_000)], id="days"),
        pytest.param([good(1.7e9 + 60 * i) for i in range(50)], id="since 1970"),
    ],
)
def test_draws(steps: list[Step], tmp_path: Path) -> None:
    draw([panel(*steps)], tmp_path / "out.png")

    assert (tmp_path / "out.png").read_bytes().startswith(PNG)


def test_several_traces_stand_above_each_other(tmp_path: Path) -> None:
    draw([panel(good(0))], tmp_path / "one.png")
    draw([panel(good(0), title="$\\frac{$ and more"), panel(failed(0), failed(60))], tmp_path / "two.png")

    assert _height(tmp_path / "two.png") > 1.7 * _height(tmp_path / "one.png")


def _height(picture: Path) -> int:
    return int.from_bytes(picture.read_bytes()[20:24])


def test_no_more_panels_than_a_picture_can_hold(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="draws at most 100 panels, not 101"):
        draw([panel(good(0))] * (MAX_PANELS + 1), tmp_path / "out.png")


def test_a_picture_is_replaced_and_an_empty_file_filled(tmp_path: Path) -> None:
    for name, held in (("old.png", PNG + b"old"), ("empty.png", b"")):
        (tmp_path / name).write_bytes(held)
        check(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("out.pdf", "choose a name that ends in .png", id="another format"),
        pytest.param("out", "choose a name that ends in .png", id="no format"),
        pytest.param("text.png", "there is a file that is no picture; choose another name", id="another file"),
        pytest.param("nowhere/out.png", "there is no folder", id="no folder"),
        pytest.param("folder.png", "can't write .*: Is a directory", id="a folder"),
        pytest.param("text.png/out.png", "can't write .*: Not a directory", id="a file as a folder"),
    ],
)
def test_it_is_said_beforehand_where_nothing_may_be_put(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("My thesis.")
    (tmp_path / "folder.png").mkdir()

    with pytest.raises(PictureError, match=said):
        check(tmp_path / name)
    assert (tmp_path / "text.png").read_text() == "My thesis."


def test_what_can_not_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match=r"can't write .*: No such file or directory"):
        draw([panel(good(0))], tmp_path / "gone" / "out.png")
