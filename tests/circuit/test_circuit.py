"""When a circuit opens, closes and is held."""

from dataclasses import replace

import pytest

from breaker.answer import Ended
from breaker.circuit import (
    Cause,
    Circuit,
    Held,
    Move,
    State,
    due,
    hold,
    next_due,
    release,
    restored,
    state,
    until,
)
from breaker.log import Log
from breaker.policy import Policy
from tests.entries import by_agent, failed, good, probes, refused, reports, silent, slow

POLICY = Policy()
CLOSED = Circuit(epoch="e", generation=3, moved_at=-1000.0)
OPEN = Circuit(epoch="e", generation=4, cause=Cause.SLOW, moved_at=1000.0, open_until=1600.0)
UNVERIFIED = Circuit(epoch="e", generation=5, cause=Cause.UNVERIFIED, moved_at=2000.0)


def moved(circuit: Circuit, log: Log, now: float, policy: Policy = POLICY) -> Move:
    move = due(circuit, log, policy, now)
    assert move is not None
    return move


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        pytest.param(probes(failed(0), failed(60)), Cause.ERRORS, id="two failed probes"),
        pytest.param(probes(slow(0), slow(60)), Cause.SLOW, id="two slow probes"),
        pytest.param(probes(silent(40), silent(85)), Cause.SLOW, id="two silences of 40 s"),
        pytest.param(probes(slow(0), failed(60)), Cause.ERRORS, id="slow, error"),
        pytest.param(probes(failed(0), slow(60)), Cause.ERRORS, id="error, slow"),
        pytest.param(probes(failed(0), refused(30), failed(60)), Cause.ERRORS, id="a caller's fault between them"),
        pytest.param(reports(failed(0), failed(60)), Cause.ERRORS, id="two failed reports"),
        pytest.param(
            Log(probes=(failed(30, confirms="r1"),), reports=(by_agent(failed(20, name="r1")),)),
            Cause.ERRORS,
            id="a bad report and the bad probe that confirms it",
        ),
        pytest.param(
            Log(
                probes=(slow(70, confirms="r1"),),
                reports=(by_agent(slow(20, name="r1")), by_agent(good(30, name="r2"))),
            ),
            Cause.SLOW,
            id="good reports after the one that asked don't hide it",
        ),
    ],
)
def test_a_circuit_opens_for_ten_minutes(log: Log, cause: Cause) -> None:
    move = moved(CLOSED, log, now=90.0)

    assert (move.before, move.after, move.cause) == (State.CLOSED, State.OPEN, cause)
    assert move.circuit == replace(CLOSED, generation=4, cause=cause, moved_at=90.0, open_until=690.0, hold_s=600.0)
    assert len(move.answers) == 2


def test_the_later_of_two_answers_that_counted_in_one_moment_is_the_newest() -> None:
    log = probes(good(60, name="first"), failed(60, name="second"))

    move = due(CLOSED, log, Policy(errors_row=1), 60.0)

    assert move is not None
    assert [entry.answer.id for entry in move.answers] == ["second"]


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(Log(), id="nothing known"),
        pytest.param(probes(failed(60)), id="one failure"),
        pytest.param(probes(failed(0), good(30), failed(60)), id="a good one between"),
        pytest.param(probes(failed(-100), failed(60)), id="too far apart"),
        pytest.param(probes(failed(-90), failed(-70)), id="too long ago"),
        pytest.param(Log(probes=(failed(60),), reports=(by_agent(failed(50)),)), id="one of each without a link"),
        pytest.param(
            Log(probes=(failed(60, confirms="r1"),), reports=(by_agent(good(50, name="r1")),)), id="confirms a good one"
        ),
        pytest.param(Log(probes=(failed(60, confirms="gone"),)), id="confirms what the log no longer has"),
        pytest.param(probes(failed(0), failed(200)), id="the second one lies in the future"),
        pytest.param(probes(refused(0), refused(60)), id="caller's faults"),
    ],
)
def test_a_circuit_stays_closed(log: Log) -> None:
    assert due(CLOSED, log, POLICY, now=90.0) is None


