from dataclasses import replace

import pytest

from breaker.answer import Answer, Ended, Part, Source
from breaker.circuit import Cause, Circuit, Move, State
from breaker.log import Entry, Log
from breaker.policy import Policy
from breaker.store.claim import Grant, Need, Wish
from breaker.store.contract import Reading
from breaker.switchboard import Judged
from breaker.target import Provider, Target
from breaker.verdict import judge
from monitor.budget import Level
from monitor.metrics import Skip
from monitor.schedule.seat import AGAIN_S, PACE_SLACK, SETTLING_S, Extra, Now, Seat
from monitor.schedule.timetable import Phase
from monitor.settings import ProbeShape, TargetPlan
from tests.entries import failed, probes, reports

CLOSED = Circuit()
STORE = 5_000.0  # the store's clock says this when ours says 0


def open_until(moment: float) -> Circuit:
    """A circuit that is open until a moment on our clock."""
    return Circuit(generation=1, cause=Cause.SLOW, moved_at=STORE - 600, open_until=STORE + moment)


def seat(first_at: float = 1.0, *, skip_when_fresh: bool = False) -> Seat:
    account = Provider(name="p", base_url="http://127.0.0.1/v1", wire="openai-chat")
    shape = ProbeShape(skip_when_fresh=skip_when_fresh)
    return Seat(TargetPlan(target=Target(provider=account, model="m"), policy=Policy(), probe=shape), first_at)


def now(here: float, circuit: Circuit = CLOSED, level: Level = Level.FREE) -> Now:
    return Now(here=here, store=STORE + here, circuit=circuit, level=level)


def bad(name: str = "bad", source: Source = Source.PROBE, **facts: object) -> Answer:
    told: dict[str, object] = {"target": "p/m", "id": name, "ended": Ended.COMPLETE, "seconds": 0.5, "status": 500}
    return Answer(**(told | {"source": source} | facts))  # type: ignore[arg-type] # a table of facts


def good(source: Source = Source.REPORT) -> Answer:
    return bad("good", source, status=200, first_byte_s=0.2, end_mark=True, text_chars=5)


def heard(answer: Answer, at: float, circuit: Circuit = CLOSED, after: Circuit | None = None) -> Judged:
    """An answer that counted at a moment on our clock; `after` is what it made of the circuit."""
    move = None
    if after is not None:
        move = Move(at=STORE + at, before=State.CLOSED, after=State.OPEN, cause=Cause.ERRORS, why="", circuit=after)
    reading = Reading(circuit=circuit, log=Log(), now=STORE + at)
    return Judged(answer=answer, judgement=judge(answer), reading=reading, move=move)


def begun(at: float) -> Seat:
    """A seat whose first probe began and ended."""
    made = seat()
    made.free(made.take(at))
    return made


# The place


def test_the_first_probe_is_due_at_its_moment_and_once() -> None:
    found = seat(first_at=3.0)
    before = found.besides(now(0.0))
    found.free(found.take(3.0))

    assert before == Extra(3.0, None)
    assert found.besides(now(3.1)) is None


def test_while_the_place_is_taken_nothing_is_due_and_turns_overlap() -> None:
    found = seat()
    holder = found.take(1.0)

    assert found.besides(now(2.0)) is None
    assert found.skip(0, now(2.0)) is Skip.OVERLAP
    found.free(holder)
    assert found.skip(0, now(2.0)) is None


def test_only_the_holder_gives_the_place_free() -> None:
    found = seat()
    late = found.take(1.0)
    found.free(late)
    found.take(2.0)
    found.free(late)

    assert found.taken


# Confirming


@pytest.mark.parametrize("source", Source)
def test_a_bad_answer_is_confirmed_after_a_while_whoever_saw_it(source: Source) -> None:
    found = begun(1.0)
    found.hear(heard(bad("one", source), at=10.0), 10.0)

    assert found.besides(now(10.0)) == Extra(15.0, "one")
    assert found.skip(0, now(11.0)) is Skip.CONFIRMING


