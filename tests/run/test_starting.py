"""Which operations may begin."""

import pytest

from breaker.run import Fact, State, Why, blocked, fold, hindrance
from tests.run.made import read, wrote

P, X, S, F, U = State.PLANNED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param([], None, id="one that nobody has told of"),
        pytest.param([wrote("a", 1, P)], None, id="one that is planned"),
        pytest.param([wrote("a", 1, X)], Why.NOBODY_KNOWS, id="one under way"),
        pytest.param([wrote("a", 1, U)], Why.NOBODY_KNOWS, id="one of which nobody knows"),
        pytest.param([wrote("a", 1, F)], Why.NOT_AGAIN, id="one that failed, perhaps halfway"),
        pytest.param([wrote("a", 1, F, retryable=True)], None, id="one of which nothing happened"),
        pytest.param([wrote("a", 1, U, idempotency_key="k")], None, id="one with a key"),
        pytest.param([wrote("a", 1, S, idempotency_key="k")], Why.DONE, id="one that has happened"),
        pytest.param([read("a", 1, U)], None, id="one that only reads"),
    ],
)
def test_an_operation_may_begin_unless_it_may_have_happened(facts: list[Fact], why: Why | None) -> None:
    run = fold(facts)
    found = hindrance(run, run.operation("a"))

    assert (found and found.why) == why


@pytest.mark.parametrize(
    ("need", "waits"),
    [
        pytest.param([wrote("b", 1, S)], False, id="it succeeded"),
        pytest.param([wrote("b", 1, U)], True, id="nobody knows of it"),
        pytest.param([wrote("b", 1, X)], True, id="it is under way"),
        pytest.param([], True, id="nobody has told of it"),
        pytest.param([wrote("b", 1, F), wrote("c", 2, S, replaces=("b",))], False, id="it was done in another way"),
    ],
)
def test_what_depends_on_another_waits_until_that_has_succeeded(need: list[Fact], *, waits: bool) -> None:
    told, untold = fold([*need, read("a", 9, P, needs=("b",))]), fold(need)
    found = hindrance(told, told.operation("a")), hindrance(untold, None, needs=("b",))

    assert found == ((Why.NEEDS, ("b",)),) * 2 if waits else found == (None, None)


@pytest.mark.parametrize(
    ("facts", "yes"),
    [
        pytest.param([wrote("b", 1, U)], True, id="by one of which nobody knows"),
        pytest.param([wrote("b", 1, F)], True, id="by one that failed"),
        pytest.param([wrote("b", 1, X)], False, id="not by one under way"),
        pytest.param([], False, id="not by one that is still to be told of"),
        pytest.param([wrote("b", 1, P, needs=("c",)), wrote("c", 2, F)], True, id="by one that is blocked"),
        pytest.param([wrote("b", 1, P, needs=("c",)), wrote("c", 2, P)], False, id="not by one that may begin"),
        pytest.param([wrote("b", 1, P, needs=("a",))], True, id="by one that waits for it"),
        pytest.param([wrote("b", 1, F), wrote("c", 2, S, replaces=("b",))], False, id="not by one that was replaced"),
    ],
)
def test_an_operation_is_blocked(facts: list[Fact], *, yes: bool) -> None:
    run = fold([*facts, wrote("a", 9, P, needs=("b",))])

    assert ("a" in blocked(run)) is yes


def test_one_that_needs_itself_never_begins() -> None:
    assert blocked(fold([wrote("a", 1, P, needs=("a",))])) == {"a"}


def test_one_in_a_row_of_a_thousand_is_blocked_by_the_last() -> None:
    row = [wrote(f"a{number}", number, P, needs=(f"a{number + 1}",)) for number in range(999)]

    assert len(blocked(fold([*row, wrote("a999", 999, F)]))) == 999
    assert not blocked(fold([*row, wrote("a999", 999, X)]))


def test_where_many_need_many_each_is_looked_at_once() -> None:
    """There are more ways through these than anybody could follow."""
    layers = [[f"{layer}-{number}" for number in range(16)] for layer in range(16)]
    facts = [
        wrote(name, 1, P, needs=tuple(below))
        for layer, below in zip(layers, [*layers[1:], []], strict=True)
        for name in layer
    ]

    assert not blocked(fold(facts))
    assert len(blocked(fold([*facts, wrote("15-3", 2, U)]))) == 240
