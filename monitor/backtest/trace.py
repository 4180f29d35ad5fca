"""Reads a trace from CSV: one recorded answer a line."""

import csv
import difflib
import io
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from breaker.verdict import Verdict
from monitor.backtest.faults import TraceError
from monitor.backtest.step import FACTS, Step

TIMES = ("began_at_s", "done_at_s")
LATENCIES = ("seconds", "first_byte_s")
COLUMNS = (*TIMES, *LATENCIES, "verdict")
# Seconds since 1970, in milliseconds by mistake, are far beyond this.
MAX_S = 1e11
# What one message shows; whoever has more has one cause for most of them.
SHOWN = 10
_SHOWN_CHARS = 40
_WORDS = {verdict.value: verdict for verdict in FACTS}

Line = Mapping[str, str]


def read(name: str) -> list[Step]:
    """The steps of a file, in its order; `-` is the standard input.

    Raises TraceError with the faults of all lines, or where there is nothing to read.
    """
    try:
        if name == "-":
            return steps_of(sys.stdin.buffer.read(), "standard input")
        return steps_of(Path(name).read_bytes(), name)
    except OSError as error:
        raise TraceError(f"can't read {name}: {error.strerror}") from None


def steps_of(raw: bytes, source: str) -> list[Step]:
    """The steps of a file's content; `source` is its name for messages."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise TraceError(f"{source}, line {line}: it is not UTF-8; save the file as CSV in UTF-8") from None
    steps, faults = list[Step](), list[str]()
    for number, values in _lines(text, source):
        try:
            steps.append(_step(values))
        except ValueError as fault:
            faults.append(f"{source}, line {number}: {fault}")
    if faults:
        left = len(faults) - SHOWN
        raise TraceError("\n".join([*faults[:SHOWN], *([f"… and {left} more lines"] if left > 0 else [])]))
    if not steps:
        raise TraceError(f"{source} holds no answers; below the line with the columns, write one answer a line")
    return steps


def _lines(text: str, source: str) -> Iterator[tuple[int, Line]]:
    """Each line that isn't blank, with its number from 1, by the names of the columns."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next((row for row in reader if _filled(row)), None)
        if head is None:
            raise TraceError(f"{source} is empty; its first line names the columns, such as done_at_s,seconds,verdict")
        names = [name.strip() for name in head]
        _check_head(names, f"{source}, line {reader.line_num}")
        for row in reader:
            if not _filled(row):
                continue
            if len(row) != len(names):
                count = f"it has {len(row)} values, the line with the columns {len(names)}"
                raise TraceError(
                    f"{source}, line {reader.line_num}: {count}; give each column a value, if an empty one"
                )
            yield reader.line_num, dict(zip(names, (cell.strip() for cell in row), strict=True))
    except csv.Error as error:
        hint = "look for a quotation mark that is opened and not closed"
        raise TraceError(f"{source}, line {reader.line_num}: it is not CSV ({error}); {hint}") from None


def _filled(row: Iterable[str]) -> bool:
    return any(cell.strip() for cell in row)


def _check_head(names: list[str], place: str) -> None:
    twice = next((name for name in COLUMNS if names.count(name) > 1), None)
    if twice:
        raise TraceError(f"{place}: the column {twice} is there twice; remove one of them")
    for wanted, meaning in ((TIMES, "tells when an answer was"), (LATENCIES, "tells how long an answer took")):
        if not set(names) & set(wanted):
            wrong = f"no column {meaning}: there are {_shown(', '.join(names))}"
            raise TraceError(f"{place}: {wrong}; name one {' or '.join(wanted)}{_near(names, wanted)}")


def _near(names: list[str], wanted: tuple[str, ...]) -> str:
    if len(names) == 1 and any(sign in names[0] for sign in ";\t"):
        return ", and put commas between the columns"
    found = next((near[0] for name in wanted if (near := difflib.get_close_matches(name, names, n=1))), None)
    return f" (is it {_shown(found)}?)" if found else ""


def _step(line: Line) -> Step:
    """Raises ValueError with column, value and remedy."""
    verdict = _verdict(line)
    whole_s, first_byte_s = _latency(line, "seconds"), _latency(line, "first_byte_s")
    seconds = whole_s if whole_s is not None else first_byte_s
    if seconds is None:
        raise ValueError(_empty(line, LATENCIES))
    if first_byte_s is not None and first_byte_s > seconds:
        wrong = f"first_byte_s is {line['first_byte_s']}, after the end at seconds = {line['seconds']}"
        raise ValueError(f"{wrong}; both count from the moment when the answer was asked for")
    began_at_s, done_at_s = _number(line, "began_at_s"), _number(line, "done_at_s")
    if began_at_s is None and done_at_s is None:
        raise ValueError(_empty(line, TIMES))
    began = began_at_s if began_at_s is not None else (done_at_s or 0.0) - seconds
    return Step(began_at_s=began, seconds=seconds, first_byte_s=first_byte_s, verdict=verdict)


def _empty(line: Line, wanted: tuple[str, ...]) -> str:
    there = " and ".join(name for name in wanted if name in line)
    return f"nothing is written in {there}; write a number of seconds"


def _verdict(line: Line) -> Verdict:
    word = line.get("verdict", "")
    if not word:
        return Verdict.OK
    if word not in _WORDS:
        near = difflib.get_close_matches(word.lower(), _WORDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"leave it empty for a good answer, or write {', '.join(_WORDS)}"
        raise ValueError(f"verdict is {_shown(word)}, which is none that a finished answer can have; {hint}")
    return _WORDS[word]


def _latency(line: Line, name: str) -> float | None:
    value = _number(line, name)
    if value is not None and value < 0:
        raise ValueError(f"{name} is {line[name]}; write how many seconds it took, 0 or more")
    return value


def _number(line: Line, name: str) -> float | None:
    text = line.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} is {_shown(text)}, not a number; write seconds, such as 12.5") from None
    if not math.isfinite(value) or abs(value) > MAX_S:
        raise ValueError(f"{name} is {_shown(text)}; write seconds, not milliseconds, and less than {MAX_S:g}")
    return value


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…")
