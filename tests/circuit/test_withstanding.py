"""What no number of bad reports can do."""

from dataclasses import replace

import pytest

from breaker.circuit import Circuit, withstands
from breaker.log import Bin, Entry, Log
from tests.circuit.made import CLOSED, POLICY, agents, counted
from tests.entries import failed, good

NOW = 1_000_005.0
BUSY = replace(counted(NOW, ok=300, failure=10), probes=(good(NOW - 9),), reports=agents(good(NOW - 1), failed(NOW)))


def test_busy_agents_whose_reports_are_mostly_good_may_report_a_hundred_bad_ones() -> None:
    assert withstands(CLOSED, BUSY, POLICY, NOW, 100)


@pytest.mark.parametrize(
    ("circuit", "log", "more"),
    [
        pytest.param(CLOSED, BUSY, 292, id="more than half would be bad"),
        pytest.param(CLOSED, replace(BUSY, bins=(Bin(NOW - 5, ok=9),)), 1, id="a row of two would count"),
        pytest.param(CLOSED, replace(BUSY, bins=(Bin(NOW - 125, ok=900),)), 1, id="the good ones are too long ago"),
        pytest.param(replace(CLOSED, moved_at=NOW - 1), BUSY, 1, id="its bin holds reports from before it moved"),
        pytest.param(replace(CLOSED, moved_at=NOW + 60), BUSY, 1, id="a clock set back moves it"),
        pytest.param(CLOSED, replace(BUSY, probes=(failed(NOW - 8), failed(NOW - 4))), 1, id="its probes open it"),
        pytest.param(CLOSED, Log(), 0, id="nothing is known"),
    ],
)
def test_it_may_open(circuit: Circuit, log: Log, more: int) -> None:
    assert not withstands(circuit, log, POLICY, NOW, more)


@pytest.mark.parametrize("probe", [good(NOW + 0.5), good(NOW - 5)], ids=["ahead of our clock", "before"])
def test_the_bad_reports_count_as_the_newest_answers(probe: Entry) -> None:
    log = replace(counted(NOW, ok=10, failure=5), probes=(probe,))

    assert withstands(CLOSED, log, POLICY, NOW, 5)
    assert not withstands(CLOSED, log, POLICY, NOW, 6)
