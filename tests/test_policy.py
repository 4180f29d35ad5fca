from dataclasses import replace

import pytest

from breaker.policy import _BOUNDS, Flaw, Policy, flaws


def test_the_defaults_can_work() -> None:
    assert flaws(Policy()) == []


def test_spans_follow_the_interval() -> None:
    policy = Policy(interval_s=20.0, row_gap_intervals=2.0, fresh_intervals=3.0, silent_intervals=4.0)

    assert (policy.row_gap_s, policy.fresh_s, policy.silent_s) == (40.0, 60.0, 200.0)


@pytest.mark.parametrize("field", _BOUNDS)
@pytest.mark.parametrize("side", [0, 1], ids=["too low", "too high"])
def test_numbers_out_of_bounds_are_flaws(field: str, side: int) -> None:
    low, high = _BOUNDS[field]
    value = (low - 1, high + 1)[side]

    found = flaws(replace(Policy(), **{field: value}))  # type: ignore[arg-type] # whole numbers stay whole

    assert found == [Flaw(field, f"is {value:g}", f"choose a number from {low:g} to {high:g}")]


def test_no_number_is_a_flaw() -> None:
    assert [flaw.field for flaw in flaws(Policy(slow_s=float("nan")))] == ["slow_s"]


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        pytest.param(Policy(slow_s=120.0, silence_s=120.0), "slow_s", id="given up before it is slow"),
        pytest.param(Policy(half_open_s=200.0), "half_open_s", id="a good probe stale before the next"),
        pytest.param(Policy(hold_growth=2.0, hold_max_s=599.0), "hold_max_s", id="a hold that could never grow"),
        pytest.param(Policy(jitter_s=60.0), "jitter_s", id="as much jitter as interval"),
        pytest.param(Policy(confirm_s=151.0), "confirm_s", id="confirmed too late for a row"),
        pytest.param(
            Policy(half_open_s=151.0, fresh_intervals=9.0),
            "recover_row",
            id="half-open probes too far apart for a row",
        ),
        pytest.param(
            Policy(silent_intervals=1.0, slow_s=110.0, jitter_s=20.0),
            "silent_intervals",
            id="closed unverified between two probes",
        ),
        pytest.param(
            Policy(half_open_s=140.0, slow_s=110.0, silence_s=111.0, silent_intervals=2.0),
            "silent_intervals",
            id="closed unverified before a half-open probe tells",
        ),
    ],
)
def test_rules_that_could_never_trip_are_flaws(policy: Policy, field: str) -> None:
    assert [flaw.field for flaw in flaws(policy)] == [field]


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(Policy(interval_s=30.0), id="twice as many probes"),
        pytest.param(Policy(silence_s=3600.0), id="an answer may be silent for an hour"),
        pytest.param(Policy(confirm_s=151.0, probing=False), id="nothing is confirmed"),
        pytest.param(Policy(confirm_s=151.0, slow_row=1, errors_row=1), id="one bad answer is a row"),
        pytest.param(Policy(half_open_s=200.0, probing=False), id="no probes go stale"),
        pytest.param(Policy(half_open_s=200.0, recover_row=1, silent_intervals=4.0), id="one good probe is enough"),
        pytest.param(Policy(silent_intervals=1.0, probing=False), id="nobody waits for probes"),
    ],
)
def test_rules_that_dont_meet_are_no_flaws(policy: Policy) -> None:
    assert flaws(policy) == []


def test_all_joint_flaws_are_told_at_once() -> None:
    policy = Policy(slow_s=120.0, silence_s=110.0, interval_s=1.0, jitter_s=2.0)

    assert [flaw.field for flaw in flaws(policy)] == ["slow_s", "half_open_s", "jitter_s"]