def test_a_confirmation_that_is_far_off_stops_no_turns() -> None:
    found = begun(1.0)
    found.plan = replace(found.plan, policy=replace(found.plan.policy, confirm_s=300.0))
    found.hear(heard(bad("one", Source.REPORT), at=10.0), 10.0)

    assert found.skip(0, now(60.0)) is None
    assert found.skip(4, now(300.0)) is Skip.CONFIRMING


def test_a_late_part_is_confirmed_and_its_final_part_not_again() -> None:
    found = begun(1.0)
    late = bad("one", status=None, part=Part.LATE, ended=Ended.PENDING, seconds=40.0)
    found.hear(heard(late, at=41.0), 41.0)
    confirming = found.besides(now(46.0))
    assert confirming == Extra(46.0, "one")
    found.start(confirming)
    found.free(found.take(46.0))
    found.hear(heard(bad("one", status=None, ended=Ended.SILENCE, seconds=120.0), at=121.0), 121.0)

    assert found.besides(now(130.0)) is None


def test_at_most_one_confirmation_is_pending() -> None:
    found = begun(1.0)
    found.hear(heard(bad("one"), at=10.0), 10.0)
    found.hear(heard(bad("two"), at=12.0), 12.0)

    assert found.besides(now(12.0)) == Extra(15.0, "one")


def test_a_bad_confirming_probe_that_opens_nothing_is_confirmed_in_turn() -> None:
    found = begun(1.0)
    found.hear(heard(bad("one"), at=10.0), 10.0)
    found.start(Extra(15.0, "one"))
    found.free(found.take(15.0))
    found.hear(heard(bad("two", confirms="one"), at=16.0), 16.0)

    assert found.besides(now(16.0)) == Extra(21.0, "two")


@pytest.mark.parametrize(
    "judged",
    [
        pytest.param(heard(good(), at=10.0), id="a good one"),
        pytest.param(heard(bad(status=400), at=10.0), id="the caller's fault"),
        pytest.param(heard(bad(suspect_timing=True), at=10.0), id="our own fault"),
        pytest.param(heard(bad(), at=10.0, after=open_until(610.0)), id="one that opened the circuit"),
        pytest.param(heard(bad(), at=10.0, circuit=open_until(300.0)), id="one of an open circuit"),
        pytest.param(
            heard(bad(age_s=30.0), at=10.0, circuit=replace(CLOSED, moved_at=STORE - 10)),
            id="one that began before the circuit closed",
        ),
    ],
)
def test_nothing_else_is_confirmed(judged: Judged) -> None:
    found = begun(1.0)
    found.hear(judged, 10.0)
    circuit = judged.move.circuit if judged.move else judged.reading.circuit

    assert found.besides(now(10.0, replace(circuit, open_until=None))) is None


def test_a_circuit_that_opens_meanwhile_needs_no_confirmation() -> None:
    found = begun(1.0)
    found.hear(heard(bad(), at=10.0), 10.0)

    assert found.besides(now(11.0, open_until(600.0))) == Extra(600.0 + SETTLING_S, None)
    assert found.besides(now(12.0)) is None


# Half-open


def test_the_first_half_open_probe_comes_when_the_hold_ends() -> None:
    assert begun(1.0).besides(now(2.0, open_until(100.0))) == Extra(100.0 + SETTLING_S, None)


def test_half_open_probes_have_a_pace_of_their_own() -> None:
    found = begun(101.0)

    assert found.besides(now(102.0, open_until(100.0))) == Extra(116.0, None)


@pytest.mark.parametrize(
    ("at", "cause"), [(99.9, None), (100.0, Skip.HALF_OPEN)], ids=["while it is open", "from the end of the hold on"]
)
def test_regular_turns_go_on_until_the_hold_ends(at: float, cause: Skip | None) -> None:
    assert begun(1.0).skip(0, now(at, open_until(100.0))) is cause


# Budgets


def test_once_the_budget_is_spent_one_turn_in_ten_is_taken() -> None:
    found = begun(1.0)
    taken = [turn for turn in range(40) if found.skip(turn, now(60.0, level=Level.SPENT)) is None]

    assert taken == [0, 10, 20, 30]
    assert found.skip(7, now(60.0, level=Level.SPENT)) is Skip.BUDGET
    assert found.skip(7, now(60.0, level=Level.WARNED)) is None


