import json

import pytest

from breaker.attempt import Tried, headers_of, refusal
from breaker.verdict import Verdict
from tests.attempt.made import place
from tests.cases.wires import CHAT, GEMINI, MESSAGES, RESPONSES

EMPTY, SILENT = Tried(place("a/m"), Verdict.EMPTY, 1.0), Tried(place("b/m"), Verdict.TIMEOUT_SILENCE, 2.0)


def test_headers_tell_what_was_done() -> None:
    told = headers_of(place("b/m", role="backup"), 2, [Verdict.EMPTY, Verdict.OK])

    assert dict(told) == {
        "x-firstbyte-target": "b/m",
        "x-firstbyte-role": "backup",
        "x-firstbyte-attempts": "2",
        "x-firstbyte-verdicts": "empty,ok",
    }


def test_a_header_holds_no_sign_that_may_not_stand_there() -> None:
    assert dict(headers_of(place("b/é\n"), 1, []))["x-firstbyte-target"] == "b/??"


@pytest.mark.parametrize(("last", "status"), [(EMPTY, 502), (SILENT, 504)])
def test_a_refusal_says_whether_it_was_silence(last: Tried, status: int) -> None:
    assert refusal(CHAT, [EMPTY, last]).status == status


def test_a_refusal_names_the_targets_and_asks_not_to_be_repeated() -> None:
    said = refusal(CHAT, [EMPTY, SILENT])

    assert json.loads(said.body)["error"]["message"] == "no whole answer from a/m (empty), then b/m (timeout_silence)"
    assert dict(said.headers)["x-should-retry"] == "false"
    assert dict(said.headers)["x-firstbyte-verdicts"] == "empty,timeout_silence"


@pytest.mark.parametrize(
    ("wire", "where"),
    [(CHAT, ["error", "code"]), (RESPONSES, ["error", "code"]), (MESSAGES, ["error", "code"])],
)
def test_a_refusal_has_the_wires_own_form(wire: str, where: list[str]) -> None:
    said = json.loads(refusal(wire, [EMPTY]).body)
    for name in where:
        said = said[name]

    assert said == "empty"


def test_a_refusal_in_gemini_has_its_form_too() -> None:
    said = json.loads(refusal(GEMINI, [EMPTY]).body)["error"]

    assert (said["code"], said["details"]) == (502, [{"reason": "empty"}])


def test_an_error_of_messages_is_marked_as_one() -> None:
    assert json.loads(refusal(MESSAGES, [EMPTY]).body)["type"] == "error"
