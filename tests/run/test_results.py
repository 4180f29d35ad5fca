"""Errors in results that look like successes."""

import json
from types import SimpleNamespace

import pytest

from breaker.run.results import RULES, Flaw, Rule, flaw, of_status


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"success": False}, "success_false"),
        ({"ok": False, "data": []}, "success_false"),
        ({"isError": True, "content": [{"type": "text", "text": "no"}]}, "is_error"),
        ({"error": {"message": "no such order"}}, "error_inside"),
        ({"errors": ["x"]}, "error_inside"),
        ({"status": "ERROR"}, "status_failed"),
        ({"status": "failed", "id": 7}, "status_failed"),
        ({"status": 404}, "http_404"),
        ({"statusCode": 500, "body": ""}, "http_500"),
        ('{"success": false, "message": "quota"}', "success_false"),
        (b'{"status_code": 403}', "http_403"),
        ('{"order": 7, "sta', "malformed_json"),
        ("[{", "malformed_json"),
        ("{", "malformed_json"),
        ("", "empty"),
        (" \n", "empty"),
        (b"", "empty"),
        ("Traceback (most recent call last):\n  File", "traceback"),
        ("ValueError: no such order", "exception_as_text"),
        ("requests.exceptions.ReadTimeout: HTTPSConnectionPool", "exception_as_text"),
        ("KeyError('order')", "exception_as_text"),
        ({"Success": False}, "success_false"),
        ({"success": "false"}, "success_false"),
        ({"success": False, "status": 403}, "http_403"),
        ({"status": "500"}, "http_500"),
        ({"code": "500"}, "http_500"),
        ({"status": "timed_out"}, "timeout"),
        ({"exit_code": 1}, "exit_code"),
        (SimpleNamespace(returncode=2), "exit_code"),
        (SimpleNamespace(status_code=404), "http_404"),
        (SimpleNamespace(isError=False, content=[SimpleNamespace(type="text", text="Error: boom")]), "error_as_text"),
        (ValueError("boom"), "exception_returned"),
        ({"result": {"success": False}}, "success_false"),
        ({"data": {"response": {"status_code": 401}}}, "http_401"),
        ({"body": '{"error": "no such order"}'}, "error_inside"),
        ({"content": [{"type": "image"}, {"type": "text", "text": "Traceback (most recent call last)"}]}, "traceback"),
        ('[{"type": "text", "text": "Error: boom"}]', "error_as_text"),
        ('```json\n{"success": false}\n```', "success_false"),
        ('\ufeff{"success": false}', "success_false"),
        ('"Error: boom"', "error_as_text"),
        ("{'order': 7, 'success': False}", "success_false"),
        ("{'error': 'no such order'}", "error_inside"),
        ("{'isError': True}", "is_error"),
        ("Request failed with status code 404", "http_404"),
        ("500 Internal Server Error", "http_500"),
        ("<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title>", "http_502"),
        ("An error occurred while refunding", "error_as_text"),
        ("\u274c Error: boom", "error_as_text"),
        ("Failed to refund the order", "error_as_text"),
        ("Command failed with exit code 1", "error_as_text"),
        ("The request timed out", "timeout"),
        ("Error: order not found", "error_as_text"),
        ("Error executing tool: boom", "error_as_text"),
        ("HTTP 502 Bad Gateway", "http_502"),
        ("HTTP/1.1 404 Not Found", "http_404"),
        ("status code: 429", "http_429"),
    ],
)
def test_an_error_in_disguise_is_found(result: object, error: str) -> None:
    found = flaw(result)

    assert found is not None
    assert found.error == error


@pytest.mark.parametrize(
    "result",
    [
        None,
        0,
        False,
        [],
        {},
        {"success": True},
        {"error": None},
        {"errors": []},
        {"error": ""},
        {"status": "ok"},
        {"status": 200},
        {"status": "open"},
        {"code": "E500"},
        {"code": "5000"},
        {"error": "None"},
        {"exit_code": 0},
        {"output": ""},
        {"content": "{ a template"},
        [{"type": "text", "text": "refunded"}, {"status": "failed"}],
        ["Error: is the first line of a log"],
        SimpleNamespace(status_code=200),
        "{'order': 7, 'success': True, 'error': None}",
        '"',
        {"ok": 0},
        {"balance": 404},
        "{}",
        "[1, 2]",
        "[]",
        '{"order": 7}',
        "42",
        "order 7 was refunded",
        "[INFO] all is well",
        "[a link](https://example.org)",
        "{{ a template }}",
        "No errors: all 40 tests passed",
        "The log says: ValueError: no such order",
        "Errors were fixed",
        "404 rows",
    ],
)
def test_an_ordinary_result_is_none(result: object) -> None:
    assert flaw(result) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```" + " " * 100_000 + "x", id="blanks after a fence"),
        pytest.param("``` x" + " " * 100_000 + "`", id="blanks before half a fence"),
        pytest.param("{" + ", " * 2_000 + " " * 100_000, id="a bracket that ends nowhere"),
        pytest.param("Timeout" * 20_000, id="one word"),
        pytest.param("<html " * 20_000, id="a page without a title"),
    ],
)
def test_whatever_a_text_is_made_of_it_is_looked_through_in_one_go(text: str) -> None:
    assert flaw(text) is None


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, None),
        (302, None),
        (400, Flaw("http_400")),
        (429, Flaw("http_429", retryable=True)),
        (503, Flaw("http_503", retryable=True)),
        (504, Flaw("http_504", unknown=True)),
        (408, Flaw("http_408", unknown=True)),
    ],
)
def test_a_status_says_whether_anything_happened(status: int, expected: Flaw | None) -> None:
    assert of_status(status) == expected


@pytest.mark.parametrize(
    "result",
    [{"status": "timeout"}, {"success": False, "status": 504}, "requests.exceptions.ReadTimeout: nothing came"],
)
def test_after_a_time_out_that_is_dressed_as_a_result_nobody_knows(result: object) -> None:
    found = flaw(result)

    assert found is not None
    assert found.unknown


def test_what_is_nested_too_deep_is_looked_at_no_further() -> None:
    nested: object = {"success": False}
    for _ in range(9):
        nested = {"result": nested}
    quoted = '{"success": false}'
    for _ in range(9):
        quoted = json.dumps(quoted)

    assert flaw(nested) is None
    assert flaw(quoted) is None


def test_rules_can_be_added() -> None:
    own = [*RULES, Rule.read({"members": ["verdict"], "values": ["rejected"], "error": "rejected"})]
    spoken = [Rule.read({"text": "computer says no", "error": "no"})]

    assert flaw({"verdict": "Rejected"}, own) == Flaw("rejected")
    assert flaw("computer says no, sorry", spoken) == Flaw("no")
    assert flaw({"verdict": "rejected"}) is None


@pytest.mark.parametrize("said", [{}, {"members": ["a"], "text": "b"}, {"member": "a"}])
def test_a_rule_that_cannot_be_used_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="either members or text"):
        Rule.read(said)
