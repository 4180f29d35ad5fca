"""Where reports wait to be sent."""

from breaker.answer import Answer
from breaker.client.outbox import MOST_WAITING, Outbox, Waiting
from tests.api.world import good


def waiting(name: str, since: float = 10.0, age_s: float | None = None) -> Waiting:
    return Waiting(Answer.from_facts(good(name, age_s=age_s)), since)


def ids(taken: object) -> list[str]:
    return [each.answer.id for each in taken]  # type: ignore[attr-defined] # a sequence of those


def test_the_oldest_are_taken_first_and_wait_no_more_once_they_have_arrived() -> None:
    outbox = Outbox()
    assert [outbox.add(waiting(name)) for name in "abc"] == [True, False, False]

    assert ids(outbox.take(2)) == ["a", "b"]
    assert len(outbox) == 3
    outbox.arrived()

    assert len(outbox) == 1
    assert ids(outbox.take(9)) == ["c"]


def test_what_did_not_arrive_is_taken_again_in_its_order() -> None:
    outbox = Outbox()
    for name in "abc":
        outbox.add(waiting(name))
    outbox.take(2)
    outbox.add(waiting("d"))
    outbox.put_back()

    assert ids(outbox.take(9)) == ["a", "b", "c", "d"]
    assert outbox.dropped == 0


def test_where_all_places_are_taken_the_oldest_go_and_are_counted() -> None:
    outbox = Outbox()
    outbox.add(waiting("first"))
    outbox.add(waiting("second"))
    outbox.take(1)
    for i in range(MOST_WAITING):
        outbox.add(waiting(f"n{i}"))
    outbox.put_back()

    assert len(outbox) == MOST_WAITING
    assert ids(outbox.take(1)) == ["n0"]
    assert outbox.dropped == 2


def test_what_is_given_up_is_counted_also_what_was_under_way() -> None:
    outbox = Outbox()
    for name in "abc":
        outbox.add(waiting(name))
    outbox.take(2)
    outbox.give_up()

    assert (len(outbox), outbox.dropped) == (0, 3)


def test_an_age_grows_while_a_report_waits() -> None:
    ended = waiting("a", since=10.0)
    begun = waiting("b", since=10.0, age_s=30.0)

    assert ended.facts(10.0)["age_s"] == 9.1
    assert ended.facts(70.0)["age_s"] == 69.1
    assert begun.facts(70.0)["age_s"] == 90.0
    assert ended.facts(5.0)["age_s"] == 9.1  # a clock never goes back, and no age shrinks
    assert "source" not in ended.facts(10.0)
