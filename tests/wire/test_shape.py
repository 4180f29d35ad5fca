import json

import pytest

from breaker.wire.shape import MAX_ITEMS, MAX_OBJECTS, items, one, parse


@pytest.mark.parametrize(
    ("text", "objects", "sound"),
    [
        pytest.param("", [], True, id="nothing"),
        pytest.param(" \n", [], True, id="blanks"),
        pytest.param('{"a": 1}', [{"a": 1}], True, id="one"),
        pytest.param('[{"a": 1}, 2, {"b": 2}]', [{"a": 1}, {"b": 2}], True, id="a list"),
        pytest.param('{"a": 1}\n{"b": 2}\r\n', [{"a": 1}, {"b": 2}], True, id="one a line"),
        pytest.param('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}], False, id="glued together"),
        pytest.param('{"a": 1} {"b": 2}', [{"a": 1}, {"b": 2}], False, id="on one line"),
        pytest.param('{"a": 1}\ndata: [DONE]', [{"a": 1}], False, id="and rubble"),
        pytest.param('{"a', [], False, id="half of one"),
        pytest.param('{"a": NaN}', None, True, id="what is no number"),
        pytest.param("[" * 100_000, [], False, id="too deep"),
        pytest.param("9" * 10_000, [], False, id="too long a number"),
        pytest.param("1\n" * (MAX_ITEMS + 1), [], False, id="too many values"),
    ],
)
def test_texts_are_parsed(text: str, objects: list[object] | None, sound: bool) -> None:
    parsed = parse(text)

    assert parsed.sound is sound
    assert objects is None or parsed.objects == objects


def test_a_crowd_of_objects_is_left_alone() -> None:
    assert parse("[" + "{}," * MAX_OBJECTS + "{}]") == ([], False)


def test_brackets_in_a_text_are_no_crowd() -> None:
    code = 'if (a) { say("{\\"}"); }' * MAX_OBJECTS

    assert parse(json.dumps({"code": code})).objects == [{"code": code}]
    assert parse(json.dumps({"code": code})[:-9]) == ([], False)


def test_only_the_first_items_of_a_list_are_looked_at() -> None:
    assert len(items([{}] * (MAX_ITEMS + 5))) == MAX_ITEMS
    assert items({"a": 1}) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", None),
        ('{"a": 1} {"b": 2}', None),
        ("{", None),
        ("", None),
        ("{" * (MAX_OBJECTS + 1), None),
    ],
    ids=["one object", "a list", "two objects", "a broken one", "nothing", "a crowd"],
)
def test_one_object_is_read_by_itself(text: str, found: dict[str, object] | None) -> None:
    assert one(text) == found
