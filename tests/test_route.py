"""Where a step should go."""

from dataclasses import replace

import pytest

from breaker.circuit import Cause, Circuit, Held
from breaker.route import Decision, Reason, Role, Route, choose
from breaker.target import Provider, Target

NOW = 1000.0
FIRST, SECOND, THIRD = (
    Target(provider=Provider(name=name, base_url="http://x/v1", wire="openai-chat"), model="m") for name in "abc"
)
ROUTE = Route(name="coder", targets=(FIRST, SECOND, THIRD))
CLOSED = Circuit(epoch="e", generation=2, cause=Cause.RECOVERED, moved_at=700.0)
OPEN = Circuit(epoch="e", generation=3, cause=Cause.SLOW, moved_at=800.0, open_until=1400.0)
HALF_OPEN = replace(OPEN, cause=Cause.ERRORS, open_until=990.0)
HELD = Circuit(epoch="e", generation=1, held=Held(opened=True, who="ann", why="deploy", since=950.0, until=1003.0))


def chosen(**circuits: Circuit) -> Decision:
    return choose(ROUTE, {f"{name}/m": circuit for name, circuit in circuits.items()}, NOW)


def test_the_primary_is_chosen_where_nothing_is_known() -> None:
    decision = chosen()

    assert (decision.target, decision.role, decision.reason) == (FIRST, Role.PRIMARY, Reason.HEALTHY)
    assert (decision.since_s, decision.until_s, decision.generation) == (None, None, 0)


def test_a_closed_circuit_says_since_when() -> None:
    assert chosen(a=CLOSED).since_s == 300.0


@pytest.mark.parametrize(
    ("primary", "reason", "since_s", "until_s", "valid_for_s"),
    [
        pytest.param(OPEN, Reason.SLOW, 200.0, 400.0, 5.0, id="open"),
        pytest.param(replace(OPEN, open_until=1002.0), Reason.SLOW, 200.0, 2.0, 2.0, id="open, nearly over"),
        pytest.param(HALF_OPEN, Reason.ERRORS, 200.0, None, 5.0, id="half-open"),
        pytest.param(HELD, Reason.MANUAL, 50.0, 3.0, 3.0, id="held open"),
        pytest.param(replace(OPEN, held=HELD.held), Reason.MANUAL, 50.0, 400.0, 5.0, id="held open over an open one"),
    ],
)
def test_the_first_passing_backup_is_chosen_with_the_reason(
    primary: Circuit, reason: Reason, since_s: float, until_s: float | None, valid_for_s: float
) -> None:
    decision = chosen(a=primary, b=OPEN)

    assert (decision.target, decision.role, decision.reason) == (THIRD, Role.BACKUP, reason)
    assert (decision.since_s, decision.until_s, decision.valid_for_s) == (since_s, until_s, valid_for_s)


@pytest.mark.parametrize("cause", [None, Cause.RECOVERED])
def test_an_open_circuit_whose_cause_makes_no_sense_still_gives_an_answer(cause: Cause | None) -> None:
    assert chosen(a=replace(OPEN, cause=cause)).reason is Reason.ERRORS


def test_a_target_that_is_held_closed_passes() -> None:
    held = replace(OPEN, held=Held(opened=False, who="ann", why="I know better", since=900.0, until=1100.0))

    assert chosen(a=held).role is Role.PRIMARY


@pytest.mark.parametrize(
    ("circuits", "target", "retry_after_s"),
    [
        pytest.param({"a": OPEN, "b": HALF_OPEN, "c": HELD}, SECOND, 5.0, id="half-open first"),
        pytest.param({"a": OPEN, "b": HELD, "c": replace(OPEN, open_until=1300)}, THIRD, 3.0, id="then the first back"),
        pytest.param({"a": OPEN, "b": OPEN, "c": OPEN}, FIRST, 400.0, id="then the preferred one"),
        pytest.param({"a": replace(OPEN, held=HELD.held), "b": HELD, "c": HELD}, SECOND, 3.0, id="open under a hold"),
        pytest.param({"a": HELD, "b": HELD, "c": HELD}, FIRST, 3.0, id="held by hand comes last"),
    ],
)
def test_where_no_target_passes_the_least_bad_one_is_the_last_resort(
    circuits: dict[str, Circuit], target: Target, retry_after_s: float
) -> None:
    decision = chosen(**circuits)

    assert (decision.target, decision.role, decision.retry_after_s) == (target, Role.LAST_RESORT, retry_after_s)


def test_the_generation_rises_with_every_circuit_of_the_route() -> None:
    assert chosen(a=CLOSED, b=OPEN).generation == 5
    assert chosen(a=CLOSED, b=replace(OPEN, generation=4)).generation == 6


def test_a_stale_decision_says_so() -> None:
    assert choose(ROUTE, {}, NOW, stale=True).stale
