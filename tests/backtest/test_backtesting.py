"""`firstbyte backtest` as a user at a shell meets it."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from breaker.policy import Policy
from monitor.backtest import run
from monitor.backtest.trace import read
from monitor.cli import main
from tests.backtest.test_trace import TRACE
from tests.processes import ROOT

OUTAGE = "began_at_s,seconds,verdict\n0,1,http_error\n60,1,http_error\n120,2,ok\n180,2,\n"
HEALTHY = "done_at_s,first_byte_s\n0,2\n60,3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with traces and policies in it."""
    monkeypatch.chdir(tmp_path)
    held = {
        "outage.csv": OUTAGE,
        "healthy.csv": HEALTHY,
        "patient.yaml": "errors_row: 3\n",
        "section.yaml": "policy: {errors_row: 3}\n",
        "firstbyte.yaml": "policy:\n  errors_row: 16\nproviders: {}\nroutes: {}\n",
        "faulty.yaml": "eror_row: 3\nslow_s: 2m\n",
        "never.yaml": "slow_s: 200\n",
    }
    for name, text in held.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a backtest prints, as one text."""
    assert main(["backtest", *words]) == code
    out, err = capsys.readouterr()
    return err if code else out


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What it prints for programs."""
    return json.loads(said(capsys, *words, "--json"))


def test_each_move_is_told_and_then_a_line_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "outage.csv", "healthy.csv").splitlines() == [
        "outage.csv: 4 steps in 3 min",
        "  61.0 s  closed to open, errors: two answers in a row failed: http error 500 (probe), http error 500 (probe)",
        "",
        "healthy.csv: 2 steps in 62 s; the circuit never moved",
        "",
        "TRACE        BAD SPARED  SLUGGISH SPARED  GOOD DIVERTED  OPENED  OPEN FOR  TO OPEN  TO CLOSE",
        "outage.csv   0 of 2, 0%  none             2 of 2, 100%   1 x     2 min     61 s     -",
        "healthy.csv  none        none             0 of 2, 0%     0 x     0 s       -        -",
    ]


def test_programs_hear_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "outage.csv")

    (move,) = found.pop("moves")
    assert move.pop("why").startswith("two answers in a row failed")
    assert {(m["what"], m["value"], m["limit"]) for m in move.pop("measures")} >= {("errors_row", 2, 2)}
    assert move == {"at_s": 61.0, "before": "closed", "after": "open", "cause": "errors", "generation": 1}
    assert found == {
        "trace": "outage.csv",
        "policy": "defaults",
        "open_spans": [[61.0, 182.0]],
        "spans": [{"from_s": 61, "until_s": 182, "cause": "errors", "time_to_open_s": 61, "time_to_close_s": None}],
        "openings": 1,
        "open_s": 121,
        "steps": 4,
        "bad": 2,
        "spared": 0,
        "spared_share": 0,
        "good": 2,
        "diverted": 2,
        "diverted_share": 1,
        "sluggish": 0,
        "sluggish_spared": 0,
        "sluggish_spared_share": None,
        "time_to_open_s": 61,
        "time_to_close_s": None,
    }


def test_every_key_of_the_json_is_in_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "backtest.md").read_text(encoding="utf-8")
    found = told(capsys, "outage.csv", "--compare", "patient.yaml")

    assert [key for key in (*found, *found["moves"][0], *found["spans"][0]) if f"`{key}`" not in page] == []


def test_several_traces_come_as_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert [found["trace"] for found in told(capsys, "outage.csv", "healthy.csv")] == ["outage.csv", "healthy.csv"]


@pytest.mark.parametrize("file", ["patient.yaml", "section.yaml"])
def test_another_policy_is_played(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "outage.csv", "--policy", file)

    assert (found["policy"], found["moves"]) == (file, [])


def test_a_configuration_that_is_there_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "outage.csv")["openings"] == 1


def test_a_configurations_policy_counts_where_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "tests" / "configs" / "good-full.yaml"

    assert told(capsys, "healthy.csv", "--policy", str(path))["policy"] == str(path)


def test_two_policies_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "outage.csv", "--compare", "patient.yaml").splitlines()

    assert lines[0] == "outage.csv, defaults: 4 steps in 3 min"
    assert lines[3] == "outage.csv, patient.yaml: 4 steps in 3 min; the circuit never moved"
    assert lines[5:] == [
        "outage.csv                          defaults      patient.yaml  DIFFERENCE",
        "slow or failed steps spared         0 of 2, 0%    0 of 2, 0%    the same",
        "steps far slower than usual spared  none          none          -",
        "good steps diverted                 2 of 2, 100%  0 of 2, 0%    -100.0 points",
        "opened                              1 x           0 x           -1",
        "open for                            2 min         0 s           -2 min",
        "time to open (median)               61 s          -             -",
        "time to close (median)              -             -             -",
    ]


