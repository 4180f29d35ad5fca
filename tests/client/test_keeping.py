"""What is known of each route, and what its next step is told; the clock is the test's own."""

from dataclasses import replace

import pytest

from breaker.client import DoorGoneError, DoorRefusedError, Spot
from breaker.client.alone import Alone
from breaker.client.keeping import IDLE_S, MOST_ROUTES, PATIENCE_S, WAIT_S, Book, Kept
from breaker.client.said import Decision, Needs, Source
from tests.client import serving

SPOT: Spot = {"target": "own/spare", "base_url": "http://spare.example", "wire": "openai-chat"}


def decision(target: str = "a/b", **other: object) -> Decision:
    return Decision.read(serving.decision(target=target, **other))


def asked(book: Book, name: str | None = "coder", now: float = 100.0) -> Kept:
    kept, _ = book.ask(name, now)
    return kept


def test_a_decision_is_told_until_it_ends_and_each_switch_once() -> None:
    book = Book((), strict=False)
    kept = asked(book)
    book.take(kept, decision(), 100.0, 5.0)
    first = book.decide(kept, 100.5)
    book.take(kept, decision("c/d"), 101.0, 5.0)
    assert kept.until == 0.0  # so that the next step is told
    second, third = book.decide(kept, 101.5), book.decide(kept, 102.0)

    assert [(d.target, d.switched) for d in (first, second, third) if d] == [
        ("a/b", False),
        ("c/d", True),
        ("c/d", False),
    ]
    assert (kept.decision, kept.until) == (third, 106.0)


def test_one_that_is_renewed_is_told_on_without_another_look() -> None:
    book = Book((), strict=False)
    kept = asked(book)
    book.take(kept, decision(), 100.0, 5.0)
    book.decide(kept, 100.5)
    book.take(kept, decision(since_s=4.0), 104.0, 5.0)

    assert kept.until == 109.0
    assert kept.decision is not None
    assert kept.decision.since_s == 4.0


def test_seconds_are_those_of_the_moment() -> None:
    book = Book((), strict=False)
    kept = asked(book)
    book.take(kept, decision(since_s=10.0, until_s=3.0, retry_after_s=1.0, role="last_resort"), 100.0, 5.0)
    told = book.decide(kept, 102.0)

    assert told is not None
    assert (told.since_s, told.until_s, told.retry_after_s) == (12.0, 1.0, 0.0)


def test_the_services_last_word_goes_on_as_it_was() -> None:
    book = Book([SPOT], strict=False)
    kept = asked(book)
    last = decision(role="backup", primary="x/y", reason="slow", until_s=90.0)
    book.take(kept, last, 100.0, 5.0)
    before = book.decide(kept, 104.9)
    without_rules = book.decide(kept, 105.0)
    book.learn(Alone([SPOT], "session"))
    with_rules = book.decide(kept, 107.0)

    assert before is not None
    assert before.source is Source.SERVICE
    assert without_rules == replace(last.aged(5.0), stale=True, source=Source.KEPT)
    assert with_rules == replace(last.aged(7.0), stale=True, source=Source.KEPT)
    assert kept.until == 108.0  # without the service another look is taken each second


def test_strictly_nothing_is_told_twice_without_the_service() -> None:
    book = Book([SPOT], strict=True)
    kept = asked(book)

    assert book.decide(kept, 100.0) is not None
    assert kept.until == 100.0


@pytest.mark.parametrize(
    ("fallback", "patient", "ready", "expected"),
    [
        pytest.param([], True, True, PATIENCE_S, id="nothing is known"),
        pytest.param([], True, False, PATIENCE_S, id="nothing is known, and nobody is ready to ask"),
        pytest.param([], False, True, WAIT_S, id="nothing is known, in a hurry"),
        pytest.param([], False, False, 0.0, id="nothing is known, in a hurry, and nobody is ready to ask"),
        pytest.param([SPOT], True, True, WAIT_S, id="a fallback is known"),
        pytest.param([SPOT], True, False, 0.0, id="a fallback is known, and nobody is ready to ask"),
    ],
)
def test_only_the_first_step_waits_and_no_longer_than_that(
    fallback: list[Spot], patient: bool, ready: bool, expected: float
) -> None:
    book = Book(fallback, strict=False)
    kept = asked(book)

    assert book.wait_s(kept, 100.0, patient=patient, ready=ready) == pytest.approx(expected)
    assert book.wait_s(kept, 100.0 + expected, patient=patient, ready=ready) == 0.0
    book.lost(kept, DoorGoneError("gone"))
    assert book.wait_s(kept, 100.0, patient=patient, ready=ready) == 0.0


def waits_s(book: Book, kept: Kept) -> float:
    """How long a step that knows nothing waits when its question begins."""
    return book.wait_s(kept, 100.0, patient=True, ready=True)