def test_once_the_budget_is_spent_other_probes_come_once_an_interval() -> None:
    half_open, confirming = begun(101.0), begun(101.0)
    confirming.hear(heard(bad("one"), at=102.0), 102.0)

    assert half_open.besides(now(102.0, open_until(100.0), Level.SPENT)) == Extra(161.0, None)
    assert confirming.besides(now(102.0, level=Level.SPENT)) == Extra(161.0, "one")


# Fresh reports


@pytest.mark.parametrize(
    ("answers", "at", "cause"),
    [
        pytest.param([(good(), 10.0)], 60.0, Skip.FRESH, id="a good report within the interval"),
        pytest.param([(good(), 10.0)], 70.1, None, id="an old one"),
        pytest.param([(good(Source.PROBE), 10.0)], 60.0, None, id="a good probe is no report"),
        pytest.param([], 60.0, None, id="none"),
        pytest.param([(bad("b", age_s=9_999.0), 12.0), (good(), 20.0)], 60.0, None, id="a bad one between good ones"),
    ],
)
def test_a_turn_is_left_out_where_a_report_says_the_same(
    answers: list[tuple[Answer, float]], at: float, cause: Skip | None
) -> None:
    found = seat(skip_when_fresh=True)
    found.free(found.take(1.0))
    for answer, moment in answers:
        # Old enough to ask for no confirmation, which would be a cause of its own.
        found.hear(heard(answer, at=moment, circuit=replace(CLOSED, moved_at=STORE)), moment)

    assert found.skip(0, now(at)) is cause


def test_reports_never_replace_probes_unless_told_so_nor_while_the_circuit_is_open() -> None:
    told, untold = seat(skip_when_fresh=True), seat()
    for found in (told, untold):
        found.free(found.take(1.0))
        found.hear(heard(good(), at=10.0), 10.0)

    assert untold.skip(0, now(20.0)) is None
    assert told.skip(0, now(20.0, open_until(600.0))) is None
    assert told.skip(0, now(20.0)) is Skip.FRESH


# Other replicas' probes

NEEDLESS = Grant(given=False, began_ago_s=3.0)


def under_way(again_in_s: float = 20.0) -> Grant:
    """Another process's probe is under way, and does not do as well."""
    return Grant(given=False, again_in_s=again_in_s, began_ago_s=3.0)


def refuse(found: Seat, grant: Grant, at: float, circuit: Circuit = CLOSED, *, turn: int | None = None) -> Wish:
    """What is due now, or a turn, is asked for and refused; gives the wish."""
    extra = found.besides(now(at, circuit)) if turn is None else Extra(at, None)
    assert extra is not None
    if turn is None:
        found.start(extra)
    wish = found.wish(extra, now(at, circuit)) if turn is None else found.turn(turn)
    found.refused(found.take(at), extra, wish, grant, at)
    return wish


def test_turns_and_their_wishes_are_the_same_on_every_replica() -> None:
    """The phase is one on the store's clock, whatever ours says."""
    policy = Policy(interval_s=50.0)
    plan = replace(seat().plan, policy=policy)

    assert Seat(plan, 1.0, Phase(20.0, 50.0)).turn(7) == Wish(Need.TURN, 370.0, 50.0)


def test_a_turn_that_another_has_taken_leaves_everything_as_it_was() -> None:
    found = begun(1.0)
    refuse(found, NEEDLESS, 61.0, turn=1)

    assert not found.taken
    assert found.besides(now(61.0)) is None
    assert found.skip(2, now(61.5)) is None


def test_a_turn_that_anothers_old_probe_keeps_back_is_made_up_for_when_its_claim_lapses() -> None:
    """Whoever owned it may be dead."""
    found = begun(1.0)
    wish = refuse(found, under_way(), 61.0, turn=1)
    due = found.besides(now(61.0))

    assert due == Extra(81.0, None)
    assert found.wish(due, now(81.0)) == wish


