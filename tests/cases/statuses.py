"""Errors behind an HTTP status: what the body says counts before the status."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tests.cases.case import Case, case
from tests.cases.said import Piece
from tests.cases.wires import CHAT, GEMINI, MESSAGES, RESPONSES


class _Error(NamedTuple):
    name: str
    wire: str
    status: int
    body: object
    verdict: str
    blame: str = "provider_failure"
    headers: Mapping[str, str] = {"content-type": "application/json"}
    accept: tuple[str, ...] = ()


_C = "caller_fault"
_HTML = {"content-type": "text/html; charset=UTF-8"}
_GOOGLE = "type.googleapis.com/google.rpc."


def _openai(message: str, kind: str | None = None, code: object = None, **more: object) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code, **more}}


def _anthropic(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req-7"}


def _google(code: int, status: str, message: str, *details: dict[str, object]) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


_ERRORS = (
    # Too much was asked.
    _Error(
        "rate",
        CHAT,
        429,
        _openai("Rate limit reached for oak-2 on tokens per min", "tokens", "rate_limit_exceeded"),
        "rate_limited",
    ),
    _Error("rate-without-body", RESPONSES, 429, b"", "rate_limited", headers={"retry-after": "20"}),
    _Error(
        "rate-in-words",
        CHAT,
        429,
        b"too many requests, slow down",
        "rate_limited",
        headers={"content-type": "text/plain"},
    ),
    _Error(
        "rate-as-a-page",
        CHAT,
        429,
        b"<html><title>429</title><h1>Too Many Requests</h1></html>",
        "rate_limited",
        headers=_HTML,
    ),
    _Error(
        "rate-anthropic",
        MESSAGES,
        429,
        _anthropic("rate_limit_error", "Output tokens per minute exceeded"),
        "rate_limited",
    ),
    _Error(
        "rate-numbered",
        CHAT,
        429,
        {"error": {"code": "1302", "message": "High concurrency usage of this API"}},
        "rate_limited",
    ),
    _Error(
        "rate-google-window",
        GEMINI,
        429,
        _google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
            {"@type": _GOOGLE + "RetryInfo", "retryDelay": "17s"},
        ),
        "rate_limited",
        accept=("quota",),
    ),
    _Error(
        "overload-behind-429",
        CHAT,
        429,
        _openai("The engine is busy, come back later", "engine_overloaded_error"),
        "overloaded",
    ),
    # Out of money.
    _Error(
        "quota-behind-429",
        CHAT,
        429,
        _openai("Check your plan and billing", "insufficient_quota", "insufficient_quota"),
        "quota",
    ),
    _Error("quota-numbered-429", CHAT, 429, {"error": {"code": "1113", "message": "Please recharge"}}, "quota"),
    _Error("quota-402", CHAT, 402, _openai("Insufficient Balance", "unknown_error", "invalid_request_error"), "quota"),
    _Error(
        "quota-402-openrouter",
        CHAT,
        402,
        {"error": {"code": 402, "message": "This request requires more credits"}},
        "quota",
    ),
    _Error("quota-in-words-402", MESSAGES, 402, b"Payment required", "quota", headers={"content-type": "text/plain"}),
    _Error(
        "quota-behind-400",
        MESSAGES,
        400,
        _anthropic("invalid_request_error", "Your credit balance is too low to use this API"),
        "quota",
    ),
    _Error(
        "quota-behind-403",
        CHAT,
        403,
        _openai("Your account is suspended, check your balance", "exceeded_current_quota_error"),
        "quota",
    ),
    _Error("quota-behind-500", CHAT, 500, _openai("insufficient balance (1008)", "server_error"), "quota"),
    _Error(
        "quota-arrears-400", CHAT, 400, {"code": "Arrearage", "message": "Overdue payment", "request_id": "q"}, "quota"
    ),
    _Error(
        "quota-chinese-403",
        CHAT,
        403,
        _openai("用户额度不足, 剩余额度: ¥0.00", "new_api_error", "insufficient_user_quota"),
        "quota",
    ),
    # The key.
    _Error(
        "key-401",
        CHAT,
        401,
        _openai("Incorrect API key provided: sk-…9", "invalid_request_error", "invalid_api_key"),
        "auth",
    ),
    _Error("key-anthropic", MESSAGES, 401, _anthropic("authentication_error", "invalid x-api-key"), "auth"),
    _Error(
        "key-behind-400",
        GEMINI,
        400,
        _google(
            400, "INVALID_ARGUMENT", "API key not valid.", {"@type": _GOOGLE + "ErrorInfo", "reason": "API_KEY_INVALID"}
        ),
        "auth",
    ),
    _Error("key-without-body", RESPONSES, 401, b"", "auth"),
    _Error("key-xai", CHAT, 400, {"code": "invalid-argument", "error": "Incorrect API key provided: xa***yz."}, "auth"),
    _Error(
        "permission-403", MESSAGES, 403, _anthropic("permission_error", "This key may not use this workspace"), "auth"
    ),
    _Error(
        "permission-google",
        GEMINI,
        403,
        _google(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers"),
        "auth",
    ),
    _Error(
        "challenge-403",
        CHAT,
        403,
        b"<!DOCTYPE html><title>One more step</title><p>Checking your browser</p>",
        "http_error:403",
        headers=_HTML,
        accept=("auth",),
    ),
    # Not there.
    _Error("model-404", MESSAGES, 404, _anthropic("not_found_error", "model: fir-9"), "not_found"),
    _Error(
        "model-behind-400",
        CHAT,
        400,
        _openai("The requested model 'oak-9' does not exist", "invalid_request_error", "model_not_found"),
        "not_found",
    ),
    _Error(
        "model-google",
        GEMINI,
        404,
        _google(404, "NOT_FOUND", "models/yew-9 is not found for API version v1"),
        "not_found",
    ),
    _Error("deployment-404", RESPONSES, 404, _openai("No such deployment", None, "DeploymentNotFound"), "not_found"),
    _Error("model-ollama", CHAT, 404, {"error": "model 'oak' not found, try pulling it first"}, "not_found"),
    # Overloaded.
    _Error("overload-529", MESSAGES, 529, _anthropic("overloaded_error", "Overloaded"), "overloaded"),
    _Error("overload-503", RESPONSES, 503, _openai("The server had an error", "server_error"), "overloaded"),
    _Error("overload-google", GEMINI, 503, _google(503, "UNAVAILABLE", "The model is overloaded."), "overloaded"),
    _Error(
        "overload-without-backend",
        CHAT,
        503,
        b"no healthy upstream",
        "overloaded",
        headers={"content-type": "text/plain"},
    ),
    _Error(
        "overload-behind-500", CHAT, 500, _openai("当前分组上游负载已饱和 请稍后再试", "new_api_error"), "overloaded"
    ),
    # The server's own trouble.
    _Error(
        "trouble-500",
        RESPONSES,
        500,
        _openai("The server had an error while processing", "server_error"),
        "http_error:500",
    ),
    _Error("trouble-500-anthropic", MESSAGES, 500, _anthropic("api_error", "Internal server error"), "http_error:500"),
    _Error(
        "trouble-500-google", GEMINI, 500, _google(500, "INTERNAL", "An internal error has occurred"), "http_error:500"
    ),
    _Error(
        "trouble-502-page",
        CHAT,
        502,
        b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>",
        "http_error:502",
        headers=_HTML,
        accept=("overloaded",),
    ),
    _Error(
        "trouble-504",
        MESSAGES,
        504,
        b"upstream request timeout",
        "http_error:504",
        accept=("overloaded", "timeout_first_byte"),
    ),
    _Error("trouble-520", GEMINI, 520, b"error code: 520", "http_error:520", headers={"content-type": "text/plain"}),
    _Error(
        "trouble-524-page",
        RESPONSES,
        524,
        b"<html><title>524: A timeout occurred</title></html>",
        "http_error:524",
        headers=_HTML,
        accept=("overloaded", "timeout_first_byte"),
    ),
    # The question itself.
    _Error(
        "long-400",
        CHAT,
        400,
        _openai(
            "This model's maximum context length is 8192 tokens", "invalid_request_error", "context_length_exceeded"
        ),
        "context_too_long",
        _C,
    ),
    _Error(
        "long-anthropic",
        MESSAGES,
        400,
        _anthropic("invalid_request_error", "prompt is too long: 210004 tokens > 200000 maximum"),
        "context_too_long",
        _C,
    ),
    _Error(
        "long-413-page",
        MESSAGES,
        413,
        b"<html><title>413 Request Entity Too Large</title></html>",
        "context_too_long",
        _C,
        headers=_HTML,
        accept=("bad_request",),
    ),
    _Error(
        "long-behind-500", CHAT, 500, _openai("Context size has been exceeded.", "server_error"), "context_too_long", _C
    ),
    _Error(
        "long-google",
        GEMINI,
        400,
        _google(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).",
        ),
        "context_too_long",
        _C,
        accept=("bad_request",),
    ),
    _Error(
        "wrong-field-422",
        CHAT,
        422,
        {"detail": [{"loc": ["body", "temperature"], "msg": "must be at most 2", "type": "value_error"}]},
        "bad_request",
        _C,
    ),
    _Error(
        "wrong-field-400",
        RESPONSES,
        400,
        _openai("Unsupported parameter: 'top_k'", "invalid_request_error", "unsupported_parameter"),
        "bad_request",
        _C,
    ),
    _Error(
        "wrong-role",
        MESSAGES,
        400,
        _anthropic("invalid_request_error", "messages: roles must alternate"),
        "bad_request",
        _C,
    ),
    _Error(
        "filtered-azure",
        CHAT,
        400,
        _openai("The prompt was filtered", None, "content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}),
        "filtered",
        _C,
        accept=("bad_request",),
    ),
    _Error(
        "filtered-dashscope",
        CHAT,
        400,
        {"error": {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}},
        "filtered",
        _C,
        accept=("bad_request",),
    ),
)


def cases() -> Iterator[Case]:
    """All of them."""
    for error in _ERRORS:
        body = error.body if isinstance(error.body, bytes) else json.dumps(error.body, ensure_ascii=False).encode()
        yield case(
            f"status-{error.name}",
            error.wire,
            Piece(body),
            rule="the body's own code counts before the status",
            verdict=error.verdict,
            blame=error.blame,
            status=error.status,
            headers=error.headers,
            stream=True,
            accept=error.accept,
        )
    yield case(
        "status-none-refused",
        MESSAGES,
        [],
        rule="no response at all is a failed connection",
        verdict="connect_error",
        status=None,
        headers={},
        end="reset",
    )
    yield case(
        "status-none-silent",
        GEMINI,
        [],
        rule="no response within the limit is a late first byte",
        verdict="timeout_first_byte",
        status=None,
        headers={},
        end="timeout",
        wait=120_000,
    )