def test_answers_to_requests_that_began_before_the_last_move_move_nothing() -> None:
    circuit = replace(CLOSED, cause=Cause.RECOVERED, moved_at=70.0)

    assert due(circuit, probes(failed(80, began=60), failed(85, began=69.9)), POLICY, now=90.0) is None


def test_each_number_of_a_row_counts_its_own_kind_and_the_larger_counts_mixed_ones() -> None:
    policy = replace(POLICY, slow_row=3, errors_row=2)

    assert due(CLOSED, probes(slow(0), slow(30)), policy, now=90.0) is None
    assert due(CLOSED, probes(failed(0), slow(30)), policy, now=90.0) is None
    assert moved(CLOSED, probes(slow(0), failed(30), failed(60)), 90.0, policy).cause is Cause.ERRORS
    assert moved(CLOSED, probes(slow(0), failed(30), slow(60)), 90.0, policy).cause is Cause.ERRORS
    assert moved(CLOSED, probes(slow(0), slow(30), slow(60)), 90.0, policy).cause is Cause.SLOW


@pytest.mark.parametrize(
    ("log", "slow_row", "cause", "named"),
    [
        pytest.param(probes(slow(0), failed(30), failed(60)), 5, Cause.ERRORS, 2, id="failed ones"),
        pytest.param(probes(failed(0), slow(60)), 1, Cause.SLOW, 1, id="a slow one"),
        pytest.param(probes(failed(0), slow(30), failed(60)), 3, Cause.ERRORS, 3, id="mixed ones"),
    ],
)
def test_only_those_that_were_enough_are_named_and_counted(log: Log, slow_row: int, cause: Cause, named: int) -> None:
    move = moved(CLOSED, log, 90.0, replace(POLICY, slow_row=slow_row))

    assert (move.cause, move.answers) == (cause, log.probes[-named:])
    assert all(measure.value >= measure.limit for measure in move.measures)


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(probes(good(1100), good(1160)), id="good probes"),
        pytest.param(probes(failed(1100), failed(1599)), id="bad probes"),
        pytest.param(reports(good(1590), good(1595)), id="good reports"),
    ],
)
def test_nothing_shortens_or_lengthens_a_hold(log: Log) -> None:
    assert due(OPEN, log, POLICY, now=1599.9) is None
    assert state(OPEN, 1599.9) is State.OPEN
    assert until(OPEN, 1599.9) == 1600.0


def test_when_the_hold_is_over_it_is_half_open_without_any_write() -> None:
    assert due(OPEN, probes(failed(1590)), POLICY, now=1600.0) is None
    assert state(OPEN, 1600.0) is State.HALF_OPEN
    assert until(OPEN, 1600.0) is None


def test_two_good_quick_fresh_probes_close_it_when_the_hold_ends() -> None:
    move = moved(OPEN, probes(good(1500), good(1560)), 1600.0)

    assert (move.before, move.after, move.cause) == (State.HALF_OPEN, State.CLOSED, Cause.RECOVERED)
    assert move.circuit == replace(OPEN, generation=5, cause=Cause.RECOVERED, moved_at=1600.0, open_until=None)


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(probes(good(1590)), id="one good probe"),
        pytest.param(probes(good(1550), slow(1595)), id="the newest was slow"),
        pytest.param(probes(failed(1550), good(1595)), id="the one before failed"),
        pytest.param(probes(good(1010, began=990), good(1595)), id="one began before the move"),
        pytest.param(probes(good(1380), good(1440)), id="the newest is stale"),
        pytest.param(Log(probes=(good(1590),), reports=(by_agent(good(1595)), by_agent(good(1598)))), id="reports"),
    ],
)
def test_it_stays_half_open(log: Log) -> None:
    assert due(OPEN, log, POLICY, now=1600.0) is None


