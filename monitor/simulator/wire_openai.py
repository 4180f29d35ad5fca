"""The bytes of the wire `openai-chat`."""

import json
from collections.abc import Mapping, Sequence

from monitor.simulator.question import (
    Question,
    Reply,
    flag_of,
    limit_of,
    messages_of,
    model_of,
    prompt_of,
    read_json,
    tokens_of,
)
from monitor.simulator.request import Request, bearer_of

NAME = "openai-chat"

_PATHS = ("/chat/completions", "/v1/chat/completions")

# type and code by status, as the API's own error bodies carry them
_ERRORS: Mapping[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    413: ("invalid_request_error", "request_too_large"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    502: ("server_error", "bad_gateway"),
    503: ("server_error", "service_unavailable"),
    529: ("server_error", "overloaded"),
}


def serves(path: str) -> bool:
    """Return whether a path is this wire's."""
    return path in _PATHS


def read(request: Request, body: bytes) -> Question:
    """Return what a request asks, or raise a `RefusalError`."""
    values = read_json(body)
    messages = messages_of(values)
    prompt = prompt_of(messages)
    options = values.get("stream_options")
    calls = [message.get("tool_calls") for message in messages]
    return Question(
        model=model_of(values),
        stream=flag_of(values, "stream"),
        prompt=prompt,
        prompt_tokens=tokens_of(prompt, values.get("tools"), [call for call in calls if call]),
        max_tokens=limit_of(values, "max_completion_tokens", "max_tokens"),
        include_usage=isinstance(options, dict) and flag_of(options, "include_usage"),
    )


def key_in(request: Request) -> str | None:
    """Return the key that a request carries, None where it carries none."""
    return bearer_of(request)


def opening(reply: Reply, *, empty: bool = False) -> Sequence[bytes]:
    """Return the events before the first token: a chunk that holds the role alone."""
    return [_event(_chunk(reply, {"role": "assistant", "content": "", "refusal": None}))]


def delta(reply: Reply, text: str) -> bytes:
    """Return the event that carries one token."""
    return _event(_chunk(reply, {"content": text}))


def closing(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> Sequence[bytes]:
    """Return the events after the last token: the finish reason, the usage where asked for, the end mark."""
    finish = _event(_chunk(reply, {}, "length" if limited else "stop"))
    if not reply.question.include_usage:
        return [finish, b"data: [DONE]\n\n"]
    usage = {**_chunk(reply, {}), "choices": [], "usage": _usage(reply, output_tokens)}
    return [finish, _event(usage), b"data: [DONE]\n\n"]


def whole(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> bytes:
    """Return the body of an answer that isn't streamed."""
    message: dict[str, object] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "length" if limited else "stop",
    }
    usage = _usage(reply, output_tokens)
    return _json({**_frame(reply, "chat.completion"), "choices": [choice], "usage": usage})


def error(status: int, message: str) -> bytes:
    """Return the body of an HTTP error."""
    kind, code = _ERRORS[status]
    return _json({"error": {"message": message, "type": kind, "param": None, "code": code}})


def error_event(reply: Reply, message: str) -> bytes:
    """Return an error as an event inside a stream."""
    return b"data: " + error(500, message) + b"\n\n"


def models(names: Sequence[str], created: int) -> bytes:
    """Return the list of models."""
    rows = [{"id": name, "object": "model", "created": created, "owned_by": "simulator"} for name in names]
    return _json({"object": "list", "data": rows})


def _frame(reply: Reply, kind: str) -> dict[str, object]:
    return {
        "id": f"chatcmpl-{reply.serial}",
        "object": kind,
        "created": reply.created,
        "model": reply.question.model,
        "service_tier": "default",
        "system_fingerprint": "fp_simulated",
    }


def _chunk(reply: Reply, part: Mapping[str, object], finish: str | None = None) -> dict[str, object]:
    choice = {"index": 0, "delta": part, "logprobs": None, "finish_reason": finish}
    frame = {**_frame(reply, "chat.completion.chunk"), "choices": [choice]}
    return {**frame, "usage": None} if reply.question.include_usage else frame


def _usage(reply: Reply, output_tokens: int) -> dict[str, object]:
    prompt_tokens = reply.question.prompt_tokens
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": prompt_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _event(value: Mapping[str, object]) -> bytes:
    return b"data: " + _json(value) + b"\n\n"


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
