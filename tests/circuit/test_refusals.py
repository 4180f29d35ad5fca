"""Refusals and rate limits: what a probe is told is enough, what an agent is told asks for a probe."""

from dataclasses import replace

import pytest

from breaker.answer import Fault
from breaker.circuit import Cause, State, due, state
from breaker.log import Bin, Entry, Log, asks, tells, weigh
from tests.circuit.made import CLOSED, POLICY, agents, in_band, moved, opened, said
from tests.entries import failed, good, probes

REFUSALS = [
    pytest.param(said(0, 402), Cause.QUOTA, "the account is out of credit or quota (402, probe)", id="402"),
    pytest.param(said(0, 401), Cause.AUTH, "the key was refused (401, probe)", id="401"),
    pytest.param(said(0, 403), Cause.AUTH, "the key was refused (403, probe)", id="403"),
    pytest.param(said(0, 404), Cause.NOT_FOUND, "the provider doesn't know this model or path (404, probe)", id="404"),
    pytest.param(
        in_band(0, Fault.QUOTA), Cause.QUOTA, "the account is out of credit or quota (200, probe)", id="inside a 200"
    ),
]


@pytest.mark.parametrize(("entry", "cause", "why"), REFUSALS)
def test_one_refused_probe_opens_at_once(entry: Entry, cause: Cause, why: str) -> None:
    move = moved(CLOSED, probes(entry), 1.0)

    assert (move.after, move.cause, move.why, move.answers) == (State.OPEN, cause, why, (entry,))
    assert move.circuit.open_until == 601.0


@pytest.mark.parametrize(("entry", "cause", "why"), REFUSALS)
def test_what_agents_were_refused_opens_nothing_and_asks_for_a_probe(entry: Entry, cause: Cause, why: str) -> None:
    reported = agents(entry, replace(entry, at=1.0), replace(entry, at=2.0))

    assert due(CLOSED, Log(reports=reported), POLICY, 3.0) is None
    assert all(asks(e.answer, weigh(e, POLICY)) and not tells(e, POLICY) for e in reported)


def test_where_nothing_is_probed_a_row_of_refused_agents_opens() -> None:
    policy = replace(POLICY, probing=False)

    assert moved(CLOSED, Log(reports=agents(said(0, 401), said(20, 401))), 30.0, policy).cause is Cause.ERRORS


def test_an_old_refusal_opens_nothing() -> None:
    assert due(CLOSED, probes(said(0, 401)), POLICY, 151.0) is None


@pytest.mark.parametrize("cause", [Cause.QUOTA, Cause.AUTH, Cause.NOT_FOUND])
def test_the_first_good_probe_closes_a_refusal_during_its_hold(cause: Cause) -> None:
    circuit = opened(cause)

    assert due(circuit, probes(said(1100, 402)), POLICY, 1101.0) is None
    assert due(circuit, Log(reports=agents(good(1100))), POLICY, 1101.0) is None
    assert due(circuit, probes(good(1001, began=990.0)), POLICY, 1101.0) is None
    move = moved(circuit, probes(said(1100, 402), good(1160)), 1161.0)
    assert (move.before, move.after, move.cause) == (State.OPEN, State.CLOSED, Cause.RECOVERED)


def test_a_refusal_after_the_hold_opens_another_with_its_own_cause() -> None:
    move = moved(opened(Cause.SLOW), probes(said(1605, 402)), 1605.0)

    assert (move.before, move.after, move.cause) == (State.HALF_OPEN, State.OPEN, Cause.QUOTA)


# Too much was asked


@pytest.mark.parametrize(
    ("retry_after_s", "until"),
    [(30.0, 30.0), (0.0, 5.0), (3_600.0, 600.0)],
    ids=["as asked", "at least five seconds", "at most a hold"],
)
def test_a_probe_that_is_told_to_wait_opens_until_then(retry_after_s: float, until: float) -> None:
    move = moved(CLOSED, probes(said(0, 429, retry_after_s=retry_after_s)), 0.0)

    assert (move.cause, move.circuit.open_until, move.circuit.hold_s) == (Cause.RATE_LIMITED, until, 0.0)
    assert "it asks to wait" in move.why


def test_a_wait_that_is_over_opens_nothing() -> None:
    assert due(CLOSED, probes(said(0, 429, retry_after_s=30.0)), POLICY, 30.0) is None


def test_where_one_is_enough_it_is_told_in_the_singular() -> None:
    move = moved(CLOSED, probes(said(0, 429)), 0.0, replace(POLICY, throttled_row=1))

    assert move.why == "a probe was told that too much is asked: rate limited 429 (probe)"


def test_waits_of_no_length_count_as_none_and_the_third_in_a_row_opens() -> None:
    policy = replace(POLICY, retry_after_min_s=0.0)
    asked = [said(at, 429, retry_after_s=0.0) for at in (0, 60, 120)]

    assert due(CLOSED, probes(*asked[:2]), policy, 60.0) is None
    move = moved(CLOSED, probes(*asked), 120.0, policy)
    assert (move.cause, move.circuit.open_until) == (Cause.RATE_LIMITED, 720.0)


