"""What is written behind everybody's back: in its order, bounded, and told of where it is lost."""

import contextlib
import fcntl
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from monitor.outlet import Descriptor, File, Outlet, lines_dropped, unhindered, unread
from tests.processes import FIRSTBYTE, ROOT, environment


class Slow:
    """Takes what it is given once it is let; with `fails`, nothing."""

    def __init__(self) -> None:
        self.went = threading.Event()
        self.came = threading.Event()
        self.written = b""
        self.at_once = 1_000_000
        self.fails = False

    def __call__(self, lines: bytes) -> int:
        self.came.set()
        assert self.went.wait(60)
        if self.fails:
            raise OSError(28, "No space left on device")
        self.written += lines[: self.at_once]
        return min(len(lines), self.at_once)


class Told:
    """What an outlet told of its losses."""

    def __init__(self) -> None:
        self.said: list[int | str] = []

    def losing(self) -> None:
        self.said.append("losing")

    def lost(self, lines: int) -> None:
        self.said.append(lines)


@pytest.fixture
def place() -> Slow:
    return Slow()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def outlet(place: Slow, told: Told) -> Iterator[Outlet]:
    made = Outlet(place, losing=told.losing, lost=told.lost, most_bytes=100)
    yield made
    place.went.set()
    assert made.close(60)


def until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.005)


def test_whoever_puts_waits_for_nobody_and_all_is_written_in_its_order(outlet: Outlet, place: Slow) -> None:
    place.at_once = 3  # as a full pipe takes it
    for number in range(20):
        outlet.put(b"%d\n" % number)
    place.went.set()

    assert outlet.close(60)
    assert place.written == b"".join(b"%d\n" % number for number in range(20))
    assert outlet.dropped == 0


def test_what_finds_no_room_is_dropped_and_told_of_once_all_is_written_again(
    outlet: Outlet, place: Slow, told: Told
) -> None:
    for _ in range(7):
        outlet.put(b"x" * 39 + b"\n")
    assert (outlet.dropped, told.said) == (5, ["losing"])

    place.went.set()
    until(lambda: len(told.said) > 1)
    outlet.put(b"more\n")
    assert outlet.close(60)

    assert told.said == ["losing", 5]
    assert place.written == 2 * (b"x" * 39 + b"\n") + b"more\n"


def test_what_cannot_be_written_is_dropped_and_told_of_once_something_is(
    outlet: Outlet, place: Slow, told: Told
) -> None:
    place.fails = True
    place.went.set()
    for number in range(3):
        outlet.put(b"one\ntwo\n")
        until(lambda wanted=2 * (number + 1): outlet.dropped == wanted)  # type: ignore[misc] # each its own
    place.fails = False
    outlet.put(b"again\n")
    assert outlet.close(60)

    assert told.said == ["losing", 6]
    assert place.written == b"again\n"


def test_half_a_line_spoils_no_other(told: Told) -> None:
    written, room = [], [5, 0, 60]

    def write(lines: bytes) -> int:
        if not (here := room.pop(0)):
            raise OSError(28, "No space left on device")
        written.append(lines[:here])
        return min(here, len(lines))

    outlet = Outlet(write, lost=told.lost)
    outlet.put(b"a line that is cut\n")
    until(lambda: outlet.dropped == 1)
    outlet.put(b"a whole one\n")
    assert outlet.close(60)

    assert b"".join(written) == b"a lin\na whole one\n"
    assert told.said == [1]


def test_a_write_that_never_ends_holds_up_no_end(place: Slow) -> None:
    outlet = Outlet(place)
    outlet.put(b"first\n")
    assert place.came.wait(60)
    outlet.put(b"second\n")

    assert not outlet.close(0.01)
    outlet.put(b"third\n")

    assert outlet.dropped == 2
    place.went.set()


def test_a_descriptor_that_another_made_not_blocking_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    outlet = Outlet(Descriptor(writing))
    outlet.put(b"at last\n")
    found = b""
    while b"at last\n" not in found:
        found = found[-100:] + os.read(reading, 65_536)

    assert outlet.close(60)
    assert outlet.dropped == 0
    os.close(reading)
    os.close(writing)


def test_a_file_that_was_moved_away_or_deleted_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    file = File(str(path))
    file(b"one\n")
    path.rename(tmp_path / "audit.1")
    file(b"two\n")
    path.unlink()
    file(b"three\n")
    file(b"four\n")
    file.close()

    assert (tmp_path / "audit.1").read_text() == "one\n"
    assert path.read_text() == "three\nfour\n"


def test_a_folder_that_vanished_loses_lines_until_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "audit"
    path.parent.mkdir()
    file = File(str(path))
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(FileNotFoundError):
        file(b"one\n")
    path.parent.mkdir()
    file(b"two\n")
    file.close()

    assert path.read_text() == "two\n"


def test_what_is_printed_meanwhile_goes_where_it_went(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr, lines_dropped()
    with unhindered(Told().lost):
        print("to one \udc80", flush=True)  # noqa: T201 # what a command does
        print("to the other", file=sys.stderr)  # noqa: T201
        assert (sys.stdout.fileno(), sys.stdout.isatty()) == (before[0].fileno(), False)

    assert capfd.readouterr() == ("to one \\udc80\n", "to the other\n")
    assert (sys.stdout, sys.stderr, lines_dropped()) == before


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["closed", "no file"])
def test_a_stream_that_is_no_file_stays(stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", stream)
    with unhindered(Told().lost):
        assert sys.stdout is stream
    assert sys.stdout is stream


LAST_WORDS = """
import sys
from monitor.outlet import unhindered
with unhindered(lambda lines: None):
    print("while it serves", file=sys.stderr)
print("why it ends", file=sys.stderr)
raise SystemExit(7)
"""


@contextlib.contextmanager
def full_pipe() -> Iterator[int]:
    """The end for writing of one that takes nothing, and that nobody reads."""
    reading, writing = os.pipe()
    os.write(writing, b"x" * fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096))
    try:
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


def test_the_last_word_of_a_process_that_nobody_reads_does_not_keep_it_from_ending() -> None:
    with full_pipe() as stderr:
        done = subprocess.run([sys.executable, "-c", LAST_WORDS], cwd=ROOT, stderr=stderr, timeout=120, check=False)

    assert done.returncode == 7


@pytest.mark.parametrize("command", ["run", "serve", "monitor", "guard"])
def test_a_service_that_cannot_begin_ends_also_where_nobody_reads_why(command: str, tmp_path: Path) -> None:
    file = tmp_path / "firstbyte.yaml"
    file.write_text("targets: 7\n", encoding="utf-8")
    words = [*FIRSTBYTE, command, "--config", str(file)]
    with full_pipe() as stderr:
        done = subprocess.run(words, env=environment(tmp_path), stderr=stderr, timeout=120, check=False)
    told = subprocess.run(words, env=environment(tmp_path), capture_output=True, timeout=120, check=False)

    assert (done.returncode, told.returncode) == (2, 2)
    assert told.stderr.startswith(b"firstbyte: the configuration can't be used\n")


def test_a_pipe_is_unread_once_nobody_has_its_other_end(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    before = unread(writing)
    os.close(reading)
    after = unread(writing)
    os.close(writing)
    with (tmp_path / "log").open("wb") as file:
        other = unread(file.fileno())

    assert (before, after, other) == (False, True, False)
    assert not unread(999_999)
