"""Error rates: of all answers within two minutes, and of the last ten probes."""

from dataclasses import replace

import pytest

from breaker.circuit import Cause, Measure, due
from breaker.log import Bin, Entry, Log
from tests.circuit.made import CLOSED, POLICY, agents, counted, moved, said
from tests.entries import by_agent, failed, good, probes, slow

NOW = 1_000_000.0


def flapping(count: int, every_s: float, of: int = 2) -> list[Entry]:
    """Probes of which each second (or third …) one fails; the newest does, at NOW."""
    return [(good if i % of else failed)(NOW - i * every_s) for i in reversed(range(count))]


def test_half_of_ten_reports_within_two_minutes_open() -> None:
    log = replace(counted(NOW, ok=5, failure=3, late=2), reports=agents(failed(NOW - 1)))
    move = moved(CLOSED, log, NOW)

    assert (move.cause, move.circuit.open_until) == (Cause.ERROR_RATE, NOW + 600)
    assert move.why == "5 of 10 answers within 120 s were bad, the newest: http error 500 (agent)"
    assert move.measures == (Measure("rate_share", 0.5, 0.5), Measure("rate_answers", 10, 10))


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(counted(NOW, ok=6, failure=5), id="less than half"),
        pytest.param(counted(NOW, ok=4, failure=5), id="less than ten"),
        pytest.param(Log(bins=(Bin(NOW - 130, failure=10), Bin(NOW, ok=1))), id="too long ago"),
        pytest.param(Log(bins=(Bin(NOW + 3600, failure=20),)), id="in the future of a clock set back"),
    ],
)
def test_it_stays_closed(log: Log) -> None:
    assert due(CLOSED, replace(log, reports=agents(failed(NOW - 1))), POLICY, NOW) is None


def test_what_was_counted_before_the_last_move_counts_no_more() -> None:
    circuit = replace(CLOSED, moved_at=NOW - 5)

    log = replace(counted(NOW, failure=20), reports=agents(failed(NOW, began=NOW - 1)))
    assert due(circuit, replace(log, bins=(Bin(NOW - 10, failure=20),)), POLICY, NOW) is None


def test_right_after_a_move_busy_agents_are_told_by_those_that_are_kept() -> None:
    circuit = replace(CLOSED, moved_at=NOW + 1)
    log = counted(NOW + 9, ok=1000, failure=10)  # its bin is older than the move
    kept = [good(NOW + 3 + i / 10, began=NOW + 2) for i in range(20)]
    two_bad = [failed(NOW + 6 + i, began=NOW + 5) for i in range(2)]
    flaps = [(failed, good)[i % 2](NOW + 3 + i / 10, began=NOW + 2) for i in range(11)]

    assert due(circuit, replace(log, reports=agents(*kept, *two_bad)), POLICY, NOW + 9) is None
    assert moved(circuit, replace(log, reports=agents(*flaps)), NOW + 9).cause is Cause.ERROR_RATE


def test_a_good_answer_opens_nothing_though_it_makes_the_tenth() -> None:
    log = counted(NOW, ok=1, failure=9)

    assert due(CLOSED, replace(log, reports=agents(failed(NOW - 2), good(NOW - 1))), POLICY, NOW) is None
    assert due(CLOSED, log, POLICY, NOW) is None


def test_probes_and_reports_count_together() -> None:
    log = replace(counted(NOW, ok=5, failure=4), probes=(failed(NOW - 1),), reports=agents(failed(NOW - 2)))

    assert moved(CLOSED, log, NOW).measures[1] == Measure("rate_answers", 10, 10)


def test_where_agents_report_much_two_bad_reports_need_the_bad_probe_that_confirms_them() -> None:
    two = agents(failed(NOW - 3, name="r1"), failed(NOW - 2, name="r2"))
    busy = replace(counted(NOW, ok=18, failure=2), reports=two)

    assert due(CLOSED, busy, POLICY, NOW) is None
    assert moved(CLOSED, replace(busy, bins=()), NOW).cause is Cause.ERRORS
    confirmed = replace(busy, probes=(failed(NOW - 1, confirms="r2"),))
    assert moved(CLOSED, confirmed, NOW).cause is Cause.ERRORS
    assert due(CLOSED, replace(busy, probes=(good(NOW - 1, confirms="r2"),)), POLICY, NOW) is None


def test_a_flapper_is_out_though_no_two_are_bad_in_a_row() -> None:
    move = moved(CLOSED, probes(*flapping(11, 60.0)), NOW)

    assert move.cause is Cause.ERROR_RATE
    assert move.why.startswith("5 of the last 10 probes were bad, the newest: http error 500 (probe), ")


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(probes(*flapping(8, 60.0)), id="too few"),
        pytest.param(probes(*flapping(11, 140.0)), id="too rare"),
        pytest.param(probes(*flapping(12, 60.0, of=3)), id="too seldom"),
        pytest.param(probes(*flapping(10, 60.0), good(NOW + 0.5)), id="the newest is good"),
    ],
)
def test_probes_that_are_seldom_bad_keep_it_closed(log: Log) -> None:
    assert due(CLOSED, log, POLICY, NOW + 0.5) is None


def test_slow_ones_are_bad_and_what_says_nothing_is_not_counted() -> None:
    bad = [slow(NOW - 60.0 * i) if i % 2 == 0 else good(NOW - 60.0 * i) for i in range(10)]
    neutral = [said(NOW - 60.0 * i - 30, 400) for i in range(10)]

    assert moved(CLOSED, probes(*sorted([*bad, *neutral], key=lambda e: e.at)), NOW).cause is Cause.ERROR_RATE


def test_a_report_of_long_ago_is_not_named() -> None:
    log = replace(counted(NOW, failure=10), reports=(by_agent(failed(NOW - 400)), by_agent(failed(NOW - 1))))

    assert len(moved(CLOSED, log, NOW).answers) == 1