def test_without_a_time_to_wait_the_third_in_a_row_opens_for_a_hold() -> None:
    two = probes(said(0, 429), said(60, 429))
    three = probes(said(0, 429), said(60, 429), said(120, 429))

    assert due(CLOSED, two, POLICY, 60.0) is None
    move = moved(CLOSED, three, 120.0)
    assert (move.cause, move.circuit.open_until, len(move.answers)) == (Cause.RATE_LIMITED, 720.0, 3)


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(probes(said(0, 429), good(60), said(120, 429), said(180, 429)), id="a good one between"),
        pytest.param(probes(said(0, 429), said(200, 429), said(260, 429)), id="too far apart"),
        pytest.param(Log(reports=agents(said(0, 429), said(60, 429), said(120, 429))), id="told to agents"),
        pytest.param(probes(failed(0), said(60, 429), good(120)), id="no row of failures either"),
    ],
)
def test_it_stays_closed(log: Log) -> None:
    assert due(CLOSED, log, POLICY, 260.0) is None


def test_too_much_asked_between_two_failures_breaks_no_row() -> None:
    assert moved(CLOSED, probes(failed(0), said(60, 429), failed(120)), 120.0).cause is Cause.ERRORS


@pytest.mark.parametrize("log", [Log(), probes(good(1300))], ids=["nothing since", "a good probe since"])
def test_it_closes_when_the_time_is_over(log: Log) -> None:
    move = moved(opened(Cause.RATE_LIMITED), log, 1600.0)

    assert (move.before, move.after, move.cause) == (State.HALF_OPEN, State.CLOSED, Cause.WAITED)
    assert move.why == ("the wait is over, and the newest probe was good" if log.probes else "the wait is over")


@pytest.mark.parametrize("newest", [said(1590, 429), failed(1590)], ids=["throttled", "failed"])
def test_it_is_half_open_where_the_newest_probe_says_that_it_was_not_enough(newest: Entry) -> None:
    circuit = opened(Cause.RATE_LIMITED)

    assert due(circuit, probes(newest), POLICY, 1600.0) is None
    assert state(circuit, 1600.0) is State.HALF_OPEN
    assert moved(circuit, probes(newest, good(1605), good(1620)), 1620.0).cause in (Cause.WAITED, Cause.RECOVERED)


def test_told_to_wait_while_half_open_it_is_open_until_then() -> None:
    move = moved(opened(Cause.ERRORS), probes(said(1605, 429, retry_after_s=20.0)), 1605.0)

    assert (move.cause, move.circuit.open_until, move.circuit.hold_s) == (Cause.RATE_LIMITED, 1625.0, 600.0)


def test_throttled_probes_during_the_hold_do_not_open_again_and_are_no_silence() -> None:
    circuit = opened(Cause.ERRORS)
    throttled = [said(at, 429) for at in (1480, 1540, 1599)]

    assert due(circuit, probes(*throttled), POLICY, 1600.0) is None
    assert due(circuit, probes(said(1600, 429)), POLICY, 1610.0) is None
    assert moved(circuit, probes(*throttled, said(1615, 429)), 1615.0).cause is Cause.RATE_LIMITED


# Where nothing is probed, agents' words are all there is

ALONE = replace(POLICY, probing=False)


def test_a_second_agent_in_a_row_that_is_told_to_wait_opens_until_then() -> None:
    told = agents(said(0, 429, retry_after_s=30.0), said(20, 429, retry_after_s=30.0))

    assert due(CLOSED, Log(reports=told[:1]), ALONE, 0.0) is None
    move = moved(CLOSED, Log(reports=told), 20.0, ALONE)
    assert (move.cause, move.circuit.open_until, move.answers) == (Cause.RATE_LIMITED, 50.0, told)
    over = moved(move.circuit, Log(reports=told), 50.0, ALONE)
    assert (over.after, over.cause) == (State.CLOSED, Cause.WAITED)


def test_agents_that_are_told_no_time_open_with_the_third_in_a_row() -> None:
    told = agents(said(0, 429), said(20, 429), said(40, 429))

    assert due(CLOSED, Log(reports=told[:2]), ALONE, 20.0) is None
    move = moved(CLOSED, Log(reports=told), 40.0, ALONE)
    assert (move.cause, move.circuit.open_until) == (Cause.RATE_LIMITED, 640.0)
    assert move.why.startswith("three agents in a row were told that too much is asked")


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(
            Log(reports=agents(said(0, 429), good(20), said(40, 429), said(60, 429))), id="a good one between"
        ),
        pytest.param(Log(reports=agents(said(0, 429), said(200, 429), said(400, 429))), id="too far apart"),
        pytest.param(
            Log(reports=agents(*(said(at, 429, retry_after_s=90.0) for at in (57, 58, 59))), bins=(Bin(50.0, ok=10),)),
            id="where many report it may be chance",
        ),
    ],
)
def test_agents_open_nothing_by(log: Log) -> None:
    assert due(CLOSED, log, ALONE, 60.0) is None
