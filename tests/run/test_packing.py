"""Runs as bytes."""

from hypothesis import given

from breaker.answer import Ended, Finish
from breaker.run import Fact, Outcome, Says, State
from breaker.run.fold import NOTHING, more
from breaker.run.packing import pack, unpack
from breaker.verdict import Blame, Confidence, Verdict
from tests.run.drawn import TOLD
from tests.run.made import answer, bad, check, read, said, wrote

FACTS: list[Fact] = [
    answer(1, calls="ab" * 8, prompt_tokens=9_000, confidence=Confidence.LOW),
    bad(2, Verdict.EMPTY, Blame.INCONCLUSIVE, cause=Verdict.CONTEXT_TOO_LONG, ended=Ended.CANCELLED, finish=None),
    said(3, Says.NEXT, finish=Finish.PAUSED, status=None),
    wrote("refund", 4, State.UNKNOWN, needs=("look", "mail"), idempotency_key="k", at_s=1.5),
    read("look", 5, result="ab" * 8),
    wrote("mail", 6, State.EXECUTING),
    wrote("mail", 7, State.FAILED, replaces=("refund",), error="http_503", retryable=True),
    check(8, Outcome.UNKNOWN),
]


def test_a_run_comes_back_as_it_was() -> None:
    folded = more(NOTHING, FACTS)
    assert folded is not None
    found = unpack(pack(folded))

    assert found == folded
    for kept, before in ((found.run.steps, folded.run.steps), (found.run.operations, folded.run.operations)):
        assert [[type(value) for value in one] for one in kept] == [[type(value) for value in one] for one in before]
        assert [type(one) for one in kept] == [type(one) for one in before]
    assert list(found.stages) == ["refund", "mail"]


def test_nothing_comes_back_as_nothing() -> None:
    assert unpack(pack(NOTHING)) == NOTHING


@given(TOLD)
def test_whatever_was_told_it_comes_back_and_takes_more_in(told: list[list[Fact]]) -> None:
    folded = NOTHING
    for some in told:
        assert more(unpack(pack(folded)), some) == more(folded, some)
        found = more(folded, some) or NOTHING
        assert unpack(pack(found, folded, pack(folded))) == unpack(pack(found)) == found
        folded = found


def test_what_is_the_same_as_before_is_not_packed_again() -> None:
    before = more(NOTHING, FACTS)
    assert before is not None
    packed = pack(before)
    folded = more(before, [answer(9)])
    assert folded is not None
    found = pack(folded, before, packed)

    assert found.steps != packed.steps
    assert all(one is other for one, other in zip(found[1:], packed[1:], strict=True))