def test_one_bad_probe_while_half_open_opens_it_for_another_hold() -> None:
    move = moved(OPEN, probes(good(1590), failed(1605)), 1605.0)

    assert (move.before, move.after, move.cause) == (State.HALF_OPEN, State.OPEN, Cause.ERRORS)
    assert move.circuit.open_until == 2205.0
    assert move.why == "an answer failed: http error 500 (probe)"


def test_one_slow_probe_while_half_open_says_so_in_the_singular() -> None:
    assert moved(OPEN, probes(slow(1605)), 1605.0).why.startswith("a first byte came later than 40 s: ")


def test_a_bad_probe_that_counted_during_the_hold_does_not_open_it_again() -> None:
    assert due(OPEN, probes(failed(1599)), POLICY, now=1601.0) is None


def test_a_bad_probe_of_long_ago_does_not_open_it_again() -> None:
    """Nobody was there to act on it at its time, so nothing is known of now."""
    assert moved(OPEN, probes(failed(1605)), 5200.0).cause is Cause.UNVERIFIED


def test_a_silent_monitor_closes_it_unverified_when_the_hold_ends() -> None:
    move = moved(OPEN, probes(failed(1300)), 1600.0)

    assert (move.after, move.cause) == (State.CLOSED, Cause.UNVERIFIED)


def test_a_probe_that_may_still_be_under_way_is_no_silence() -> None:
    """Three intervals and what a probe may take until it is given up."""
    assert due(OPEN, probes(failed(1301)), POLICY, now=1600.0) is None


def test_probes_that_tell_nothing_are_silence_too() -> None:
    assert moved(OPEN, probes(refused(1550), refused(1595)), 1600.0).cause is Cause.UNVERIFIED


def test_without_probing_it_closes_unverified_at_the_end_of_the_hold() -> None:
    assert moved(OPEN, probes(failed(1599)), 1600.0, replace(POLICY, probing=False)).cause is Cause.UNVERIFIED


def test_for_a_minute_after_an_unverified_close_one_bad_answer_opens_it() -> None:
    assert moved(UNVERIFIED, reports(failed(2050)), 2060.0).cause is Cause.ERRORS
    assert due(UNVERIFIED, reports(failed(2050)), POLICY, now=2060.1) is None


def test_a_hold_by_hand_lies_over_the_automatic_part_which_goes_on_underneath() -> None:
    held = hold(CLOSED, 100.0, opened=False, who="ann", why="deploy", until=400.0)

    assert (held.before, held.after, held.cause) == (State.CLOSED, State.HELD_CLOSED, Cause.MANUAL)
    assert until(held.circuit, 200.0) == 400.0
    underneath = moved(held.circuit, probes(failed(130), failed(190)), 200.0)
    assert (underneath.before, underneath.after) == (State.HELD_CLOSED, State.HELD_CLOSED)
    assert state(underneath.circuit, 400.0) is State.OPEN


def test_a_hold_by_hand_ends_by_itself() -> None:
    held = hold(CLOSED, 100.0, opened=True, who="ann", why="deploy", until=400.0).circuit

    assert state(held, 399.9) is State.HELD_OPEN
    assert due(held, Log(), POLICY, now=399.9) is None
    assert state(held, 400.0) is State.CLOSED
    over = moved(held, Log(), 400.0)
    assert (over.cause, over.circuit.held, over.circuit.generation) == (Cause.HOLD_OVER, None, 5)


def test_a_row_that_is_complete_when_a_hold_by_hand_ends_opens_at_once() -> None:
    held = hold(CLOSED, 100.0, opened=False, who="ann", why="deploy", until=400.0).circuit

    opened = moved(held, probes(failed(395), failed(401)), 401.0)

    assert (opened.before, opened.after, opened.cause) == (State.CLOSED, State.OPEN, Cause.ERRORS)
    assert moved(opened.circuit, Log(), 401.0).cause is Cause.HOLD_OVER


