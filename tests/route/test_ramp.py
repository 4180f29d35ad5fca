"""After a circuit has closed, sessions return over a minute."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.circuit import OPENS, Cause, Circuit, state
from breaker.route import RAMP_S, Decision, Reason, Role, Route, choose, turn_s, unable
from breaker.target import Ability
from tests.route.test_choice import CIRCUITS, FIRST, HELD, NOW, OPEN, ROUTE, SECOND, SHARES, TARGETS, THIRD, snapshot

CLOSED = Circuit(epoch="e", generation=4, cause=Cause.RECOVERED, moved_at=NOW - 20)
HALF_OPEN = replace(OPEN, open_until=NOW - 1)
KEPT = replace(HELD, held=replace(HELD.held, opened=False))  # type: ignore[type-var] # it is held


def at_turn(turn: float | None, circuits: dict[str, Circuit], route: Route = ROUTE, now: float = NOW) -> Decision:
    return choose(route, {f"{name}/m": circuit for name, circuit in circuits.items()}, now, turn_s=turn)


# A session's turn


def test_a_session_has_the_same_turn_on_every_replica_and_in_every_language() -> None:
    """The first eight bytes of SHA-256 as a share of a minute, in tenths of a second."""
    assert [turn_s(session) for session in ("a", "agent-7", "0d9f", "ü")] == [
        int(sha256(session.encode()).hexdigest()[:16], 16) * 600 // 2**64 / 10
        for session in ("a", "agent-7", "0d9f", "ü")
    ]
    assert turn_s("a") == 47.4


@given(st.text(max_size=200))
def test_every_session_has_a_turn_within_a_minute(session: str) -> None:
    assert 0.0 <= turn_s(session) < RAMP_S
    assert turn_s(session) * 10 == pytest.approx(round(turn_s(session) * 10))


@given(st.floats(0, 60), st.integers(0, 10**9), st.sampled_from(["{}", "agent-{}", "{:032x}"]))
def test_the_share_of_sessions_that_are_back_is_the_share_of_the_minute(t: float, first: int, form: str) -> None:
    sessions = [form.format(first + i) for i in range(2_000)]

    back = sum(at_turn(turn_s(session), {"a": CLOSED}, now=CLOSED.moved_at + t).target == FIRST for session in sessions)

    assert back / len(sessions) == pytest.approx(t / 60, abs=0.06)


# Who waits for it


@pytest.mark.parametrize(
    ("turn", "target", "role", "reason", "until_s", "valid_for_s"),
    [
        pytest.param(None, FIRST, Role.PRIMARY, Reason.HEALTHY, None, 5.0, id="no session"),
        pytest.param(0.0, FIRST, Role.PRIMARY, Reason.HEALTHY, None, 5.0, id="the first"),
        pytest.param(20.0, FIRST, Role.PRIMARY, Reason.HEALTHY, None, 5.0, id="its turn has just come"),
        pytest.param(20.1, SECOND, Role.BACKUP, Reason.RETURNING, 0.1, 0.1, id="the next"),
        pytest.param(59.9, SECOND, Role.BACKUP, Reason.RETURNING, 39.9, 5.0, id="the last"),
    ],
)
def test_a_session_returns_at_its_turn(
    turn: float | None, target: object, role: Role, reason: Reason, until_s: float | None, valid_for_s: float
) -> None:
    decision = at_turn(turn, {"a": CLOSED})

    assert (decision.target, decision.role, decision.reason) == (target, role, reason)
    assert decision.until_s == (None if until_s is None else pytest.approx(until_s))
    assert decision.ends_s == decision.until_s == decision.changes_s
    assert decision.valid_for_s == pytest.approx(valid_for_s)
    assert (decision.since_s, decision.ramp_s, decision.retry_after_s) == (20.0, 40.0, None)


@pytest.mark.parametrize("cause", Cause)
def test_only_a_circuit_that_was_open_and_has_closed_by_itself_has_a_ramp(cause: Cause) -> None:
    decision = at_turn(59.0, {"a": replace(CLOSED, cause=cause)})

    assert (decision.target == SECOND) is (cause in (Cause.RECOVERED, Cause.UNVERIFIED, Cause.WAITED))


@pytest.mark.parametrize(
    ("circuits", "target"),
    [
        pytest.param({"a": replace(CLOSED, held=KEPT.held)}, FIRST, id="held closed by hand: at once"),
        pytest.param({"a": replace(CLOSED, cause=None, moved_at=0.0)}, FIRST, id="a hold by hand that is over"),
        pytest.param({"a": CLOSED, "b": OPEN}, THIRD, id="never to one that is out"),
        pytest.param({"a": CLOSED, "b": OPEN, "c": HALF_OPEN}, FIRST, id="all others out: at once"),
        pytest.param({"a": CLOSED, "b": HELD, "c": HELD}, FIRST, id="all others held open: at once"),
        pytest.param({"a": CLOSED, "b": CLOSED}, THIRD, id="the next is in its ramp too"),
        pytest.param({"a": CLOSED, "b": CLOSED, "c": CLOSED}, FIRST, id="all are: at once"),
        pytest.param({"a": OPEN, "b": CLOSED}, THIRD, id="a backup has a ramp as well"),
        pytest.param({"a": CLOSED, "b": replace(CLOSED, moved_at=NOW - 59)}, SECOND, id="one that came back before"),
        pytest.param({"a": replace(CLOSED, moved_at=NOW + 90)}, FIRST, id="a clock that was set back"),
    ],
)
def test_a_session_waits_only_where_another_target_is_in_order(circuits: dict[str, Circuit], target: object) -> None:
    assert at_turn(55.0, circuits).target == target


def test_a_session_that_waits_is_not_sent_to_a_target_that_is_out_since_too_many_are() -> None:
    crowd = replace(ROUTE, max_open_share=0.34)

    decision = at_turn(55.0, {"a": CLOSED, "b": OPEN, "c": replace(OPEN, open_until=NOW + 1)}, crowd)

    assert (decision.target, decision.reason, decision.until_s) == (FIRST, Reason.HEALTHY, None)


def test_a_session_waits_only_at_targets_that_can_take_its_step() -> None:
    text = replace(SECOND, can=())
    route = replace(ROUTE, targets=(FIRST, text))
    lacking = unable(route.targets, [Ability.TOOLS])

    assert choose(route, {"a/m": CLOSED}, NOW, turn_s=55.0).target == text
    assert choose(route, {"a/m": CLOSED}, NOW, turn_s=55.0, unable=lacking).target == FIRST


def test_a_step_that_no_target_can_take_waits_for_no_turn() -> None:
    route = replace(ROUTE, targets=(replace(FIRST, can=()), replace(SECOND, can=())))
    lacking = unable(route.targets, [Ability.TOOLS])

    decision = choose(route, {"a/m": CLOSED}, NOW, turn_s=55.0, unable=lacking)

    assert (decision.target.name, decision.role, decision.reason) == ("a/m", Role.LAST_RESORT, Reason.UNABLE)
    assert (decision.until_s, decision.ends_s) == (None, None)


def test_where_the_primary_cannot_take_the_step_the_turn_of_the_next_one_bounds_the_answer() -> None:
    route = replace(ROUTE, targets=(replace(FIRST, can=()), SECOND, THIRD))
    lacking = unable(route.targets, [Ability.TOOLS])

    decision = choose(route, {"b/m": CLOSED}, NOW, turn_s=22.0, unable=lacking)

    assert (decision.target, decision.reason, decision.until_s) == (THIRD, Reason.UNABLE, None)
    assert (decision.ends_s, decision.valid_for_s) == (2.0, 2.0)


# Whatever happened


TURNS = st.integers(0, 599).map(lambda tenths: tenths / 10)
SNAPSHOTS = st.lists(CIRCUITS, min_size=1, max_size=len(TARGETS))


@given(SNAPSHOTS, SHARES, TURNS)
def test_a_session_is_never_sent_to_a_worse_target_than_others(
    circuits: list[Circuit], share: float, turn: float
) -> None:
    route, known = snapshot(circuits, share)

    own, others = choose(route, known, NOW, turn_s=turn), choose(route, known, NOW)

    assert own.target in route.targets
    assert (own.role is Role.LAST_RESORT) is not own.state.passes
    if others.state.passes:
        assert own.state.passes
    if own.target != others.target:
        assert own.state.passes
        assert own.ends_s is not None
        assert own.valid_for_s <= own.ends_s
    if own.reason is Reason.RETURNING:
        assert own.until_s is not None
        assert 0 < own.until_s <= turn + 1  # a second for clocks that differ


@given(SNAPSHOTS, SHARES, TURNS)
def test_a_minute_after_the_last_close_every_session_is_told_what_all_are(
    circuits: list[Circuit], share: float, turn: float
) -> None:
    route, known = snapshot(circuits, share)
    over = NOW + choose(route, known, NOW).ramp_s
    assert over <= NOW + RAMP_S + 1

    own, others = choose(route, known, over, turn_s=turn), choose(route, known, over)

    # A hold by hand may have come to its end meanwhile, over a circuit that closed under it.
    assert own == others or any(state(c, NOW) is not state(c, over) for c in circuits)


@given(SNAPSHOTS, SHARES, TURNS, st.floats(0.0, 0.999))
def test_until_the_clock_may_change_it_a_session_is_told_the_same(
    circuits: list[Circuit], share: float, turn: float, part: float
) -> None:
    route, known = snapshot(circuits, share)
    first = choose(route, known, NOW, turn_s=turn)
    later = choose(route, known, NOW + part * (1e6 if first.changes_s is None else first.changes_s), turn_s=turn)

    for said in ("target", "role", "reason", "state", "crowded"):
        assert getattr(later, said) == getattr(first, said)


ORDERLY = st.lists(
    st.sampled_from([*sorted(OPENS), None]).flatmap(
        lambda cause: st.builds(
            Circuit,
            epoch=st.just("e"),
            cause=st.just(cause or Cause.RECOVERED),
            moved_at=st.floats(NOW - 120, NOW),
            open_until=st.none() if cause is None else st.just(NOW + 1e6),
        )
    ),
    min_size=2,
    max_size=len(TARGETS),
)


@given(ORDERLY, SHARES, TURNS, st.lists(st.floats(0, 70), min_size=2, max_size=20))
def test_a_session_that_has_returned_stays_as_long_as_no_circuit_moves(
    circuits: list[Circuit], share: float, turn: float, after: Sequence[float]
) -> None:
    route, known = snapshot(circuits, share)

    ranks = [route.targets.index(choose(route, known, NOW + t, turn_s=turn).target) for t in sorted(after)]

    assert ranks == sorted(ranks, reverse=True)
    assert choose(route, known, NOW + RAMP_S, turn_s=turn) == choose(route, known, NOW + RAMP_S)


@given(ORDERLY, SHARES, TURNS)
def test_where_a_session_waits_it_returns_exactly_at_its_turn(
    circuits: list[Circuit], share: float, turn: float
) -> None:
    route, known = snapshot(circuits, share)
    decision = choose(route, known, NOW, turn_s=turn)

    if decision.reason is Reason.RETURNING:
        assert decision.until_s is not None
        at = known[route.targets[0].name].moved_at + turn
        assert NOW + decision.until_s == pytest.approx(at)
        assert choose(route, known, at, turn_s=turn).role is Role.PRIMARY


@pytest.mark.parametrize("out", [OPEN, HALF_OPEN, HELD], ids=["open", "half-open", "held open"])
def test_nobody_returns_to_a_target_that_is_out(out: Circuit) -> None:
    assert at_turn(0.0, {"a": replace(out, cause=Cause.RECOVERED, moved_at=NOW - 1)}).ramp_s == 0.0
