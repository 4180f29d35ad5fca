"""`firstbyte judge`, as a user at a shell meets it."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import main
from monitor.cli.comparing import Comparison
from tests.config_cases import FOLDER
from tests.processes import FIRSTBYTE
from tests.test_exchange import exchange, said_by

GOOD = {"verdict": "ok", "class": "ok", "ttft_ms": 700, "finish_reason": "stop"}
CUT = exchange(id="cut", chunks=exchange()["chunks"][:2], end="reset", end_at_ms=1750.5)
BROKEN = exchange(id="broken", status=500, chunks=[{"at_ms": 90, "data": "oops"}])


def _file(folder: Path, *lines: object) -> str:
    """A file of exchanges; texts are written as they are."""
    path = folder / "exchanges.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def _said(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_line_is_judged_in_its_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", _file(tmp_path, exchange(), "", CUT, BROKEN)]) == 0

    good, cut, broken = _said(capsys)
    assert list(good) == ["id", "verdict", "class", "cause", "confidence", "first_byte_ms", "finish_reason", "why"]
    assert {name: good[name] for name in good if name != "why"} == {
        "id": "good",
        "verdict": "ok",
        "class": "ok",
        "cause": None,
        "confidence": "high",
        "first_byte_ms": 700,
        "finish_reason": "stop",
    }
    assert (cut["id"], cut["verdict"], cut["finish_reason"]) == ("cut", "cut", None)
    assert (broken["verdict"], broken["status"], broken["first_byte_ms"]) == ("http_error", 500, None)


def test_the_standard_input_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(exchange()).encode())))

    assert main(["judge", "-"]) == 0
    assert [said["id"] for said in _said(capsys)] == ["good"]


@pytest.mark.parametrize(
    ("bad", "wrong"),
    [
        pytest.param("{psst", "it is not JSON; write one exchange a line", id="no JSON"),
        pytest.param("[1]", "it is no JSON object", id="no object"),
        pytest.param("[" * 100_000, "it is not JSON", id="too deep"),
        pytest.param('{"at_ms": NaN}', "it is not JSON", id="NaN"),
        pytest.param(json.dumps(exchange(wire="psst")), "wire is a text (not shown); it is one of: ", id="no wire"),
        pytest.param(json.dumps(exchange(status=7)), "status is 7; an HTTP status is 100 to 599", id="no status"),
    ],
)
def test_a_bad_line_is_named_and_holds_up_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bad: str, wrong: str
) -> None:
    assert main(["judge", _file(tmp_path, exchange(), bad, CUT)]) == 2

    out, err = capsys.readouterr()
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["good", "cut"]
    assert err.startswith(f"firstbyte: line 2: {wrong}")
    assert "psst" not in err


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "exchanges.jsonl"
    path.write_bytes(b"\xff\xfe\n" + json.dumps(exchange()).encode() + b"\n")

    assert main(["judge", str(path)]) == 2
    assert "line 1: it is not JSON" in capsys.readouterr().err


def test_a_line_that_is_too_long_is_read_past(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitor.cli.judging.MAX_LINE", 4_000)

    assert main(["judge", _file(tmp_path, exchange(), exchange(note="x" * 9_000), CUT)]) == 2

    out, err = capsys.readouterr()
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["good", "cut"]
    assert "line 2: it is longer than 4000 bytes" in err


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_a_file_that_cant_be_read_is_named(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", name]) == 2
    assert capsys.readouterr().err.startswith(f"firstbyte: can't read {name}: ")


# Checking


def test_what_is_as_expected_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {**exchange(), "expect": GOOD},
        {**BROKEN, "expect": {"verdict": "http_error:500", "class": "provider_failure"}},
        {
            **CUT,
            "expect": {"verdict": "malformed", "accept": ["cut"], "class": "ok", "accept_class": ["provider_failure"]},
        },
    ]

    assert main(["judge", "--check", _file(tmp_path, *lines)]) == 0
    assert capsys.readouterr().out == (
        "3 of 3 in verdict and class, 1 of 1 in first_byte_ms, 1 of 1 in finish_reason\n"
    )


@pytest.mark.parametrize(
    ("wrong", "row"),
    [
        pytest.param({"verdict": "cut", "accept": ["loop"]}, "good  verdict  cut or loop  ok", id="verdict"),
        pytest.param({"class": "caller_fault"}, "good  class  caller_fault  ok", id="class"),
        pytest.param({"ttft_ms": 701}, "good  first_byte_ms  701  700", id="first byte"),
        pytest.param({"ttft_ms": None}, "good  first_byte_ms  none  700", id="no first byte"),
        pytest.param({"finish_reason": "length"}, "good  finish_reason  length  stop", id="finish reason"),
        pytest.param({"finish_reason": ""}, "good  finish_reason  none  stop", id="no finish reason"),
    ],
)
def test_what_isnt_stands_in_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, object], row: str
) -> None:
    assert main(["judge", "--check", _file(tmp_path, {**exchange(), "expect": {**GOOD, **wrong}})]) == 1

    head, found, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "what", "expected", "found", "why"]
    assert " ".join(found.split()).startswith(" ".join(row.split()))
    assert "0 of 1" in last


def test_a_failure_that_names_another_status_is_a_miss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expect = {"verdict": "http_error:502", "class": "provider_failure"}

    assert main(["judge", "--check", _file(tmp_path, {**BROKEN, "expect": expect})]) == 1
    assert "http_error:502  http_error:500" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expect", "wrong"),
    [
        pytest.param(None, "expect is missing", id="none"),
        pytest.param("ok", "expect is missing", id="a text"),
        pytest.param({"class": "ok"}, "expect.verdict is missing", id="no verdict"),
        pytest.param({"verdict": "ok"}, "expect.class is missing", id="no class"),
        pytest.param({**GOOD, "accept": "cut"}, "expect.accept is no list of texts", id="no list"),
    ],
)
def test_an_exchange_without_expectations_cant_be_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expect: object, wrong: str
) -> None:
    assert main(["judge", "--check", _file(tmp_path, {**exchange(), "expect": expect})]) == 2
    assert f"line 1: {wrong}" in capsys.readouterr().err


def test_a_check_of_nothing_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "--check", _file(tmp_path, "")]) == 2
    assert "holds no exchange" in capsys.readouterr().err


@pytest.mark.parametrize(("found", "same"), [(700.4, True), (700.6, False), (None, False)])
def test_a_moment_may_differ_by_half_a_millisecond(found: float | None, same: bool) -> None:
    compared = Comparison()
    said = {"id": "x", "verdict": "ok", "class": "ok", "first_byte_ms": found, "finish_reason": "stop", "why": ""}

    compared.add(said, GOOD)

    assert (not compared.misses) is same


# Phrases of one's own


def test_a_configurations_phrases_are_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "firstbyte.yaml"
    text = (FOLDER / "good-smallest.yaml").read_text() + "phrases: [The pump house is closed]\n"
    config.write_text(text.replace("    models", "    api_key_env: NOT_SET_HERE\n    models"), encoding="utf-8")
    file = _file(tmp_path, said_by("The pump house is closed until noon."))

    assert (main(["judge", file, "--config", str(config)]), main(["judge", file])) == (0, 0)

    own, plain = _said(capsys)
    assert (own["verdict"], own["first_byte_ms"]) == ("gateway_text", None)
    assert plain["verdict"] != "gateway_text"


def test_a_faulty_configuration_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "firstbyte.yaml"
    config.write_text((FOLDER / "good-smallest.yaml").read_text() + "phrases: [Sure]\n", encoding="utf-8")

    assert main(["judge", _file(tmp_path, exchange()), "--config", str(config)]) == 2
    assert 'phrases: a phrase is "Sure"' in capsys.readouterr().err


# The plain install, large files and terminals

WITHOUT = """
import sys
for name in ("yaml", "redis", "fastapi", "uvicorn", "apscheduler", "prometheus_client", "pydantic", "starlette"):
    sys.modules[name] = None
