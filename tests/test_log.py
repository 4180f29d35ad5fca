"""What answers mean to a circuit, and which of them stand in a row."""

import pytest

from breaker.answer import Ended
from breaker.log import Entry, Weight, row, telling, weigh
from breaker.policy import Policy
from tests.entries import entry, failed, good, refused, silent, slow

POLICY = Policy()


@pytest.mark.parametrize(
    ("made", "weight"),
    [
        pytest.param(good(0), Weight.GOOD, id="a quick good answer is good"),
        pytest.param(good(0, first_byte_s=40.0), Weight.GOOD, id="40.000 s is not later than 40 s"),
        pytest.param(good(0, first_byte_s=40.001, seconds=41.0), Weight.SLOW, id="40.001 s is"),
        pytest.param(silent(0), Weight.SLOW, id="silence counts when the limit passes"),
        pytest.param(silent(0, seconds=10.0), Weight.NOTHING, id="silence for an agent's own shorter limit doesn't"),
        pytest.param(
            good(0, first_byte_s=12.0, seconds=13.0, late=True), Weight.GOOD, id="nor a first byte within ours"
        ),
        pytest.param(silent(0, streamed=False), Weight.NOTHING, id="nor where no stream was asked for"),
        pytest.param(failed(0), Weight.FAILED, id="a 500 failed"),
        pytest.param(failed(0, late=True), Weight.FAILED, id="late and then failed is failed"),
        pytest.param(refused(0), Weight.NOTHING, id="the caller's fault counts nothing"),
        pytest.param(
            entry(0, ended=Ended.CANCELLED, first_byte_s=None, seconds=39.9), Weight.NOTHING, id="cancelled before 40 s"
        ),
        pytest.param(
            entry(0, ended=Ended.CANCELLED, first_byte_s=None, seconds=40.0), Weight.SLOW, id="cancelled after 40 s"
        ),
        pytest.param(
            entry(0, ended=Ended.CANCELLED, first_byte_s=None, seconds=41.0, late=True),
            Weight.SLOW,
            id="late and then cancelled",
        ),
        pytest.param(
            good(0, streamed=False, first_byte_s=None, seconds=90.0), Weight.GOOD, id="a plain answer can't be slow"
        ),
        pytest.param(slow(0, suspect=True), Weight.NOTHING, id="while our own loop stalled nothing counts"),
        pytest.param(failed(0, suspect=True), Weight.NOTHING, id="not even a failure"),
    ],
)
def test_an_answer_weighs(made: Entry, weight: Weight) -> None:
    assert weigh(made, POLICY) is weight


def test_only_answers_of_requests_that_began_later_tell_anything() -> None:
    made = [failed(10, began=5), refused(11, began=10), failed(20, began=10.5)]

    assert telling(made, POLICY, since=10) == made[2:]


@pytest.mark.parametrize(
    ("made", "length"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([failed(0), good(60), failed(120), slow(180)], 2, id="a good one breaks the row"),
        pytest.param([failed(0), failed(152)], 2, id="150 s from end to begin is near enough"),
        pytest.param([failed(0), failed(152.1)], 1, id="150.1 s is not"),
        pytest.param([failed(0), failed(500, began=5)], 2, id="an answer of minutes is no gap"),
        pytest.param([failed(0), good(60)], 0, id="the newest is good"),
    ],
)
def test_a_row_of_bad_ones_is_this_long(made: list[Entry], length: int) -> None:
    assert len(row(made, POLICY, bad=True)) == length


def test_a_row_keeps_the_order_in_which_answers_counted() -> None:
    made = [good(0), failed(60), slow(120)]

    assert row(made, POLICY, bad=True) == made[1:]


def test_an_answer_that_waited_stands_where_it_counted() -> None:
    made = [good(120), failed(60), failed(180)]

    assert telling(made, POLICY, since=0) == [made[1], made[0], made[2]]
