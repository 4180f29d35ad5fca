import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.answer import Fault
from breaker.wire.faults import fault_in, fault_in_text


def error(message: str = "", **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        pytest.param(error("No.", code=429), Fault.RATE_LIMITED, id="a status as a number"),
        pytest.param(error("No.", code=400), Fault.BAD_REQUEST, id="a status that blames the caller"),
        pytest.param(error("No.", code="502"), Fault.OTHER, id="a status as a text"),
        pytest.param(
            {"choices": [], **error("Provider returned error", code=503)}, Fault.OVERLOADED, id="beside choices"
        ),
        pytest.param({"error": "Server error: crashed", "error_type": "generation"}, Fault.OTHER, id="a text as error"),
        pytest.param(
            {"object": "error", "message": "The prompt has 9 tokens, longer than the model's context length"},
            Fault.CONTEXT_TOO_LONG,
            id="an object that is called error",
        ),
        pytest.param({"type": "error", "error": {"type": "overloaded_error"}}, Fault.OVERLOADED, id="Anthropic's"),
        pytest.param({"detail": "Internal Server Error"}, Fault.OTHER, id="a detail alone"),
        pytest.param(
            {"error_msg": "Open api daily request limit reached", "error_code": 17}, Fault.QUOTA, id="Qianfan's"
        ),
        pytest.param(
            {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "x"}}, Fault.QUOTA, id="MiniMax's"
        ),
        pytest.param({"message": "Internal", "code": "INTERNAL_ERROR"}, Fault.OTHER, id="a message with a code"),
        pytest.param({"msg": "busy", "code": 429}, Fault.RATE_LIMITED, id="a msg with a code"),
        pytest.param(
            error("x", metadata={"raw": "temporarily rate-limited upstream"}),
            Fault.RATE_LIMITED,
            id="the upstream's words",
        ),
        pytest.param(
            error("x", metadata={"raw": {"error": {"code": "insufficient_quota"}}}),
            Fault.QUOTA,
            id="the upstream's code",
        ),
        pytest.param(
            error("x", code="tool_use_failed", type="invalid_request_error", failed_generation="rate limit"),
            Fault.BROKEN_CALL,
            id="the model's own broken call",
        ),
        pytest.param(
            error("Quota exceeded for requests per minute per project", code=429, status="RESOURCE_EXHAUSTED"),
            Fault.RATE_LIMITED,
            id="a quota of a minute",
        ),
        pytest.param({"error": {"a": {"b": {"c": 1}}}}, Fault.OTHER, id="an error without words"),
    ],
)
def test_an_error_inside_a_200_is_seen(body: dict[str, object], fault: Fault) -> None:
    assert fault_in(body) is fault


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"choices": []}, id="none"),
        pytest.param({"error": None}, id="null"),
        pytest.param({"error": {}}, id="an empty object"),
        pytest.param({"error": {"message": "", "code": None}}, id="an object of nothing"),
        pytest.param({"error": False, "error_msg": ""}, id="false"),
        pytest.param({"base_resp": {"status_code": 0, "status_msg": "success"}}, id="MiniMax's zero"),
        pytest.param({"message": "hello", "code": 200}, id="a good code"),
        pytest.param({"message": "", "code": "Success", "choices": []}, id="a good code in words"),
        pytest.param({"message": {"content": "hello"}, "code": 7}, id="a message that is no text"),
        pytest.param({"detail": "x", "choices": []}, id="a detail among others"),
        pytest.param(
            {"choices": [{"content_filter_result": {"error": {"code": "content_filter_error"}}}]}, id="Azure's note"
        ),
        pytest.param(
            {"choices": [{"delta": {"content": '{"error": {"code": 429}}'}}]}, id="an error as the model's text"
        ),
    ],
)
def test_healthy_bodies_hold_no_error(body: dict[str, object]) -> None:
    assert fault_in(body) is None