def test_releasing_a_hold_leaves_what_is_underneath() -> None:
    held = hold(OPEN, 1100.0, opened=False, who="ann", why="try it", until=1500.0).circuit

    back = release(held, 1200.0, who="bob", why="enough")

    assert back is not None
    assert (back.before, back.after, back.circuit.cause) == (State.HELD_CLOSED, State.OPEN, Cause.SLOW)


def test_there_is_nothing_to_release_where_nothing_is_held() -> None:
    assert release(OPEN, 1200.0, who="bob", why="enough") is None


def test_which_states_let_agents_through() -> None:
    assert [s for s in State if s.passes] == [State.CLOSED, State.HELD_CLOSED]


@pytest.mark.parametrize(
    ("circuit", "now", "moment"),
    [
        pytest.param(CLOSED, 90.0, None, id="closed waits for answers"),
        pytest.param(OPEN, 1100.0, 1300.0, id="open without a probe: the monitor's silence"),
        pytest.param(OPEN, 1300.0, 1600.0, id="open: the end of the hold"),
        pytest.param(OPEN, 1700.0, None, id="half-open: nothing but probes"),
        pytest.param(
            replace(CLOSED, held=Held(opened=True, who="a", why="b", since=80.0, until=95.0)), 90.0, 95.0, id="held"
        ),
    ],
)
def test_the_clock_may_move_a_circuit_at(circuit: Circuit, now: float, moment: float | None) -> None:
    assert next_due(circuit, Log(), POLICY, now) == moment


def test_a_half_open_circuit_is_due_when_its_monitor_has_been_silent_long_enough() -> None:
    assert next_due(OPEN, probes(good(1590)), POLICY, 1601.0) == 1890.0
    assert moved(OPEN, probes(good(1590)), 1890.0).cause is Cause.UNVERIFIED


def test_a_clock_that_goes_back_never_makes_a_hold_longer_than_it_was_made() -> None:
    move = moved(OPEN, Log(), now=500.0)

    assert (move.cause, move.after) == (Cause.CLOCK, State.OPEN)
    assert move.circuit == replace(OPEN, generation=5, moved_at=500.0, open_until=1100.0)
    assert due(move.circuit, Log(), POLICY, now=500.0) is None


def test_a_clock_that_goes_back_shifts_a_hold_by_hand_too() -> None:
    held = hold(CLOSED, 1000.0, opened=True, who="ann", why="deploy", until=1400.0).circuit

    shifted = moved(held, Log(), now=100.0).circuit

    assert shifted.held == Held(opened=True, who="ann", why="deploy", since=100.0, until=500.0)


def test_a_hold_by_hand_lasts_as_long_as_it_was_made_though_a_clock_went_back_before_it() -> None:
    held = hold(OPEN, 500.0, opened=False, who="ann", why="try it", until=700.0)

    assert held.circuit.held == Held(opened=False, who="ann", why="try it", since=500.0, until=700.0)
    assert (held.circuit.generation, held.circuit.open_until) == (5, 1100.0)
    assert due(held.circuit, Log(), POLICY, now=500.0) is None


def test_a_clock_that_goes_forward_ends_a_hold_but_closes_only_on_evidence() -> None:
    assert state(OPEN, 5200.0) is State.HALF_OPEN
    assert moved(OPEN, probes(good(1100), good(1160)), 5200.0).cause is Cause.UNVERIFIED


def test_a_store_that_has_lost_everything_gets_an_open_circuit_back_with_its_old_end() -> None:
    back = restored(OPEN, Circuit(), now=1200.0)

    assert back == Circuit(epoch="", generation=5, cause=Cause.SLOW, moved_at=1000.0, open_until=1600.0)


def test_a_store_that_has_fallen_back_behind_a_move_gets_it_back() -> None:
    assert restored(OPEN, replace(OPEN, generation=3, open_until=None, cause=None, moved_at=0.0), 1200.0) is not None


