"""What is known of runs has room for so many."""

from breaker.run.packing import Packed
from breaker.switchboard.folded_runs import FoldedRuns, Kept


def packed(size: int) -> Packed:
    return Packed(bytes(size), b"", b"", b"")


def test_what_is_known_last_holds() -> None:
    runs = FoldedRuns()
    runs.keep("a", Kept("1", packed(1)))
    runs.keep("a", Kept("2", packed(3)))

    assert runs.get("a") == ("2", packed(3))
    assert runs.get("b") == ("", None)
    assert len(runs) == 1


def test_the_newest_have_room() -> None:
    runs = FoldedRuns(most_bytes=10_000)
    for name in ("a", "b", "c", "a", "d", "e"):
        runs.keep(name, Kept("1", packed(2_000)))
    known = [name for name in "abcde" if runs.get(name).packed]

    assert known == ["a", "c", "d", "e"]
    assert len(runs) * 2_000 < runs.bytes <= 10_000


def test_one_that_has_no_room_at_all_is_not_known() -> None:
    runs = FoldedRuns(most_bytes=1_000)
    runs.keep("a", Kept("1", packed(2_000)))
    runs.keep("b", Kept("1", packed(500)))

    assert (runs.get("a").packed, runs.get("b").packed) == (None, packed(500))
    runs.drop("b")
    runs.drop("b")
    assert (len(runs), runs.bytes) == (0, 0)
