"""Facts as lines."""

import pytest

from breaker.answer import Finish
from breaker.run import Fact, Outcome, Says, State, codec
from breaker.verdict import Verdict
from tests.run.made import answer, bad, check, read, wrote

FACTS: list[Fact] = [
    answer(1),
    answer(2, calls="ab" * 8, says=Says.NEXT, finish=Finish.TOOL_CALLS, prompt_tokens=9, completion_tokens=0),
    bad(3, Verdict.EMPTY, cause=Verdict.CONTEXT_TOO_LONG),
    read("look", 4),
    wrote("a", 5, State.FAILED, needs=("b", "c"), replaces=("d",), required=True, retryable=False, at_s=1.5),
    check(6, Outcome.UNKNOWN),
]


@pytest.mark.parametrize("fact", FACTS, ids=repr)
def test_a_fact_comes_back_as_it_was(fact: Fact) -> None:
    line = codec.write(fact)
    (found,) = codec.read([line])

    assert found == fact
    assert type(found) is type(fact)
    assert [type(value) for value in found] == [type(value) for value in fact]
    assert line.isascii()
    assert "\n" not in line


def test_all_are_read_together() -> None:
    assert codec.read([codec.write(fact) for fact in FACTS]) == FACTS
    assert codec.read([]) == []


def test_what_a_newer_version_adds_is_left_out() -> None:
    assert codec.read(['["c","c1",1,"tests","passed","news"]']) == [check(1, Outcome.PASSED)]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "7",
        "[]",
        '["x","c1",1]',
        '["c"]',
        '["c","c1"]',
        '["c","c1",1,"tests","maybe"]',
        '["c","c1",1,"tests",[]]',
        '["c","c1","1","tests","passed"]',
        '["o","a",1,"a","planned","read",1,7,[]]',
        '["s",1',
        "{}",
        "[[]]",
    ],
)
def test_what_cannot_be_read_is_left_out_and_takes_no_other_with_it(line: str) -> None:
    assert codec.read([codec.write(FACTS[0]), line, codec.write(FACTS[3])]) == [FACTS[0], FACTS[3]]