def test_a_half_open_circuit_is_put_back_half_open() -> None:
    back = restored(OPEN, Circuit(), now=1700.0)

    assert back is not None
    assert state(back, 1700.0) is State.HALF_OPEN


AGAIN = Circuit(epoch="e", generation=9, cause=Cause.RECOVERED, moved_at=1100.0)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(OPEN, id="brought back from before"),
        pytest.param(replace(OPEN, epoch="d"), id="brought back from long before"),
        pytest.param(Circuit(), id="empty"),
    ],
)
def test_a_closed_circuit_is_closed_again_since_the_same_moment(found: Circuit) -> None:
    """Else what came before it closed would open it once more."""
    back = restored(AGAIN, found, now=1200.0)

    assert back == replace(AGAIN, epoch=found.epoch, generation=10)


def test_a_hold_by_hand_stays_over_a_circuit_that_is_put_back() -> None:
    held = hold(Circuit(epoch="new"), 1150.0, opened=True, who="ann", why="deploy", until=1400.0).circuit

    back = restored(AGAIN, held, now=1200.0)

    assert back == replace(AGAIN, epoch="new", generation=10, held=held.held)


def test_an_open_circuit_stays_open_no_longer_in_a_store_whose_clock_is_behind() -> None:
    back = restored(OPEN, Circuit(), now=500.0)

    assert back == Circuit(epoch="", generation=5, cause=Cause.SLOW, moved_at=500.0, open_until=1100.0)


def test_a_forgotten_hold_by_hand_is_put_back() -> None:
    held = hold(CLOSED, 100.0, opened=True, who="ann", why="deploy", until=400.0).circuit

    back = restored(held, Circuit(epoch="new", generation=1), now=200.0)

    assert back is not None
    assert (back.epoch, back.generation, back.held, back.open_until) == ("new", held.generation + 1, held.held, None)


@pytest.mark.parametrize(
    ("known", "found", "now"),
    [
        pytest.param(OPEN, replace(CLOSED, generation=9), 1200.0, id="it has moved on in the same epoch"),
        pytest.param(OPEN, replace(OPEN, epoch="new"), 1200.0, id="the store knows an open circuit of its own"),
        pytest.param(OPEN, Circuit(epoch="new", generation=6), 1200.0, id="somebody put it back, and it has moved on"),
        pytest.param(CLOSED, Circuit(), 1200.0, id="one that never moved is nothing to put back"),
        pytest.param(AGAIN, replace(OPEN, moved_at=1150.0), 1200.0, id="it has opened since the store fell back"),
        pytest.param(AGAIN, replace(OPEN, epoch="new", moved_at=900.0), 850.0, id="its clock is behind, so who knows"),
    ],
)
def test_nothing_is_put_back_where_nothing_is_lost(known: Circuit, found: Circuit, now: float) -> None:
    assert restored(known, found, now) is None


@pytest.mark.parametrize(
    ("log", "words"),
    [
        pytest.param(
            Log(probes=(silent(85, confirms="r1"),), reports=(by_agent(slow(40, name="r1")),)),
            "two first bytes in a row came later than 40 s: 43.0 s (agent), 40.0 s and still silent (probe)",
            id="slow",
        ),
        pytest.param(
            probes(failed(20), failed(60, status=None, ended=Ended.UNREACHABLE)),
            "two answers in a row failed: http error 500 (probe), connect error (probe)",
            id="errors",
        ),
        pytest.param(
            probes(failed(20, status=502, seconds=43.0, late=True), silent(85)),
            "two answers in a row were slow or failed: http error 502 (probe), 40.0 s and still silent (probe)",
            id="late, then failed",
        ),
    ],
)
def test_a_move_says_why_in_plain_words(log: Log, words: str) -> None:
    assert moved(CLOSED, log, 90.0).why == words
