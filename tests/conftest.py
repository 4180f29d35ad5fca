"""What holds for every test: where CI=true, a skipped test has failed."""

import os
from collections.abc import Generator
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

# How long a machine takes says nothing of what is tested; CI shall find the same today and tomorrow.
settings.register_profile(
    "firstbyte",
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("firstbyte")

_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)
_NOTHING_MAY_BE_SKIPPED = os.environ.get("CI") == "true"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of one phase of a test, failed where it would say skipped."""
    return _failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The report of a collected file, failed where it would say skipped."""
    return _failed_if_skipped((yield))


def _failed_if_skipped(report: _Report) -> _Report:
    expected_to_fail = hasattr(report, "wasxfail")
    if _NOTHING_MAY_BE_SKIPPED and report.skipped and not expected_to_fail:
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped where CI=true, but: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
