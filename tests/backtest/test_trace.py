"""Traces in CSV: what is read, and what is said of those that can't be."""

from pathlib import Path

import pytest

from breaker.verdict import Verdict
from monitor.backtest import Step
from monitor.backtest.faults import TraceError
from monitor.backtest.trace import read, steps_of

TRACE = Path(__file__).parents[1] / "traces" / "six-hours.csv"


def steps(text: str) -> list[Step]:
    """The steps of a text."""
    return steps_of(text.encode(), "a.csv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "done_at_s,seconds\n10,4\n", Step(began_at_s=6, seconds=4, first_byte_s=None), id="done at, and seconds"
        ),
        pytest.param("began_at_s,seconds\n10,4\n", Step(began_at_s=10, seconds=4), id="began at, and seconds"),
        pytest.param(
            "began_at_s,first_byte_s\n10,4\n", Step(began_at_s=10, seconds=4, first_byte_s=4), id="first byte alone"
        ),
        pytest.param(
            "done_at_s,first_byte_s,seconds\n10,1,4\n", Step(began_at_s=6, seconds=4, first_byte_s=1), id="both times"
        ),
        pytest.param(
            "began_at_s,done_at_s,seconds\n1,99,4\n",
            Step(began_at_s=1, seconds=4),
            id="the begin counts where both are",
        ),
        pytest.param("began_at_s,done_at_s,seconds\n,9,4\n", Step(began_at_s=5, seconds=4), id="an empty begin"),
        pytest.param(
            "done_at_s,seconds\n0,5.85\n", Step(began_at_s=-5.85, seconds=5.85), id="before the trace's begin"
        ),
        pytest.param(
            "began_at_s,seconds,verdict\n0,1,http_error\n",
            Step(began_at_s=0, seconds=1, verdict=Verdict.HTTP_ERROR),
            id="a verdict",
        ),
        pytest.param("began_at_s,seconds,verdict\n0,1,\n", Step(began_at_s=0, seconds=1), id="an empty verdict"),
        pytest.param("kind, began_at_s ,seconds\nx, 0 , 1 \n", Step(began_at_s=0, seconds=1), id="blanks and columns"),
        pytest.param('\ufeffbegan_at_s,"seconds"\r\n"0",1\r\n\r\n', Step(began_at_s=0, seconds=1), id="as Excel saves"),
        pytest.param("\nbegan_at_s,seconds\n\n0,1", Step(began_at_s=0, seconds=1), id="blank lines"),
        pytest.param("seconds,began_at_s\n1e-1,1e3\n", Step(began_at_s=1000, seconds=0.1), id="exponents"),
    ],
)
def test_reads(text: str, expected: Step) -> None:
    assert steps(text) == [expected]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "a.csv is empty; its first line names the columns", id="empty"),
        pytest.param("\n \n", "a.csv is empty", id="blank"),
        pytest.param("done_at_s,seconds\n", "a.csv holds no answers; below the line with the columns", id="head alone"),
        pytest.param(
            "time,seconds\n1,2\n",
            "a.csv, line 1: no column tells when an answer was: there are 'time, seconds'; name one began_at_s or",
            id="no time",
        ),
        pytest.param(
            "done_at,seconds\n1,2\n", "name one began_at_s or done_at_s (is it 'done_at'?)", id="a misspelt time"
        ),
        pytest.param("began_at_s,latency\n", "no column tells how long an answer took", id="no latency"),
        pytest.param("began_at_s;seconds\n1;2\n", "and put commas between the columns", id="semicolons"),
        pytest.param(
            "began_at_s,seconds,seconds\n", "a.csv, line 1: the column seconds is there twice", id="a column twice"
        ),
        pytest.param(
            "began_at_s,seconds\n0,1\n60,soon\n",
            "a.csv, line 3: seconds is 'soon', not a number; write seconds, such as 12.5",
            id="no number",
        ),
        pytest.param("began_at_s,seconds\n0,nan\n", "line 2: seconds is 'nan'; write seconds, not milli", id="nan"),
        pytest.param("began_at_s,seconds\n1e400,1\n", "line 2: began_at_s is '1e400'; write seconds", id="infinite"),
        pytest.param(
            "began_at_s,seconds\n1764475200000,1\n", "not milliseconds, and less than 1e+11", id="milliseconds"
        ),
        pytest.param(
            "began_at_s,seconds\n0,-1\n", "line 2: seconds is -1; write how many seconds it took", id="negative"
        ),
        pytest.param(
            "began_at_s,seconds\n,1\n", "line 2: nothing is written in began_at_s; write a number", id="no begin"
        ),
        pytest.param(
            "began_at_s,seconds,first_byte_s\n0,,\n", "nothing is written in seconds and first_byte_s", id="both"
        ),
        pytest.param(
            "began_at_s,seconds,first_byte_s\n0,1,2\n", "first_byte_s is 2, after the end at seconds = 1", id="order"
        ),
        pytest.param(
            "began_at_s,seconds,verdict\n0,1,http_eror\n",
            "verdict is 'http_eror', which is none that a finished answer can have; did you mean http_error?",
            id="a misspelt verdict",
        ),
        pytest.param("began_at_s,seconds,verdict\n0,1,pending\n", "verdict is 'pending', which is none", id="pending"),
        pytest.param("began_at_s,seconds,verdict\n0,1,???\n", "leave it empty for a good answer", id="no verdict"),
        pytest.param(
            "began_at_s,seconds\n0,1,2\n", "line 2: it has 3 values, the line with the columns 2", id="too many"
        ),
        pytest.param("began_at_s,seconds\n0\n", "line 2: it has 1 values", id="too few"),
        pytest.param('began_at_s,seconds\n"0,1\n', "it is not CSV", id="an open quotation mark"),
        pytest.param(f"began_at_s,seconds\n0,{'9' * 500}\n", f"seconds is '{'9' * 39}…'", id="a long value"),
    ],
)
def test_says_what_is_wrong_where_and_what_to_do(text: str, said: str) -> None:
    with pytest.raises(TraceError) as raised:
        steps(text)

    assert said in str(raised.value)


def test_what_is_no_text_is_named_with_its_line() -> None:
    with pytest.raises(TraceError, match=r"a\.csv, line 2: it is not UTF-8; save the file as CSV in UTF-8"):
        steps_of(b"began_at_s,seconds\n\xff\xfe,1\n", "a.csv")


def test_all_bad_lines_are_named_at_once_but_not_without_end() -> None:
    with pytest.raises(TraceError) as raised:
        steps("began_at_s,seconds\n" + "0,x\n" * 30)

    lines = str(raised.value).splitlines()
    assert lines[0].startswith("a.csv, line 2: ")
    assert lines[9].startswith("a.csv, line 11: ")
    assert lines[10:] == ["… and 20 more lines"]


def test_a_real_trace_is_read_whole() -> None:
    assert len(read(str(TRACE))) == 297


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"can't read .*gone\.csv: No such file"):
        read(str(tmp_path / "gone.csv"))
    with pytest.raises(TraceError, match=r"can't read .*: Is a directory"):
        read(str(tmp_path))
