"""How long a circuit is held, and how a hold grows where that is wanted."""

from dataclasses import replace

import pytest

from breaker.circuit import Cause, Circuit, due, next_due
from breaker.log import Log
from tests.circuit.made import CLOSED, POLICY, moved, opened, said
from tests.entries import failed, good, probes

GROWING = replace(POLICY, hold_growth=2.0, hold_max_s=3600.0)
CLOSED_LATELY = Circuit(epoch="e", generation=5, cause=Cause.RECOVERED, moved_at=-100.0, hold_s=600.0)


def failing(at: float) -> Log:
    """Two failed probes, the newer at this moment."""
    return probes(failed(at - 20), failed(at))


def test_by_default_every_hold_is_ten_minutes() -> None:
    assert moved(CLOSED_LATELY, failing(0.0), 0.0).circuit.hold_s == 600.0


@pytest.mark.parametrize(
    ("circuit", "hold_s"),
    [
        pytest.param(CLOSED, 600.0, id="the first"),
        pytest.param(CLOSED_LATELY, 1200.0, id="opened again"),
        pytest.param(replace(CLOSED_LATELY, hold_s=1200.0), 2400.0, id="and again"),
        pytest.param(replace(CLOSED_LATELY, hold_s=2400.0), 3600.0, id="up to the limit"),
        pytest.param(replace(CLOSED_LATELY, moved_at=-3600.0), 600.0, id="after a good hour"),
        pytest.param(replace(CLOSED_LATELY, hold_s=100.0), 600.0, id="after a shorter policy"),
    ],
)
def test_a_growing_hold_grows_each_time_it_opens_again_soon(circuit: Circuit, hold_s: float) -> None:
    after = moved(circuit, failing(0.0), 0.0, GROWING).circuit

    assert (after.hold_s, after.open_until) == (hold_s, hold_s)


def test_a_half_open_circuit_that_opens_again_grows_too() -> None:
    after = moved(opened(Cause.ERRORS, moved_at=-9_000.0), failing(1605.0), 1605.0, GROWING).circuit

    assert (after.hold_s, after.open_until) == (1200.0, 2805.0)


def test_a_time_to_wait_neither_grows_nor_forgets() -> None:
    limited = moved(CLOSED_LATELY, probes(said(0.0, 429, retry_after_s=30.0)), 0.0, GROWING).circuit

    assert (limited.open_until, limited.hold_s) == (30.0, 600.0)


def test_while_our_own_network_was_down_silence_says_nothing() -> None:
    circuit, now = opened(Cause.ERRORS), 2500.0

    assert moved(circuit, Log(), now).cause is Cause.UNVERIFIED
    assert due(circuit, Log(), POLICY, now, blind_until=2450.0) is None
    assert next_due(circuit, Log(), POLICY, now, blind_until=2450.0) == 2450.0 + POLICY.silent_s
    seen = probes(good(2460.0), good(2475.0))
    move = due(circuit, seen, POLICY, 2480.0, blind_until=2450.0)
    assert move is not None
    assert move.cause is Cause.RECOVERED
