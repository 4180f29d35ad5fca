import json
import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.answer import Answer, Body, Ended, Fault, Finish, Part, Source
from breaker.errors import BadFactError

LEAST: dict[str, object] = {"target": "zai/glm", "id": "a1", "ended": "complete", "seconds": 1.5}


def test_the_least_that_is_known_is_enough() -> None:
    answer = Answer.from_facts(LEAST)

    assert answer == Answer(target="zai/glm", id="a1", ended=Ended.COMPLETE, seconds=1.5)
    assert answer.facts() == LEAST


def test_facts_are_ready_for_json() -> None:
    answer = Answer(
        target="zai/glm",
        id="a1",
        ended=Ended.RESET,
        seconds=2,
        source=Source.PROBE,
        status=200,
        body=Body.SSE,
        finish=Finish.STOP,
        fault=Fault.QUOTA,
        end_mark=False,
        text_chars=0,
        suspect_timing=True,
    )

    assert Answer.from_facts(json.loads(json.dumps(answer.facts()))) == answer
    assert answer.facts()["text_chars"] == 0
    assert "prompt_tokens" not in answer.facts()


@pytest.mark.parametrize(("said", "read"), [(200.0, 200), (200, 200), (1e3, 1000)])
def test_a_whole_number_may_be_written_with_a_point(said: float, read: int) -> None:
    """As JSON Schema's `integer` may."""
    answer = Answer.from_facts({"target": "a/m", "id": "a", "ended": "complete", "seconds": 1, "prompt_tokens": said})

    assert (answer.prompt_tokens, type(answer.prompt_tokens)) == (read, int)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param({"colour": 1}, "'colour' is not a fact of an answer; facts are: target, id, ended,", id="unknown"),
        pytest.param({"id": None}, "'id' is missing; every answer needs target, id, ended and seconds", id="missing"),
        pytest.param(
            {"ended": "exploded"}, "ended is a text (not shown); it is one of: complete, reset,", id="no such end"
        ),
        pytest.param({"ended": 3}, "ended is 3; it is one of: complete,", id="an end that is a number"),
        pytest.param({"seconds": "1"}, "seconds is a text (not shown); it must be", id="a text for a number"),
        pytest.param({"seconds": True}, "seconds is True; it must be a number", id="a truth for a number"),
        pytest.param(
            {"status": 200.5}, "status is 200.5; it must be a whole number", id="a fraction for a whole number"
        ),
        pytest.param({"text_chars": 1e300}, "text_chars is 1e+300; it must be", id="a float beyond exactness"),
        pytest.param({"text_chars": float("inf")}, "text_chars is inf; it must be", id="an endless whole number"),
        pytest.param({"status": True}, "status is True; it must be a whole number", id="a truth for a whole number"),
        pytest.param({"streamed": 1}, "streamed is 1; it must be true or false", id="a number for a truth"),
        pytest.param({"streamed": None}, "streamed is None; it must be true or false", id="nothing for a truth"),
        pytest.param({"target": 7}, "target is 7; it must be a text", id="a number for a text"),
        pytest.param({"target": ["x" * 99]}, "target is ['" + "x" * 35 + "…; it must", id="what is quoted is short"),
        pytest.param({"target": ""}, "target has 0 characters; it must have 1 to 192", id="no target"),
        pytest.param({"target": "x" * 193}, "target has 193 characters; it must have 1 to 192", id="a long target"),
        pytest.param({"id": "x" * 65}, "id has 65 characters; it must have 1 to 64", id="a long id"),
        pytest.param({"confirms": ""}, "confirms has 0 characters", id="nothing confirmed"),
        pytest.param({"phrase": "x" * 65}, "phrase has 65 characters", id="a phrase in words"),
        pytest.param({"seconds": -0.1}, "seconds is -0.1; it must be a number from 0 to 1e12", id="negative"),
        pytest.param({"seconds": math.nan}, "seconds is nan; it must be a number from 0 to 1e12", id="no number"),
        pytest.param({"seconds": math.inf}, "seconds is inf; it must be a number from 0 to 1e12", id="endless"),
        pytest.param({"prompt_tokens": 10**13}, "prompt_tokens is 10000000000000; it must be", id="too many"),
        pytest.param(
            {"part": "late"}, "ended is 'complete' in a late part; a late part's end is 'pending'", id="late and over"
        ),
        pytest.param(
            {"ended": "pending"},
            "ended is 'pending' in a final part; say how it ended, or send",
            id="final and not over",
        ),
    ],
)
def test_what_cant_be_is_refused(more: dict[str, object], message: str) -> None:
    with pytest.raises(BadFactError) as caught:
        Answer.from_facts(LEAST | more)

    assert str(caught.value).startswith(message)


def test_a_whole_number_of_seconds_is_a_number() -> None:
    seconds = Answer.from_facts(LEAST | {"seconds": 2}).seconds

    assert (seconds, type(seconds)) == (2.0, float)


def test_nothing_stands_for_not_known() -> None:
    assert Answer.from_facts(LEAST | {"status": None, "body": None}).status is None


def test_a_late_part_is_pending() -> None:
    late = Answer.from_facts(LEAST | {"part": "late", "ended": "pending"})

    assert (late.part, late.ended) == (Part.LATE, Ended.PENDING)


_names = st.sampled_from([field.name for field in fields(Answer)]) | st.text(max_size=3)
_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)


@given(st.dictionaries(_names, _values | st.sampled_from([*Ended, *Part, *Body, *Finish]), max_size=8))
def test_reports_are_read_or_refused_and_nothing_else(more: dict[str, object]) -> None:
    try:
        answer = Answer.from_facts(LEAST | more)
    except BadFactError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert Answer.from_facts(answer.facts()) == answer

    assert len(refusal) < 1_000