def test_no_first_step_of_another_route_waits_for_a_service_that_is_known_not_to_answer() -> None:
    book = Book([], strict=False)
    kept, other = asked(book), asked(book, "reviewer")
    book.lost(kept, DoorGoneError("gone"))
    silent_s = waits_s(book, other)
    book.lost(kept, DoorRefusedError(404, "no such route"))
    refusing_s = waits_s(book, other)
    book.lost(kept, DoorGoneError("gone"))
    book.take(kept, decision(), 100.0, 5.0)
    answering_s = waits_s(book, other)

    assert [silent_s, refusing_s, answering_s] == pytest.approx([WAIT_S, PATIENCE_S, PATIENCE_S])


def test_what_a_first_step_has_waited_in_vain_no_other_one_waits_again() -> None:
    book = Book([], strict=False)
    asked(book)
    beside = book.wait_s(asked(book, "reviewer", 102.0), 102.0, patient=True, ready=True)
    after = book.wait_s(asked(book, "writer", 105.0), 105.0, patient=True, ready=True)

    assert [beside, after] == pytest.approx([PATIENCE_S, WAIT_S])


def test_who_waits_for_another_route_is_woken_once_the_service_is_known_not_to_answer() -> None:
    book, woken = Book([], strict=False), list[str]()
    kept, other = asked(book), asked(book, "reviewer")
    book.wait(other, lambda: woken.append("reviewer"))
    book.lost(kept, DoorRefusedError(404, "no such route"))
    refusing = list(woken)
    book.lost(kept, DoorGoneError("gone"))

    assert (refusing, woken) == ([], ["reviewer"])


def test_a_service_that_nobody_asks_any_more_may_answer_again() -> None:
    book = Book([], strict=False)
    kept, other = asked(book), asked(book, "reviewer")
    book.lost(kept, DoorGoneError("gone"))
    book.leave(kept)
    asked_on_s = waits_s(book, other)
    book.leave(other)
    alone_s = waits_s(book, asked(book))
    book.lost(kept, DoorGoneError("gone"))
    book.forked()

    assert [asked_on_s, alone_s, waits_s(book, asked(book))] == pytest.approx([WAIT_S, PATIENCE_S, PATIENCE_S])


def test_before_the_rules_are_loaded_another_target_is_known_too() -> None:
    other: Spot = {**SPOT, "target": "own/other"}
    book = Book([SPOT, other], strict=False)
    kept = asked(book)
    none_said = [book.besides("coder", tried, 100.0) for tried in ([], ["own/spare"], ["own/spare", "own/other"])]
    book.take(kept, decision("a/b"), 100.0, 5.0)
    said = [book.besides("coder", tried, 101.0) for tried in (["x/y"], ["a/b"])]

    assert [found and (found.target, found.role, found.primary) for found in none_said] == [
        ("own/spare", "primary", "own/spare"),
        ("own/other", "backup", "own/spare"),
        None,
    ]
    assert [found and found.target for found in said] == ["a/b", "own/spare"]


def test_who_waits_is_woken_once_the_service_has_said_something_or_cant() -> None:
    book, woken = Book((), strict=False), list[str]()
    kept, other = asked(book), asked(book, "reviewer")

    assert book.wait(kept, lambda: woken.append("kept"))
    assert book.wait(other, lambda: woken.append("other"))
    book.take(kept, decision(), 100.0, 5.0)
    book.lost(other, DoorGoneError("gone"))
    book.take(kept, decision(), 101.0, 5.0)

    assert woken == ["kept", "other"]
    assert not book.wait(kept, lambda: woken.append("late"))


def test_nobody_waits_for_a_client_that_has_ended() -> None:
    book, woken = Book((), strict=False), list[str]()
    kept = asked(book)
    book.wait(kept, lambda: woken.append("kept"))
    book.end()

    assert woken == ["kept"]
    assert (kept.followed, kept.settled) == (False, True)


def test_a_route_is_followed_while_it_is_asked_for() -> None:
    book = Book((), strict=False)
    kept, begins = book.ask("coder", 100.0)
    assert (begins, book.ask("coder", 101.0)) == (True, (kept, False))

    assert not book.idle(kept, 101.0 + IDLE_S)
    assert book.idle(kept, 101.1 + IDLE_S)
    book.leave(kept)

    assert book.ask("coder", 2000.0) == (kept, True)


def test_routes_asked_longest_ago_are_forgotten() -> None:
    book = Book((), strict=False)
    first = asked(book, "first", 1.0)
    for i in range(MOST_ROUTES):
        asked(book, f"r{i}", 2.0 + i)

    assert len(book.kept) == MOST_ROUTES
    assert "first" not in book.kept
    assert book.idle(first, 3.0)


def test_a_step_with_needs_is_told_the_same_where_too_little_is_known() -> None:
    book = Book((), strict=False)
    kept = asked(book)
    book.take(kept, decision(), 100.0, 5.0)
    told = book.decide(kept, 100.0)

    assert told is not None
    assert book.fit(kept, told, Needs(frozenset({"vision"}), 10), 100.0) is told


def test_a_new_process_follows_and_waits_anew() -> None:
    book = Book((), strict=False)
    kept = asked(book)
    book.take(kept, decision(), 100.0, 5.0)
    book.forked()

    assert book.ask("coder", 101.0) == (kept, True)
    assert book.decide(kept, 101.0) is not None
