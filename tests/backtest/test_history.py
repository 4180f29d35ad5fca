"""Answers rebuilt from scrapes, where a process ends and begins again, and where little is told."""

import pytest

from breaker.verdict import Verdict
from monitor.backtest import Step
from monitor.backtest.history import _Instance, _Scrape
from monitor.metrics import names

STARTS = f"{names.START_DELAY.name}_count"


def scrape(
    finished: float | None = None,
    *,
    took: float | None = None,
    probes: float = 0,
    slow: float = 0,
    starts: float = 0,
    **failures: float,
) -> _Scrape:
    """What one scrape shows."""
    values = {names.PROBES.name: probes, names.PROBE_SLOW.name: slow, STARTS: starts, names.SLOW_LIMIT.name: 40.0}
    if finished is not None:
        values[names.LAST_FINISHED.name] = finished
    if took is not None:
        values[names.LAST_DURATION.name] = took
    return _Scrape(values=values, failures={Verdict(name): count for name, count in failures.items()})


def rebuilt(*scrapes: _Scrape, every_s: float = 15) -> tuple[list[Step], int]:
    """The steps of scrapes at 0, 15, 30 … s, and how many were lost."""
    instance = _Instance()
    steps = list(instance.steps([(every_s * i, each) for i, each in enumerate(scrapes)]))
    return steps, instance.lost


def test_what_stood_there_at_first_ended_before() -> None:
    assert rebuilt(scrape(5, took=2, probes=9), scrape(5, took=2, probes=9)) == ([], 0)


def test_a_process_that_begins_again_counts_from_0() -> None:
    steps, lost = rebuilt(
        scrape(5, took=2, probes=9, http_error=3),
        scrape(probes=0, http_error=0),
        scrape(40, probes=1, http_error=1),
        scrape(50, took=3, probes=2, http_error=1),
    )

    assert [(step.done_at_s, step.verdict) for step in steps] == [(40, Verdict.HTTP_ERROR), (50, Verdict.OK)]
    assert lost == 0


def test_a_process_that_begins_again_and_fails_between_two_scrapes_has_failed_once() -> None:
    steps, lost = rebuilt(scrape(5, took=2, probes=9, cut=3), scrape(20, probes=1, cut=1))

    assert [step.verdict for step in steps] == [Verdict.CUT]
    assert lost == 0


def test_a_failure_that_no_counter_tells_of_is_lost() -> None:
    assert rebuilt(scrape(5, took=2, probes=9), scrape(20, probes=10)) == ([], 1)


@pytest.mark.parametrize(
    ("scrapes", "took_s"),
    [
        pytest.param(
            [scrape(starts=1, http_error=0), scrape(10, starts=2, probes=1, http_error=1)], 0, id="between two"
        ),
        pytest.param(
            [scrape(http_error=0), scrape(starts=1, http_error=0), scrape(29, starts=1, probes=1, http_error=1)],
            14,
            id="seen while it ran",
        ),
        pytest.param([scrape(http_error=0), scrape(10, probes=1, http_error=1)], 0, id="no start seen"),
        pytest.param(
            [
                scrape(http_error=0),
                *[scrape(starts=1, http_error=0)] * 8,
                scrape(130, starts=1, slow=1, probes=1, http_error=1),
            ],
            115,
            id="slow",
        ),
        pytest.param(
            [
                scrape(http_error=0),
                *[scrape(starts=1, http_error=0)] * 4,
                scrape(starts=2, http_error=0),
                scrape(85, starts=2, slow=1, probes=1, http_error=1),
            ],
            70,
            id="slow, with a confirming one begun meanwhile",
        ),
        pytest.param([scrape(http_error=0), scrape(10, slow=1, probes=1, http_error=1)], 40.001, id="slow, no start"),
    ],
)
def test_how_long_a_failure_took_is_told_by_the_scrapes_around_its_start(scrapes: list[_Scrape], took_s: float) -> None:
    (step,), _ = rebuilt(*scrapes)

    assert step.seconds == pytest.approx(took_s)
    assert step.late(40.0) is (took_s > 40)