def test_a_turn_that_another_has_taken_puts_off_no_first_probe() -> None:
    found = seat(first_at=5.0)
    refuse(found, NEEDLESS, 2.0, turn=1)

    assert found.besides(now(2.0)) == Extra(5.0, None)


@pytest.mark.parametrize(
    ("at", "since", "covers"),
    [
        pytest.param(10.0, STORE - 20.0, 0.0, id="the newest turn, late"),
        pytest.param(39.0, STORE - 20.0, STORE + 40.0, id="the next one too where that is nearer"),
    ],
)
def test_a_first_probe_is_a_turn_that_nobody_has_taken(at: float, since: float, covers: float) -> None:
    """A replica that starts beside others finds it taken."""
    found = Seat(seat().plan, 1.0, Phase(STORE % 60.0 - 20.0 + 60.0, 60.0))
    wish = refuse(found, NEEDLESS, at)

    assert wish == Wish(Need.TURN, since, 60.0, covers)
    assert found.besides(now(at)) is None


def test_a_confirming_probe_that_keeps_waiting_for_another_is_tried_again() -> None:
    found = begun(1.0)
    found.hear(heard(bad("one"), at=5.0), 5.0)
    wish = refuse(found, under_way(), 20.0)

    assert wish == Wish(Need.CONFIRM, STORE + 5.0, 60.0)
    assert found.besides(now(20.0)) == Extra(20.0 + AGAIN_S, "one")


def test_what_another_replica_has_confirmed_by_its_claim_is_not_tried_again() -> None:
    found = begun(1.0)
    found.hear(heard(bad("one"), at=5.0), 5.0)
    refuse(found, NEEDLESS, 20.0)

    assert found.besides(now(30.0)) is None


def test_a_half_open_probe_waits_for_the_pace_of_all_replicas() -> None:
    """The newest probe began 3 s ago elsewhere, so the next is due in 12 s."""
    found = begun(1.0)
    wish = refuse(found, NEEDLESS, 120.0, open_until(100.0))

    assert wish == Wish(Need.PACE, STORE + 120.0 - 15.0 * (1 - PACE_SLACK), 60.0)
    assert found.besides(now(120.0, open_until(100.0))) == Extra(132.0, None)


def test_a_probe_of_the_hold_is_no_half_open_one() -> None:
    found = begun(1.0)

    assert found.wish(Extra(100.1, None), now(100.1, open_until(100.0))) == Wish(Need.PACE, STORE + 100.0, 60.0)


def test_a_half_open_probe_that_another_keeps_back_is_tried_again() -> None:
    found = begun(1.0)
    refuse(found, replace(under_way(), began_ago_s=60.0), 120.0, open_until(100.0))

    assert found.besides(now(120.0, open_until(100.0))) == Extra(120.0 + AGAIN_S, None)


def test_the_probe_after_a_pause_is_one_for_all_replicas() -> None:
    found = begun(-5.0)
    extra = found.besides(now(1.0, paused(30.0)))
    assert extra is not None

    assert found.wish(extra, now(30.2)) == Wish(Need.TURN, STORE + 30.0, 60.0)


def test_half_open_probes_of_targets_that_opened_together_come_apart() -> None:
    """The last of four comes three eighths of the pace after the first."""
    found = [Seat(seat().plan, 1.0, place=place / 4) for place in range(4)]
    for one in found:
        one.free(one.take(1.0))
    dues = [one.besides(now(2.0, open_until(100.0))) for one in found]

    assert dues == [Extra(100.0 + SETTLING_S + 15.0 * place / 8, None) for place in range(4)]


def test_what_another_process_has_confirmed_is_not_confirmed_again() -> None:
    found = begun(1.0)
    found.hear(heard(bad("one", Source.REPORT), at=10.0), 10.0)
    found.overhear(probes(failed(STORE + 15.0, name="two", confirms="one")), now(15.5))

    assert found.besides(now(16.0)) is None


# Pauses that the provider asks for


def paused(until: float) -> Circuit:
    """A circuit that opened at 0 on our clock since too much was asked."""
    return replace(open_until(until), cause=Cause.RATE_LIMITED, moved_at=STORE)


