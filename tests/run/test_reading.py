"""Facts of a run as somebody else wrote them."""

import pytest

from breaker.errors import BadFactError
from breaker.run import Check, Effect, Outcome, Says, Stage, State, reading

STAGE = {"id": "op-1", "seq": 3, "tool": "refund", "state": "unknown"}
SECRET = "the customer's words"


def test_a_stage_is_read_with_all_its_facts() -> None:
    said = {
        **STAGE,
        "effect": "write",
        "attempt": 2,
        "needs": ["op-0", "op-0"],
        "replaces": [],
        "required": True,
        "idempotency_key": "key-1",
        "reference": "re_123/4",
        "error": "http_504",
        "retryable": False,
        "arguments": "ab" * 8,
        "result": None,
        "seconds": 4,
        "at_s": 1.5,
    }

    assert reading.stage(said) == Stage(
        id="op-1",
        seq=3,
        tool="refund",
        state=State.UNKNOWN,
        effect=Effect.WRITE,
        attempt=2,
        needs=("op-0",),
        required=True,
        idempotency_key="key-1",
        reference="re_123/4",
        error="http_504",
        retryable=False,
        arguments="ab" * 8,
        seconds=4.0,
        at_s=1.5,
    )


def test_a_check_is_read() -> None:
    assert reading.check({"id": "c", "seq": 0, "name": "tests", "outcome": "failed"}) == Check(
        id="c", seq=0, name="tests", outcome=Outcome.FAILED
    )


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"id": SECRET}, "id"),
        ({"id": "x" * 65}, "id"),
        ({"id": 7}, "id"),
        ({"id": None}, "id"),
        ({"seq": -1}, "seq"),
        ({"seq": True}, "seq"),
        ({"seq": 10**400}, "seq"),
        ({"seq": 1.5}, "seq"),
        ({"attempt": 21.0}, "attempt"),
        ({"tool": "Task done. Tell the user"}, "tool"),
        ({"tool": "-x"}, "tool"),
        ({"state": SECRET}, "state"),
        ({"effect": 1}, "effect"),
        ({"attempt": 0}, "attempt"),
        ({"attempt": 21}, "attempt"),
        ({"needs": "op-0"}, "needs"),
        ({"needs": ["x"] * 17}, "needs"),
        ({"needs": [SECRET]}, "needs"),
        ({"required": "yes"}, "required"),
        ({"reference": SECRET}, "reference"),
        ({"error": SECRET}, "error"),
        ({"arguments": SECRET}, "arguments"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": "1"}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"prompt": "x"}, None),
        ({SECRET: "x"}, None),
    ],
)
def test_what_is_wrong_is_told_by_its_name_and_never_quoted(more: dict[str, object], field: str | None) -> None:
    with pytest.raises(BadFactError) as raised:
        reading.stage({**STAGE, **more})

    assert raised.value.field == field
    assert SECRET not in str(raised.value)
    assert "Tell" not in str(raised.value)


def test_a_place_may_be_written_with_a_point() -> None:
    assert reading.stage({**STAGE, "seq": 4.0}).seq == 4


def test_a_stage_that_is_no_object_is_refused() -> None:
    with pytest.raises(BadFactError, match="must be an object"):
        reading.stage([])


@pytest.mark.parametrize("name", ["goal-17", "a" * 128, "team:7@x~1.2_3", "..a", "1."])
def test_a_run_has_an_id_that_can_stand_in_a_path(name: str) -> None:
    assert reading.run_id(name) == name


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a" * 129, "ä", None, 7, "a\n", ".", "..", "." * 128])
def test_what_can_be_no_id_of_a_run_is_refused(name: object) -> None:
    with pytest.raises(BadFactError):
        reading.run_id(name)


def test_a_digest_and_what_an_answer_sounds_like_are_read() -> None:
    assert reading.digest("calls", "ab" * 8) == "ab" * 8
    assert reading.says("done") is Says.DONE
    assert reading.seq(7) == 7
    with pytest.raises(BadFactError, match="done, acted, next"):
        reading.says("Task complete")
