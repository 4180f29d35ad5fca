"""`make bench`: what runs, what is said of it, and that nothing ends it early."""

import sys
from pathlib import Path

import pytest

import benchmarks
from benchmarks import _all
from tests.processes import ROOT

SCRIPTS = {path.stem: path for path in (ROOT / "benchmarks").glob("[a-z]*.py")}
_ENDS = {"calm": 0, "missing": 1, "raising": 3}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where other scripts are taken for those of the project."""
    made = tmp_path / "benchmarks"
    made.mkdir()
    (made / "__init__.py").touch()
    monkeypatch.setattr(_all, "FOLDER", made)
    monkeypatch.setattr(sys, "argv", ["bench"])
    return made


def test_all_scripts_run_in_their_short_form_where_they_have_one() -> None:
    short = {name for name, path in SCRIPTS.items() if "--quick" in path.read_text(encoding="utf-8")}

    assert set(SCRIPTS) - {_all.ELSEWHERE} == short | set(_all.WHOLE)
    assert not short & set(_all.WHOLE)


def test_a_script_that_misses_its_aim_keeps_no_other_from_running(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, code in _ENDS.items():
        (folder / f"{name}.py").write_text(f"import sys\nprint('{name}', *sys.argv[1:])\nsys.exit({code})\n")

    assert _all.main() == 1

    lines = capfd.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(" --quick") and line[0] != "="] == [f"{n} --quick" for n in _ENDS]
    assert "== 2 of 3: python -m benchmarks.missing --quick" in lines
    told = [line.partition(" s  ")[2] for line in lines[-6:-3]]
    assert told == ["calm", "missing (missed an aim)", "raising (failed)"]
    assert lines[-1] == "missed an aim or failed: missing, raising"


def test_a_script_that_hangs_is_ended(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "hanging.py").write_text("import threading\nthreading.Event().wait()\n")
    monkeypatch.setattr(_all, "MOST_S", 0.1)

    assert _all.main() == 1

    assert "== hanging (took longer than 0.1 s): " in capfd.readouterr().out


def test_a_name_that_is_none_is_refused_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "rout"])

    with pytest.raises(SystemExit):
        _all.main()

    assert "there is no rout; there are: backtest, client," in capsys.readouterr().err


def test_what_is_told_of_a_run_where_all_is_well(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "calm.py").touch()

    assert _all.main() == 0

    assert capfd.readouterr().out.splitlines()[-1].endswith(" s  all")


# Each waits until the other is there as well.
_PLAY = """
import pathlib, sys, time
print("{name} begins", flush=True)
pathlib.Path(__file__).with_name("{name}.here").touch()
awaited, till = pathlib.Path(__file__).with_name("{awaited}.here"), time.monotonic() + 60
while not awaited.exists() and time.monotonic() < till:
    time.sleep(0.01)
print("{name} has met the other:", awaited.exists())
sys.exit("{name}" == "other")
"""


def test_plays_run_at_once_and_each_tells_all_of_its_own_at_its_end(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_all, "PLAYS", {"one", "other"})
    (folder / "calm.py").touch()
    for name, awaited in (("one", "other"), ("other", "one")):
        (folder / f"{name}.py").write_text(_PLAY.format(name=name, awaited=awaited))

    assert _all.main() == 1

    lines = capfd.readouterr().out.splitlines()
    assert "== 1 of 2: python -m benchmarks.one --quick beside python -m benchmarks.other --quick" in lines
    assert "== one, other (missed an aim): " in "".join(lines)
    for name in ("one", "other"):
        begun = lines.index(f"{name} begins")
        assert lines[begun + 1] == f"{name} has met the other: True"


@pytest.mark.parametrize(
    ("argv", "words", "is_script"),
    [
        (["-m", "--quick"], ["python", "-X", "utf8", "-m", "benchmarks.soak", "--quick"], True),
        (["-m"], ["python", "-m", "benchmarks._all"], True),
        (["-m", "8080"], ["python", "-m", "benchmarks._reports_load", "8080"], False),
        (["-c", "run"], ["python", "-c", "from benchmarks._machine import pin", "run"], False),
        (["/bin/pytest"], ["python", "/bin/pytest"], False),
    ],
    ids=["a script", "all of them", "what a script starts", "code of its own", "tests"],
)
def test_a_script_ends_what_it_started_when_it_is_told_to_end_and_nothing_else_does(
    argv: list[str], words: list[str], is_script: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", words)

    assert benchmarks._is_script() is is_script