def test_while_the_provider_wants_a_pause_nothing_is_asked_and_then_at_once() -> None:
    found = begun(-5.0)

    assert found.besides(now(1.0, paused(30.0))) == Extra(30.0 + SETTLING_S, None)
    assert found.skip(0, now(29.0, paused(30.0))) is Skip.RATE_LIMITED
    assert found.besides(now(31.0)) == Extra(30.0 + SETTLING_S, None)  # it has closed meanwhile
    found.free(found.take(31.0))
    assert found.besides(now(31.0)) is None


def test_a_first_probe_waits_for_the_end_of_a_pause_too() -> None:
    assert seat(first_at=3.0).besides(now(4.0, paused(30.0))) == Extra(30.0 + SETTLING_S, None)


@pytest.mark.parametrize(
    "circuit",
    [
        pytest.param(paused(600.0), id="without a time that the provider named, it is a hold as any other"),
        pytest.param(open_until(30.0), id="for another cause"),
        pytest.param(replace(paused(30.0), open_until=None), id="it has closed"),
    ],
)
def test_else_turns_go_on(circuit: Circuit) -> None:
    assert begun(-5.0).skip(0, now(10.0, circuit)) is None


@pytest.mark.parametrize(
    ("status", "source", "asked"),
    [
        pytest.param(429, Source.REPORT, True, id="an agent's 429"),
        pytest.param(429, Source.PROBE, False, id="a probe's 429 speaks for itself"),
        pytest.param(402, Source.REPORT, True, id="an agent's 402"),
        pytest.param(401, Source.REPORT, True, id="an agent's 401"),
        pytest.param(404, Source.REPORT, True, id="an agent's 404"),
        pytest.param(422, Source.REPORT, False, id="the caller's own fault"),
    ],
)
def test_what_an_agent_was_refused_asks_for_a_probe(status: int, source: Source, asked: bool) -> None:
    found = begun(1.0)
    found.hear(heard(bad("one", source, status=status), at=10.0), 10.0)

    assert (found.besides(now(10.0)) == Extra(15.0, "one")) is asked


def test_after_a_429_reports_replace_no_probe() -> None:
    found = seat(skip_when_fresh=True)
    found.free(found.take(1.0))
    found.hear(heard(good(), at=10.0), 10.0)
    found.hear(heard(bad("limited", Source.PROBE, status=429), at=11.0), 11.0)

    assert found.skip(0, now(20.0)) is None


# What other processes heard


def overheard(*entries: Entry) -> Log:
    return reports(*entries)


def test_a_bad_report_to_another_process_is_confirmed_once() -> None:
    found = begun(1.0)
    there = overheard(failed(STORE + 10.0, name="one"))
    found.overhear(there, now(10.5))
    confirming = found.besides(now(11.0))
    assert confirming == Extra(15.0, "one")
    found.start(confirming)
    found.overhear(there, now(16.0))

    assert found.besides(now(16.0)) is None


def test_what_somebody_began_to_confirm_after_a_report_is_not_asked_for_again() -> None:
    """It confirms another report, since that came first."""
    found = begun(1.0)
    confirming = replace(failed(STORE + 15.0, name="two", confirms="one"), began=STORE + 14.0)
    there = replace(overheard(failed(STORE + 12.0, name="other")), probes=(confirming,))
    found.overhear(there, now(16.0))

    assert found.besides(now(16.0)) is None


def test_what_was_heard_here_is_not_heard_again_in_the_log() -> None:
    found = begun(1.0)
    found.hear(heard(bad("one", Source.REPORT), at=10.0), 10.0)
    found.start(Extra(15.0, "one"))
    found.overhear(overheard(failed(STORE + 10.0, name="one")), now(10.5))

    assert found.besides(now(20.0)) is None


def test_an_old_report_in_the_log_asks_for_nothing() -> None:
    found = begun(1.0)
    found.overhear(overheard(failed(STORE + 10.0, name="one")), now(400.0))

    assert found.besides(now(400.0)) is None
