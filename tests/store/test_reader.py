"""No line of the store is read twice while it stands there, and none that has gone is remembered."""

from breaker.store.reader import Known, Reader


class Reading:
    """Reads numbers, and counts how often."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, line: str) -> int | None:
        self.read.append(line)
        return int(line) if line.isdigit() else None


def test_only_new_lines_are_read() -> None:
    known, reading = Known[int](), Reading()

    assert known.read(["1", "x", "2"], reading) == [1, None, 2]
    assert known.read(["x", "2", "3", "2"], reading) == [None, 2, 3, 2]
    assert reading.read == ["1", "x", "2", "3"]


def test_what_has_gone_is_forgotten() -> None:
    known, reading = Known[int](), Reading()

    for number in range(1_000):
        known.read([str(number), str(number + 1)], reading)
    assert len(known) == 2
    known.read([], reading)
    assert len(known) == 0

    known.read(["1"], reading)
    assert reading.read[-1] == "1"


def test_targets_are_told_apart_and_bins_come_back_alike() -> None:
    reader, line = Reader(), "1700000000 3 3 0 0 0"

    first = reader.log("a/m", ([], [], [line]), None, {})
    again = reader.log("a/m", ([], [], [line]), None, {})
    other = reader.log("b/m", ([], [], []), None, {})

    assert first == again
    assert first.bins[0] is again.bins[0]
    assert other.bins == ()
