"""A run is made of the set of its facts."""

import random

import pytest
from hypothesis import given

from breaker.run import Check, Effect, Fact, Outcome, Stage, State, fold
from breaker.run.fold import NOTHING, more
from breaker.verdict import Blame, Verdict
from tests.run.drawn import TOLD
from tests.run.made import answer, check, read, wrote

P, X, S, F, U = State.PLANNED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN
KEY = {"idempotency_key": "k"}

FACTS: list[Fact] = [
    answer(1, calls="aa"),
    answer(4),
    answer(4, id="other"),
    wrote("refund", 2, X),
    wrote("refund", 3, U),
    wrote("refund", 3, F),
    read("look", 3),
    check(5, Outcome.FAILED),
    check(6, Outcome.PASSED),
]


def test_neither_order_nor_repetition_of_facts_matters() -> None:
    chance = random.Random(7)
    runs = set()
    for _ in range(50):
        shuffled = [*FACTS, *chance.sample(FACTS, 4)]
        chance.shuffle(shuffled)
        runs.add(repr(fold(shuffled)))

    assert len(runs) == 1


def test_answers_stand_in_the_order_of_their_numbers_then_of_their_ids() -> None:
    run = fold([answer(4, id="b"), answer(4, id="a"), answer(1)])

    assert [step.id for step in run.steps] == ["s1", "a", "b"]


def test_of_an_answer_that_is_told_twice_in_two_ways_one_holds_whatever_came_first() -> None:
    one, other = answer(1), answer(1, verdict=Verdict.EMPTY, blame=Blame.PROVIDER_FAILURE)

    assert fold([one, other]) == fold([other, one])
    assert [step.verdict for step in fold([one, other]).steps] == [Verdict.EMPTY]


def test_of_two_answers_at_one_place_the_one_that_is_none_is_the_last() -> None:
    none = answer(4, id="a", verdict=Verdict.EMPTY, blame=Blame.PROVIDER_FAILURE)

    assert fold([none, answer(4, id="b")]).steps[-1] == none


def test_of_checks_with_one_name_the_last_holds() -> None:
    run = fold([check(6, Outcome.PASSED), check(5, Outcome.FAILED), check(2, Outcome.FAILED, "lint")])

    assert [(one.name, one.outcome) for one in run.checks] == [("lint", Outcome.FAILED), ("tests", Outcome.PASSED)]


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [
        pytest.param([check(5, Outcome.PASSED), check(5, Outcome.FAILED)], Outcome.FAILED, id="told in two ways"),
        pytest.param([check(5, Outcome.PASSED), check(5, Outcome.UNKNOWN)], Outcome.UNKNOWN, id="once not made"),
        pytest.param(
            [Check("z", 5, "tests", Outcome.PASSED), Check("a", 5, "tests", Outcome.FAILED)],
            Outcome.FAILED,
            id="two at one place",
        ),
    ],
)
def test_of_checks_that_contradict_each_other_the_one_holds_that_promises_least(
    checks: list[Check], outcome: Outcome
) -> None:
    for told in (checks, checks[::-1]):
        assert [one.outcome for one in fold(told).checks] == [outcome]


@pytest.mark.parametrize(
    ("stages", "key"),
    [
        pytest.param([wrote("a", 1, P, **KEY), wrote("a", 2, X), wrote("a", 3, X, attempt=2)], "k", id="planned with"),
        pytest.param([wrote("a", 1, X), wrote("a", 2, U, **KEY)], "k", id="told late, of the same attempt"),
        pytest.param([wrote("a", 1, U), wrote("a", 2, S, attempt=2, **KEY)], None, id="the first had none"),
        pytest.param(
            [wrote("a", 1, U, **KEY), wrote("a", 2, S, attempt=2, idempotency_key="other")],
            None,
            id="another each time",
        ),
        pytest.param([wrote("a", 1, P, **KEY)], "k", id="not begun"),
    ],
)
def test_a_key_counts_where_all_attempts_had_it(stages: list[Stage], key: str | None) -> None:
    (operation,) = fold(stages).operations

    assert operation.idempotency_key == key
    assert key is not None or operation.state is U


