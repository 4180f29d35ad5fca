"""What a process keeps of the circuits that it read or heard of."""

import pytest

from breaker.circuit import Circuit
from breaker.switchboard.snapshot import OLD_AFTER_S, STALE_AFTER_S, Snapshot


def known(*circuits: Circuit) -> Snapshot:
    """A snapshot that has known these, one after the other."""
    made = Snapshot()
    for circuit in circuits:
        made.keep("a/m", circuit)
    return made


FIFTH = Circuit(epoch="one", generation=5)
ANEW = Circuit(epoch="two", generation=1)


@pytest.mark.parametrize(
    ("snapshot", "circuit", "news"),
    [
        pytest.param(known(), FIFTH, True, id="nothing was known"),
        pytest.param(known(FIFTH), Circuit(epoch="one", generation=6), True, id="the next move"),
        pytest.param(known(FIFTH), FIFTH, False, id="what is known"),
        pytest.param(known(FIFTH), Circuit(epoch="one", generation=4), False, id="an earlier move"),
        pytest.param(known(FIFTH), ANEW, True, id="a store that began anew"),
        pytest.param(known(FIFTH, ANEW), Circuit(epoch="one", generation=6), False, id="an epoch that was left"),
        pytest.param(known(FIFTH, ANEW, FIFTH), ANEW, False, id="an epoch that was left for the one before"),
        pytest.param(known(FIFTH, ANEW, FIFTH), Circuit(epoch="one", generation=6), True, id="an epoch that is back"),
    ],
)
def test_only_what_is_newer_is_news(snapshot: Snapshot, circuit: Circuit, news: bool) -> None:
    assert snapshot.news("a/m", circuit) is news


def test_before_the_first_read_there_is_neither_age_nor_time() -> None:
    snapshot = Snapshot()

    assert (snapshot.age_s(5.0), snapshot.now(5.0), snapshot.fresh_s(5.0)) == (None, None, 0.0)


def test_a_snapshot_is_as_old_as_the_question_of_its_last_read() -> None:
    snapshot = Snapshot()
    for began, ended in ((10.0, 10.4), (9.0, 10.5)):  # two were on their way
        snapshot.told_time(began, ended, 1000.0)
        snapshot.was_read(began, ended)

    assert snapshot.age_s(10.5) == pytest.approx(0.5)
    assert snapshot.now(10.4) == pytest.approx(1000.2, abs=0.01)


def test_what_lies_in_a_part_that_is_gone_grows_old_by_itself() -> None:
    snapshot = Snapshot()
    snapshot.was_read(10.0, 10.1)

    assert snapshot.was_read(11.0, 11.1, {"b/m": "is gone"})
    assert not snapshot.was_read(12.0, 12.1, {"b/m": "is gone"})
    assert (snapshot.age_s(12.5, ["a/m"]), snapshot.age_s(12.5, ["a/m", "b/m"]), snapshot.age_s(12.5)) == (
        0.5,
        2.5,
        2.5,
    )
    assert snapshot.fresh_s(12.5, ["a/m"]) == OLD_AFTER_S - 0.5
    assert (snapshot.fresh_s(12.5, ["b/m"]), snapshot.fresh_s(12.5), snapshot.part_trouble) == (0.0, 0.0, "is gone")
    assert snapshot.was_read(13.0, 13.1)
    assert (snapshot.age_s(13.5), snapshot.part_trouble) == (0.5, "")


def test_a_part_that_was_never_there_leaves_its_targets_unknown() -> None:
    snapshot = Snapshot()
    snapshot.was_read(10.0, 10.1, {"b/m": "is gone"})

    assert (snapshot.age_s(10.5, ["b/m"]), snapshot.age_s(10.5, ["a/m"])) == (None, 0.5)
    assert (snapshot.fresh_s(10.5, ["b/m"]), snapshot.fresh_s(10.5)) == (0.0, 0.0)


def test_a_snapshot_is_stale_sooner_where_a_read_has_failed() -> None:
    """Where none has, we stood still ourselves."""
    snapshot = Snapshot()
    assert snapshot.was_read(10.0, 10.1)
    assert snapshot.fresh_s(10.0) == OLD_AFTER_S
    assert not snapshot.was_read(11.0, 11.1)

    assert snapshot.not_read("is gone")

    assert snapshot.fresh_s(11.25) == STALE_AFTER_S - 0.25
    assert snapshot.fresh_s(12.5) == 0
    assert not snapshot.not_read("is gone")
    assert snapshot.was_read(13.0, 13.1)
    assert snapshot.fresh_s(13.0) == OLD_AFTER_S
    assert snapshot.was_read(20.0, 20.1)  # by then it was too old