def test_the_differences_are_the_second_minus_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "outage.csv", "--policy", "patient.yaml", "--compare", "section.yaml")
    other = told(capsys, "outage.csv", "--compare", "patient.yaml")

    assert set(found["difference"].values()) == {0, None}
    assert (other["compared"]["policy"], other["compared"]["openings"]) == ("patient.yaml", 0)
    assert (other["difference"]["openings"], other["difference"]["diverted_share"]) == (-1, -1)


def test_the_open_spans_of_a_real_trace_are_those_of_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, str(TRACE))
    made = run(read(str(TRACE)), Policy())

    assert found["open_spans"] == [list(span) for span in made.open_spans]
    assert [move["at_s"] for move in found["moves"]] == [move.at_s for move in made.moves]


def test_a_picture_is_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "outage.csv", "healthy.csv", "--compare", "patient.yaml", "--plot", "out.png")

    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")


def test_the_standard_input_is_a_trace_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OUTAGE.encode())))

    assert told(capsys, "-")["openings"] == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        pytest.param(["gone.csv"], "can't read gone.csv: No such file or directory", id="no file"),
        pytest.param(["outage.csv", "faulty.yaml"], "faulty.yaml, line 1: no column tells when", id="no trace"),
        pytest.param(
            ["outage.csv", "--policy", "gone.yaml"], "the policy can't be used\ngone.yaml: there is", id="none"
        ),
        pytest.param(["outage.csv", "--policy", "faulty.yaml"], "did you mean errors_row?", id="a misspelt key"),
        pytest.param(
            ["outage.csv", "--compare", "faulty.yaml"], "write it without a unit, in seconds: 120", id="a unit"
        ),
        pytest.param(
            ["outage.csv", "--policy", "never.yaml"], "never.yaml:1:9: policy: slow_s is 200 and", id="a flaw"
        ),
        pytest.param(["outage.csv", "--policy", "firstbyte.yaml"], "providers has nothing in it", id="a faulty config"),
        pytest.param(["outage.csv", "--plot", "outage.csv"], "choose a name that ends in .png", id="no picture's name"),
        pytest.param(
            ["outage.csv", "--target", "a/b"], "--target chooses from what a Prometheus", id="target of a file"
        ),
        pytest.param(["outage.csv", "--since", "3d"], "--since chooses from what a Prometheus", id="since of a file"),
        pytest.param(["-", "-"], "the standard input can be read once", id="the standard input twice"),
        pytest.param(["https://"], "that is not an address (not shown)", id="no address"),
    ],
)
def test_what_can_not_be_played_is_said(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, *words, code=2)

    assert found.startswith("firstbyte: ")
    assert line in found


WITHOUT = """
import sys
for name in {names!r}:
    sys.modules[name] = None
from monitor.cli import main
raise SystemExit(main(sys.argv[1:]))
"""
SERVICE = ("yaml", "redis", "fastapi", "uvicorn", "apscheduler", "prometheus_client", "pydantic", "starlette")


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        pytest.param([], 0, "the circuit never moved", id="the defaults"),
        pytest.param(
            ["--policy", "patient.yaml"], 2, "needs the package 'yaml'; in a clone: pip install '.[se", id="policy"
        ),
        pytest.param(
            ["http://127.0.0.1:1"], 2, "a Prometheus as TRACE needs the package 'prometheus_c", id="prometheus"
        ),
        pytest.param(["--plot", "a.png"], 2, "--plot needs the package 'matplotlib'; in a clone: p", id="a picture"),
    ],
)
def test_a_plain_install_plays_files(words: list[str], code: int, line: str, folder: Path) -> None:
    command = [sys.executable, "-c", WITHOUT.format(names=(*SERVICE, "matplotlib")), "backtest", "healthy.csv", *words]
    env = {"PYTHONPATH": str(ROOT), "PATH": ""}

    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, line in done.stdout + done.stderr) == (code, True)


class Terminal(io.StringIO):
    """A stream that says that somebody looks."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return True


def test_progress_shows_on_a_terminal_and_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.cli.progress._EVERY_S", 0.0)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    assert main(["backtest", "outage.csv"]) == 0
    assert "playing outage.csv, 75%" in terminal.getvalue()
    assert not terminal.getvalue().removesuffix("\r").rpartition("\r")[2].strip()
