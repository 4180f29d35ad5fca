"""Where a step should go."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.circuit import OPENS, Cause, Circuit, Held, State, state
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
GONE = replace(OPEN, cause=Cause.QUOTA, open_until=1001.0)
HALF_GONE = replace(GONE, open_until=999.0)
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
        pytest.param({"a": HELD, "b": HELD, "c": GONE}, THIRD, 1.0, id="even after a refusal"),
        pytest.param({"a": GONE, "b": GONE, "c": HALF_GONE}, THIRD, 5.0, id="a refusal that is tested again"),
    ],
)
def test_where_no_target_passes_the_least_bad_one_is_the_last_resort(
    circuits: dict[str, Circuit], target: Target, retry_after_s: float
) -> None:
    decision = chosen(**circuits)

    assert (decision.target, decision.role, decision.retry_after_s) == (target, Role.LAST_RESORT, retry_after_s)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Cause.SLUMP, Cause.SLOW),
        (Cause.SLOW, Cause.ERROR_RATE),
        (Cause.ERROR_RATE, Cause.RATE_LIMITED),
        (Cause.RATE_LIMITED, Cause.ERRORS),
        (Cause.ERRORS, Cause.QUOTA),
        (Cause.ERRORS, Cause.AUTH),
        (Cause.ERRORS, Cause.NOT_FOUND),
    ],
)
def test_what_still_answers_is_less_bad_than_what_doesnt_whichever_comes_back_first(
    better: Cause, worse: Cause
) -> None:
    first = replace(OPEN, cause=worse, open_until=1001.0)

    decision = chosen(a=first, b=replace(OPEN, cause=better), c=first)

    assert (decision.target, decision.role, decision.state) == (SECOND, Role.LAST_RESORT, State.OPEN)
    assert decision.reason == worse.value


def test_every_cause_that_opens_has_its_place_among_the_bad() -> None:
    """One that had none would be taken for `errors`."""
    for cause in OPENS - {Cause.ERRORS}:
        bad = replace(OPEN, cause=cause)
        errors = replace(OPEN, cause=Cause.ERRORS)

        both = {chosen(a=bad, b=errors, c=HELD).target, chosen(a=errors, b=bad, c=HELD).target}

        assert len(both) == 2, cause


@pytest.mark.parametrize(
    ("share", "circuits", "target", "role"),
    [
        pytest.param(1.0, {"a": OPEN, "b": OPEN}, THIRD, Role.BACKUP, id="all may be out"),
        pytest.param(0.67, {"a": OPEN, "b": OPEN}, THIRD, Role.BACKUP, id="as many as may"),
        pytest.param(0.34, {"a": OPEN}, SECOND, Role.BACKUP, id="one may be out"),
        pytest.param(0.34, {"a": OPEN, "b": OPEN}, FIRST, Role.LAST_RESORT, id="one too many: the less bad is offered"),
        pytest.param(0.34, {"a": OPEN, "b": HALF_OPEN}, SECOND, Role.LAST_RESORT, id="half-open ones are less bad"),
        pytest.param(0.34, {"a": OPEN, "c": HALF_OPEN}, SECOND, Role.BACKUP, id="one in order stands before it"),
        pytest.param(0.34, {"a": HELD, "b": OPEN}, THIRD, Role.BACKUP, id="held open ones don't count"),
        pytest.param(0.34, {"a": HELD, "b": HELD, "c": OPEN}, THIRD, Role.LAST_RESORT, id="nor are they offered"),
        pytest.param(0.34, {"a": GONE, "b": OPEN}, SECOND, Role.LAST_RESORT, id="a refusal counts"),
        pytest.param(0.34, {"a": GONE, "b": HALF_GONE}, THIRD, Role.BACKUP, id="and is never offered before others"),
    ],
)
def test_no_more_targets_stay_out_than_may(
    share: float, circuits: dict[str, Circuit], target: Target, role: Role
) -> None:
    known = {f"{name}/m": circuit for name, circuit in circuits.items()}

    decision = choose(replace(ROUTE, max_open_share=share), known, NOW)

    assert (decision.target, decision.role) == (target, role)
    assert decision.crowded is (role is Role.LAST_RESORT and len(circuits) < 3)


def test_a_target_that_is_offered_although_it_is_out_comes_with_the_reason_and_the_time() -> None:
    known = {"a/m": OPEN, "b/m": replace(OPEN, open_until=1300.0)}

    decision = choose(replace(ROUTE, max_open_share=0.34), known, NOW)

    assert (decision.target, decision.role, decision.reason, decision.state) == (
        SECOND,
        Role.LAST_RESORT,
        Reason.SLOW,
        State.OPEN,
    )
    assert decision.retry_after_s == 300.0


@pytest.mark.parametrize(
    ("share", "count", "most"), [(1.0, 3, 3), (0.5, 3, 1), (0.29, 100, 29), (0.7, 10, 7), (0.9999, 2, 1), (0.01, 3, 0)]
)
def test_how_many_may_stay_out(share: float, count: int, most: int) -> None:
    assert Route(name="x", targets=(FIRST,) * count, max_open_share=share).most_out == most


TARGETS = tuple(
    Target(provider=Provider(name=f"p{i}", base_url="http://x/v1", wire="openai-chat"), model="m") for i in range(6)
)
MOMENTS = st.floats(NOW - 700, NOW + 700)
HOLDS = st.builds(Held, opened=st.booleans(), who=st.just("a"), why=st.just("b"), since=st.just(NOW - 9), until=MOMENTS)
CIRCUITS = st.builds(
    Circuit,
    generation=st.integers(0, 9),
    cause=st.none() | st.sampled_from(Cause),
    moved_at=st.floats(0, NOW),
    open_until=st.none() | MOMENTS,
    held=st.none() | HOLDS,
)
SNAPSHOTS = st.lists(CIRCUITS, min_size=1, max_size=len(TARGETS))
SHARES = st.floats(0.01, 1.0)
REFUSALS = [cause for cause in OPENS if cause.refusal]


def snapshot(circuits: list[Circuit], share: float) -> tuple[Route, Mapping[str, Circuit]]:
    targets = TARGETS[: len(circuits)]
    known = {target.name: circuit for target, circuit in zip(targets, circuits, strict=True)}
    return Route(name="x", targets=targets, max_open_share=share), known


@given(SNAPSHOTS, SHARES)
def test_a_decision_is_never_empty_and_its_role_is_true(circuits: list[Circuit], share: float) -> None:
    route, known = snapshot(circuits, share)

    decision = choose(route, known, NOW)

    assert decision.target in route.targets
    assert decision.state is state(known[decision.target.name], NOW)
    assert (decision.role is Role.LAST_RESORT) is not decision.state.passes
    assert (decision.retry_after_s is None) is decision.state.passes


@given(SNAPSHOTS)
def test_where_all_may_be_out_the_first_in_order_is_chosen(circuits: list[Circuit]) -> None:
    route, known = snapshot(circuits, 1.0)
    passing = [target for target in route.targets if state(known[target.name], NOW).passes]

    decision = choose(route, known, NOW)

    assert decision.target == passing[0] if passing else not decision.state.passes
    assert not decision.crowded


@given(SNAPSHOTS, SHARES)
def test_one_that_is_out_never_takes_the_place_of_one_in_order_before_it(circuits: list[Circuit], share: float) -> None:
    route, known = snapshot(circuits, share)

    decision = choose(route, known, NOW)

    before = route.targets[: route.targets.index(decision.target)]
    assert not any(state(known[target.name], NOW).passes for target in before)


@given(SNAPSHOTS, SHARES)
def test_what_is_offered_out_of_turn_was_too_many_not_taken_out_by_hand_and_can_answer(
    circuits: list[Circuit], share: float
) -> None:
    route, known = snapshot(circuits, share)
    out = [c for c in circuits if state(c, NOW) in (State.OPEN, State.HALF_OPEN)]

    decision = choose(route, known, NOW)

    if decision.crowded:
        assert len(out) > route.most_out
        assert decision.state is not State.HELD_OPEN
        assert known[decision.target.name].cause not in REFUSALS


@given(SNAPSHOTS, SHARES, st.randoms(use_true_random=False))
def test_all_replicas_that_know_the_same_decide_the_same(
    circuits: list[Circuit], share: float, chance: random.Random
) -> None:
    """Whatever order they learnt it in, and if others know of targets that aren't this route's."""
    route, known = snapshot(circuits, share)
    learnt = list(known.items())
    chance.shuffle(learnt)

    assert choose(route, {"other/m": OPEN, **dict(learnt)}, NOW) == choose(route, known, NOW)


@given(SNAPSHOTS, SHARES, st.floats(0.0, 0.99))
def test_until_the_clock_may_change_a_decision_it_stays_the_same(
    circuits: list[Circuit], share: float, part: float
) -> None:
    route, known = snapshot(circuits, share)
    decision = choose(route, known, NOW)
    later = choose(route, known, NOW + part * (1e6 if decision.changes_s is None else decision.changes_s))

    for said in ("target", "role", "reason", "state", "crowded"):
        assert getattr(later, said) == getattr(decision, said)


def test_the_first_hold_that_ends_may_change_a_decision() -> None:
    assert chosen(a=CLOSED).changes_s is None
    assert chosen(a=OPEN, b=replace(OPEN, open_until=NOW + 7)).changes_s == 7


def test_the_generation_rises_with_every_circuit_of_the_route() -> None:
    assert chosen(a=CLOSED, b=OPEN).generation == 5
    assert chosen(a=CLOSED, b=replace(OPEN, generation=4)).generation == 6


def test_a_stale_decision_says_so() -> None:
    assert choose(ROUTE, {}, NOW, stale=True).stale
