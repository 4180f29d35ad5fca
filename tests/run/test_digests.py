"""Digests of what may not be known."""

from breaker.run import digests

CALL = ("refund", '{"order": 7, "why": "late"}')


def test_calls_are_the_same_by_what_they_say_in_any_order_and_form() -> None:
    other = ("look", {"at": [1, 2]})
    found = {
        digests.calls("r", [CALL, other]),
        digests.calls("r", [other, ("refund", '{"why":"late","order":7}')]),
        digests.calls("r", [("refund", {"why": "late", "order": 7}), ("look", b'{"at": [1, 2]}')]),
    }

    assert len(found) == 1


def test_calls_differ_by_name_by_arguments_and_by_run() -> None:
    found = {
        digests.calls("r", [CALL]),
        digests.calls("r2", [CALL]),
        digests.calls("r", [("reject", CALL[1])]),
        digests.calls("r", [("refund", '{"order": 8, "why": "late"}')]),
        digests.calls("r", [("refund", "{broken")]),
        digests.calls("r", [CALL, CALL]),
    }

    assert len(found) == 6


def test_an_answer_without_calls_has_no_digest() -> None:
    assert digests.calls("r", []) is None


def test_a_runs_name_tells_nothing_of_its_id() -> None:
    assert digests.key_of("goal-17") != digests.key_of("goal-18")
    assert len(digests.key_of("goal-17")) == 32


class Unspeakable:
    """Something that can't say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError


def test_what_cannot_say_what_it_is_has_a_text_too() -> None:
    assert "Unspeakable" in digests.text_of(Unspeakable())


def test_whatever_a_value_is_made_of_it_has_a_text() -> None:
    loop: list[object] = []
    loop.append(loop)

    assert digests.text_of({"b": 1, "a": {2}}) == '{"a": "{2}", "b": 1}'
    assert digests.text_of({1: "x", "y": 2}) == "{1: 'x', 'y': 2}"
    assert digests.text_of(loop) == "[[...]]"