@pytest.mark.parametrize(
    ("stages", "state"),
    [
        pytest.param([wrote("a", 1, P)], P, id="planned"),
        pytest.param([wrote("a", 1, X), wrote("a", 2, P)], X, id="what was planned has begun"),
        pytest.param([wrote("a", 1, S), wrote("a", 9, X)], S, id="an end stands before its begin, told late"),
        pytest.param([wrote("a", 1, U), wrote("a", 2, S)], S, id="unknown until somebody looked, and it had happened"),
        pytest.param([wrote("a", 1, U), wrote("a", 2, F)], F, id="unknown until somebody looked, and it had not"),
        pytest.param([wrote("a", 1, S), wrote("a", 2, F)], F, id="found to have failed later"),
        pytest.param([wrote("a", 1, S), wrote("a", 1, U)], U, id="of two ends at one place the one that promises less"),
        pytest.param([wrote("a", 1, F), wrote("a", 2, S, attempt=2)], S, id="the second attempt succeeded"),
        pytest.param([wrote("a", 1, F), wrote("a", 2, X, attempt=2)], X, id="the second attempt is under way"),
        pytest.param(
            [wrote("a", 1, U), wrote("a", 2, S, attempt=2)], U, id="a blind retry: it may have happened twice"
        ),
        pytest.param(
            [wrote("a", 1, X), wrote("a", 2, S, attempt=2)], U, id="the first attempt was never heard of again"
        ),
        pytest.param([wrote("a", 1, U, **KEY), wrote("a", 2, S, attempt=2)], S, id="with a key a retry is safe"),
        pytest.param([wrote("a", 1, S, **KEY), wrote("a", 2, U, attempt=2)], S, id="with a key once is enough"),
        pytest.param(
            [wrote("a", 1, S), wrote("a", 2, U, attempt=2)], U, id="without, the second may have happened too"
        ),
        pytest.param([wrote("a", 1, S), wrote("a", 2, F, attempt=2)], S, id="it happened, and not a second time"),
        pytest.param([wrote("a", 1, U, **KEY), wrote("a", 2, F, attempt=2)], U, id="that a retry failed says little"),
        pytest.param([read("a", 1, U), read("a", 2, F, attempt=2)], F, id="of one that reads the last attempt holds"),
        pytest.param([read("a", 1, X), read("a", 2, S, attempt=2)], S, id="one that reads may be tried at will"),
    ],
)
def test_an_operation_is_what_its_attempts_together_come_to(stages: list[Stage], state: State) -> None:
    (operation,) = fold(stages).operations

    assert operation.state is state
    assert fold(reversed(stages)).operations == (operation,)


def test_what_is_known_of_an_operation_comes_from_all_its_stages() -> None:
    (operation,) = fold(
        [
            wrote("a", 1, P, needs=("b",), required=False, effect=Effect.READ),
            wrote("a", 2, X, needs=("c", "b"), idempotency_key="k", at_s=3.0),
            wrote("a", 5, F, error="http_503", retryable=True, reference="r-1", seconds=2.0, result="aa" * 8),
        ]
    ).operations

    assert (operation.seq, operation.ended_seq, operation.attempts) == (1, 5, 1)
    assert (operation.needs, operation.required, operation.effect) == (("c", "b"), False, Effect.WRITE)
    assert (operation.error, operation.retryable, operation.seconds, operation.at_s) == ("http_503", True, 2.0, 3.0)
    assert (operation.reference, operation.results) == ("r-1", frozenset({"aa" * 8}))


@pytest.mark.parametrize(("stage", "required"), [(wrote("a", 1), True), (read("a", 1), False)])
def test_what_writes_is_needed_unless_said_otherwise(stage: Stage, *, required: bool) -> None:
    assert fold([stage]).operations[0].required is required


def test_an_operation_that_failed_may_be_done_in_another_way() -> None:
    run = fold([wrote("a", 1, F), wrote("b", 2, S, replaces=("a",))])
    failed, other = run.operations

    assert run.replaced(failed)
    assert run.has("a")
    assert not run.replaced(other)


@pytest.mark.parametrize(
    "stages",
    [
        pytest.param([wrote("a", 1, F), wrote("b", 2, F, replaces=("a",))], id="by one that failed"),
        pytest.param([wrote("a", 3, F), wrote("b", 2, S, replaces=("a",))], id="by an earlier one"),
        pytest.param([wrote("a", 1, U), wrote("b", 2, S, replaces=("a",))], id="of which nobody knows"),
    ],
)
def test_it_is_not_replaced(stages: list[Stage]) -> None:
    run = fold(stages)

    assert not run.has("a")


def test_an_operation_that_nobody_told_of_is_none() -> None:
    assert fold([]).operation("a") is None
    assert not fold([]).has("a")


@given(TOLD)
def test_told_some_after_others_facts_make_the_run_that_they_make_together(told: list[list[Fact]]) -> None:
    folded, facts = NOTHING, list[Fact]()
    for some in told:
        facts += some
        found = more(folded, some)
        folded = found or more(NOTHING, facts[::-1]) or NOTHING

        assert folded.run == fold(facts)


def test_of_what_has_not_succeeded_the_stages_are_known() -> None:
    stages = [wrote("a", 1, X), wrote("a", 2, F), wrote("a", 3, S, attempt=2)]
    folded = NOTHING
    for number, one in enumerate(stages, 1):
        found = more(folded, [one])

        assert found is not None
        assert found.run == fold(stages[:number])
        folded = found
    assert folded.stages == {}


@pytest.mark.parametrize("late", [wrote("a", 1, X), wrote("a", 3, F)], ids=["its begin", "its failure"])
def test_what_is_told_late_of_one_that_succeeded_needs_all_that_was_told_of_it(late: Stage) -> None:
    folded = more(NOTHING, [wrote("a", 2)])

    assert folded is not None
    assert more(folded, [late]) is None


def test_that_more_came_than_is_kept_is_known_without_a_fact() -> None:
    folded = more(NOTHING, FACTS)

    assert folded is not None
    assert more(folded, [], overfull=True) == (fold(FACTS, overfull=True), folded.stages)


def test_of_several_that_replace_one_the_last_that_succeeded_counts() -> None:
    first, failed, later = (
        wrote("b", 1, replaces=("a",)),
        wrote("a", 2, State.FAILED),
        wrote("c", 3, State.SUCCEEDED, replaces=("a",)),
    )

    assert not fold([first, failed]).has("a")
    assert fold([first, failed, later]).has("a")
    assert fold([failed, later, wrote("d", 4, State.FAILED, replaces=("a",))]).has("a")