def test_an_event_called_error_is_one() -> None:
    assert fault_in({"message": "The engine has stopped"}, name="error") is Fault.OTHER
    assert fault_in({"message": "Rate limit"}, name="error") is Fault.RATE_LIMITED


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        pytest.param(429, error("x", code="insufficient_quota"), Fault.QUOTA, id="429 for want of credit"),
        pytest.param(429, error("x", type="engine_overloaded_error"), Fault.OVERLOADED, id="429 for overload"),
        pytest.param(
            429,
            error("[1113][Insufficient balance]", type="rate_limit_error"),
            Fault.QUOTA,
            id="429 with Z.ai's number",
        ),
        pytest.param(
            400,
            error("Your credit balance is too low", type="invalid_request_error"),
            Fault.QUOTA,
            id="400 for want of credit",
        ),
        pytest.param(400, error("x", code="Arrearage"), Fault.QUOTA, id="400 for an unpaid bill"),
        pytest.param(429, error("x", code="AccountOverdueError"), Fault.QUOTA, id="429 for an unpaid bill"),
        pytest.param(403, error("Your account balance is insufficient"), Fault.QUOTA, id="403 for an empty account"),
        pytest.param(429, error("x", type="budget_exceeded"), Fault.QUOTA, id="429 for a spent budget"),
        pytest.param(400, error("User location is not supported"), Fault.AUTH, id="400 for a place without access"),
        pytest.param(
            400, error("9 tokens, over the maximum number of tokens allowed"), Fault.CONTEXT_TOO_LONG, id="400 over it"
        ),
        pytest.param(400, {"message": "The model identifier is invalid."}, Fault.NOT_FOUND, id="400 no such model"),
        pytest.param(498, error("x", code="capacity_exceeded"), Fault.OVERLOADED, id="498 for want of room"),
        pytest.param(
            400, error("x", code="context_length_exceeded"), Fault.CONTEXT_TOO_LONG, id="400 too long by code"
        ),
        pytest.param(
            400, error("prompt is too long: 9 tokens > 8 maximum"), Fault.CONTEXT_TOO_LONG, id="400 too long by words"
        ),
        pytest.param(400, error("x", code="model_not_found"), Fault.NOT_FOUND, id="400 unknown model"),
        pytest.param(400, error("API key not valid. Please pass a valid API key."), Fault.AUTH, id="400 wrong key"),
        pytest.param(
            400,
            error("x", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}),
            Fault.FILTERED,
            id="400 filtered",
        ),
        pytest.param(400, error("x", type="invalid_request_error"), Fault.BAD_REQUEST, id="400 as it says"),
        pytest.param(
            402, error("Insufficient Balance", code="invalid_request_error"), Fault.QUOTA, id="402 with a wrong code"
        ),
        pytest.param(
            404, error("Invalid URL", type="invalid_request_error"), Fault.OTHER, id="404 whose type says little"
        ),
        pytest.param(
            422,
            {"object": "error", "message": {"detail": []}, "type": "invalid_request_error"},
            Fault.BAD_REQUEST,
            id="422 with an object as message",
        ),
        pytest.param(
            403, error("用户额度不足", code="insufficient_user_quota"), Fault.QUOTA, id="403 for want of credit"
        ),
        pytest.param(
            403, error("the prompt exceeds the context length of the model"), Fault.CONTEXT_TOO_LONG, id="403 too long"
        ),
        pytest.param(
            500,
            {"type": "error", "error": {"type": "api_error", "message": "insufficient balance (1008)"}},
            Fault.QUOTA,
            id="500 for want of credit",
        ),
        pytest.param(
            500,
            error("Provider returned error", metadata={"raw": '{"error": {"code": "context_length_exceeded"}}'}),
            Fault.CONTEXT_TOO_LONG,
            id="500 with another's error as a text",
        ),
        pytest.param(500, error("x", metadata={"raw": '{"error'}), Fault.OTHER, id="500 with half of one"),
        pytest.param(
            429,
            {"error": {"code": 429, "message": "You exceeded your current quota", "details": [{"retryDelay": "17s"}]}},
            Fault.RATE_LIMITED,
            id="429 for a quota that is back in seconds",
        ),
        pytest.param(
            429,
            {"error": {"code": 429, "message": "You exceeded your current quota", "details": [{"links": []}]}},
            Fault.QUOTA,
            id="429 for a quota that isn't",
        ),
        pytest.param(
            400,
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}},
            Fault.AUTH,
            id="400 whose details say what it is",
        ),
        pytest.param(400, {"anything": 1}, Fault.OTHER, id="400 without an error"),
        pytest.param(500, {"anything": 1}, Fault.OTHER, id="500 without an error"),
    ],
)
def test_an_errors_own_words_say_what_it_is(status: int, body: dict[str, object], fault: Fault) -> None:
    assert fault_in(body, status=status) is fault


def test_an_error_that_is_no_json_is_read_for_its_words() -> None:
    assert fault_in_text("no healthy upstream") is Fault.OVERLOADED
    assert fault_in_text("oops") is Fault.OTHER


def test_errors_within_errors_are_read_to_a_depth() -> None:
    body: dict[str, object] = {"code": "insufficient_quota"}
    for _ in range(10):
        body = {"error": body}

    assert fault_in(body) is Fault.OTHER
    for _ in range(5):
        inner = body["error"]
        assert isinstance(inner, dict)
        body = inner
    assert fault_in(body) is Fault.QUOTA


_NAMES = [
    "error",
    "message",
    "code",
    "type",
    "metadata",
    "raw",
    "base_resp",
    "status_code",
    "detail",
    "object",
    "choices",
]
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES) | st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(_NAMES), _json), st.sampled_from([200, 400, 404, 500]))
def test_no_body_raises(body: dict[str, object], status: int) -> None:
    assert fault_in(body, status=status) in {None, *Fault}
