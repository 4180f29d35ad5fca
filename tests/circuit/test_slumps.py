"""A slump: several times slower than usual, for long enough to be beyond doubt."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from breaker.circuit import Cause, State, due, learnt
from breaker.log import Entry, Log
from breaker.usual import ENOUGH, UNKNOWN, typical_s
from tests.circuit.made import CLOSED, POLICY, agents, moved, opened, usual_of, waited
from tests.entries import entry, failed, good, probes, silent

USUAL = usual_of(4.0)


def log(waits: Sequence[float], end: float, *, every_s: float = 60.0, known: bool = True) -> Log:
    """Good probes with these first bytes, the newest at `end`."""
    made = [waited(end - every_s * i, wait, began=end - every_s * i - wait) for i, wait in enumerate(reversed(waits))]
    return Log(probes=tuple(reversed(made)), usual=USUAL if known else UNKNOWN)


def test_a_target_that_stays_several_times_slower_than_usual_is_left() -> None:
    move = moved(CLOSED, log([20.0] * 12, 0.0), 0.0)

    assert (move.cause, move.circuit.open_until) == (Cause.SLUMP, 600.0)
    assert move.why.startswith(
        f"first bytes come far later than this target's usual {typical_s(USUAL):.1f} s, now 20.0 s in the median: "
        "4 more, 20.0 s (probe), "
    )
    assert [m.what for m in move.measures] == ["slump_factor", "evidence"]
    assert 4.5 < move.measures[0].value < 5.5
    assert move.measures[1].value == move.measures[1].limit == ENOUGH


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(log([4.0] * 30, 0.0), id="as usual"),
        pytest.param(log([4.0] * 10 + [35.0], 0.0), id="one spike"),
        pytest.param(log([20.0, 4.0, 4.0] * 8, 0.0), id="every third"),
        pytest.param(log([7.0] * 30, 0.0), id="not several times"),
        pytest.param(log([20.0] * 12 + [4.0], 0.0), id="the newest is quick"),
        pytest.param(log([20.0] * 12, -200.0), id="the newest is old"),
        pytest.param(log([20.0] * 30, 0.0, known=False), id="nothing is usual yet"),
        pytest.param(
            Log(reports=agents(*log([20.0] * 30, 0.0).probes), usual=USUAL), id="agents' steps are of any size"
        ),
    ],
)
def test_it_stays_closed(seen: Log) -> None:
    assert due(CLOSED, seen, POLICY, 0.0) is None


def test_it_can_be_switched_off() -> None:
    assert due(CLOSED, log([20.0] * 20, 0.0), replace(POLICY, slump=False), 0.0) is None


def test_good_probes_that_are_still_far_slower_than_usual_do_not_close_it() -> None:
    for cause in (Cause.SLOW, Cause.ERRORS, Cause.SLUMP):
        assert due(opened(cause), log([20.0] * 3, 1595.0), POLICY, 1600.0) is None


def test_a_slump_is_over_when_all_evidence_is_gone() -> None:
    few, many = log([20.0, 4.0, 4.0], 1595.0), log([20.0] + [4.0] * 8, 1595.0)

    assert due(opened(Cause.SLUMP), few, POLICY, 1600.0) is None
    assert moved(opened(Cause.SLUMP), many, 1600.0).cause is Cause.RECOVERED
    assert moved(opened(Cause.SLOW), few, 1600.0).cause is Cause.RECOVERED


def test_where_a_slump_took_the_place_of_errors_two_quick_probes_prove_nothing() -> None:
    assert due(opened(Cause.ERRORS), log([20.0] * 7 + [4.0] * 2, 1595.0), POLICY, 1600.0) is None


def test_a_sluggish_probe_after_the_hold_opens_another() -> None:
    move = moved(opened(Cause.SLUMP), log([20.0] * 9, 1602.0), 1603.0)

    assert (move.before, move.after, move.cause) == (State.HALF_OPEN, State.OPEN, Cause.SLUMP)


@pytest.mark.parametrize("cause", [Cause.SLUMP, Cause.SLOW])
def test_a_slow_probe_after_the_hold_leaves_a_slump_a_slump(cause: Cause) -> None:
    assert moved(opened(cause), log([50.0], 1602.0), 1603.0).cause is cause


def test_where_the_usual_speed_is_lost_two_good_probes_close_a_slump() -> None:
    assert moved(opened(Cause.SLUMP), log([20.0] * 2, 1595.0, known=False), 1600.0).cause is Cause.RECOVERED


# What is learnt


def after(newest: Entry, *, seen: Log = Log(usual=USUAL), open_: bool = False) -> bool:  # noqa: B008 # it is frozen
    """Whether something was learnt of the newest answer."""
    circuit = opened(Cause.SLUMP) if open_ else CLOSED
    known = replace(seen, probes=(*seen.probes, newest))
    return learnt(circuit, known, POLICY, newest, newest.at) is not seen.usual


@pytest.mark.parametrize(
    ("newest", "teaches"),
    [
        pytest.param(good(0.0), True, id="a good probe"),
        pytest.param(waited(0.0, 50.0), True, id="a slow probe"),
        pytest.param(failed(0.0), False, id="a failed probe"),
        pytest.param(silent(0.0), False, id="a late part: the final one follows"),
        pytest.param(good(0.0, streamed=False), False, id="a plain answer"),
        pytest.param(good(0.0, suspect=True), False, id="a probe while we stood still"),
        pytest.param(agents(good(0.0))[0], False, id="an agent's report"),
        pytest.param(entry(0.0, status=400, first_byte_s=None), False, id="a fault of ours"),
    ],
)
def test_only_probes_that_tell_of_speed_teach(newest: Entry, teaches: bool) -> None:
    assert after(newest) is teaches


def test_a_slump_is_not_learnt_as_usual() -> None:
    usual, circuit = USUAL, opened(Cause.SLUMP)
    for i in range(300):  # five hours
        newest = waited(2000.0 + 60.0 * i, 20.0)
        usual = learnt(circuit, replace(probes(newest), usual=usual), POLICY, newest, newest.at)

    assert due(CLOSED, replace(log([20.0] * 12, 0.0), usual=usual), POLICY, 0.0) is not None


def test_what_comes_under_suspicion_teaches_little() -> None:
    seen = log([20.0] * 7, -60.0)
    newest = waited(0.0, 20.0)
    calm = learnt(CLOSED, Log(probes=(newest,), usual=USUAL), POLICY, newest, 0.0)
    suspected = learnt(CLOSED, replace(seen, probes=(*seen.probes, newest)), POLICY, newest, 0.0)

    assert sum(suspected.weights) - sum(USUAL.weights) < (sum(calm.weights) - sum(USUAL.weights)) / 2