from monitor.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param([], 0, '"verdict": "ok"', id="without a configuration"),
        pytest.param(
            ["--config", "x.yaml"], 2, "--config needs the package 'yaml'; in a clone: pip install", id="with one"
        ),
    ],
)
def test_a_plain_install_judges(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    command = [sys.executable, "-c", WITHOUT, "judge", _file(tmp_path, exchange()), *words]

    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert (ran.returncode, said in ran.stdout + ran.stderr) == (code, True)


def test_lines_come_out_while_others_are_still_to_come() -> None:
    with subprocess.Popen([*FIRSTBYTE, "judge", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for name in ("first", "second"):
            process.stdin.write(json.dumps(exchange(id=name)).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == name
        process.stdin.close()
        assert process.wait(10) == 0


class Terminal(io.StringIO):
    """A stream that says that somebody looks."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("every_s", "shown"), [(0.0, True), (3600.0, False)], ids=["long", "soon done"])
def test_progress_shows_on_a_terminal_and_is_gone_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every_s: float, shown: bool
) -> None:
    monkeypatch.setattr("monitor.cli.progress._EVERY_S", every_s)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    assert main(["judge", "--check", _file(tmp_path, *({**exchange(), "expect": GOOD} for _ in range(3)))]) == 0

    said = terminal.getvalue()
    assert ("2 judged, 100%" in said) is shown
    assert said.endswith("\r") is shown
    assert not said.removesuffix("\r").rpartition("\r")[2].strip()


def test_no_progress_is_written_into_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitor.cli.progress._EVERY_S", 0.0)

    assert main(["judge", _file(tmp_path, exchange(), exchange())]) == 0
    assert capsys.readouterr().err == ""


def test_a_plain_answer_has_no_first_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {"choices": [{"index": 0, "message": {"content": "A heron."}, "finish_reason": "stop"}]}
    plain = exchange(stream=False, chunks=[{"at_ms": 400, "data": json.dumps(body)}])

    assert main(["judge", _file(tmp_path, plain)]) == 0
    (said,) = _said(capsys)
    assert (said["verdict"], said["first_byte_ms"], said["finish_reason"]) == ("ok", None, "stop")
