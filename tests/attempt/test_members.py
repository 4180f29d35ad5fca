import json

import pytest

from breaker.attempt.members import members, replaced

BODY = '{ "model" : "old", "messages": [{"model": "inner"}], "n":1.0,\n"x": {}}'


def test_a_value_is_replaced_and_all_else_left_as_it_was_written() -> None:
    changed = replaced(BODY, {"model": "new/é"})

    assert changed == BODY.replace('"old"', '"new/é"')


def test_several_values_are_replaced_at_once() -> None:
    changed = replaced(BODY, {"n": 2, "model": "new", "x": {"y": [1]}})

    assert json.loads(changed) == {"model": "new", "messages": [{"model": "inner"}], "n": 2, "x": {"y": [1]}}


def test_a_value_that_is_not_there_is_put_in() -> None:
    assert json.loads(replaced(BODY, {"new": True})) == {**json.loads(BODY), "new": True}


def test_a_value_is_put_into_an_empty_object() -> None:
    assert replaced(" { } ", {"new": 1}) == ' {"new": 1 } '


def test_the_last_of_two_values_of_one_name_is_the_one() -> None:
    """That is what servers read, and so what is to be replaced."""
    assert json.loads(replaced('{"a": 1, "a": 2}', {"a": 3})) == {"a": 3}


def test_what_is_no_object_can_not_be_changed() -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        replaced("[]", {"a": 1})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("[1]", id="a list"),
        pytest.param("{", id="an open one"),
        pytest.param('{"a": 1', id="one that breaks off"),
        pytest.param('{"a" 1}', id="one without a colon"),
        pytest.param('{"a": 1 "b": 2}', id="one without a comma"),
        pytest.param("{1: 2}", id="a name that is no text"),
        pytest.param('{"a": 1} {"b": 2}', id="two of them"),
        pytest.param("{} x", id="an empty one with more behind it"),
        pytest.param('{"a": nope}', id="a word that is none"),
        pytest.param('{"a": ' + "[" * 100_000, id="one too deep to read"),
    ],
)
def test_text_that_is_no_object_has_no_members(text: str) -> None:
    assert members(text) is None


def test_an_empty_object_has_no_members() -> None:
    assert members(" {} ") == {}
