"""The bytes of the wire `anthropic-messages`."""

import json
from collections.abc import Mapping, Sequence

from monitor.simulator.question import (
    Question,
    RefusalError,
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

NAME = "anthropic-messages"

_PATHS = ("/messages", "/v1/messages")

_ERRORS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


def serves(path: str) -> bool:
    """Return whether a path is this wire's."""
    return path in _PATHS


def read(request: Request, body: bytes) -> Question:
    """Return what a request asks, or raise a `RefusalError`."""
    if "anthropic-version" not in request.headers:
        raise RefusalError(400, "anthropic-version: header is required.")
    values = read_json(body)
    messages = messages_of(values)
    model = model_of(values)
    max_tokens = limit_of(values, "max_tokens")
    if max_tokens is None:
        raise RefusalError(400, "max_tokens: a number is required.")
    prompt = prompt_of(values.get("system"), messages)
    return Question(
        model=model,
        stream=flag_of(values, "stream"),
        prompt=prompt,
        prompt_tokens=tokens_of(prompt, values.get("tools"), _calls(messages)),
        max_tokens=max_tokens,
    )


def key_in(request: Request) -> str | None:
    """Return the key that a request carries, None where it carries none."""
    return request.headers.get("x-api-key") or bearer_of(request)


def opening(reply: Reply, *, empty: bool = False) -> Sequence[bytes]:
    """Return the events before the first token; an empty answer has no block that it could open."""
    message = {**_frame(reply), "content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(reply, 1)}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    started = _event({"type": "message_start", "message": message})
    ping = _event({"type": "ping"})
    return [started, ping] if empty else [started, _event(block), ping]


def delta(reply: Reply, text: str) -> bytes:
    """Return the event that carries one token."""
    return _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})


def closing(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> Sequence[bytes]:
    """Return the events after the last token."""
    stop = {"stop_reason": _stop(limited=limited), "stop_sequence": None}
    events = [
        _event({"type": "content_block_stop", "index": 0}),
        _event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": output_tokens}}),
        _event({"type": "message_stop"}),
    ]
    return events if output_tokens else events[1:]


def whole(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> bytes:
    """Return the body of an answer that isn't streamed."""
    content = [{"type": "text", "text": text}] if text else []
    stop = {"stop_reason": _stop(limited=limited), "stop_sequence": None}
    return _json({**_frame(reply), "content": content, **stop, "usage": _usage(reply, output_tokens)})


def error(status: int, message: str) -> bytes:
    """Return the body of an HTTP error."""
    told = {"type": _ERRORS[status], "message": message}
    return _json({"type": "error", "error": told, "request_id": "req_simulated"})


def error_event(reply: Reply, message: str) -> bytes:
    """Return an error as an event inside a stream."""
    return b"event: error\ndata: " + error(500, message) + b"\n\n"


def _calls(messages: Sequence[Mapping[str, object]]) -> list[object]:
    parts = [part for message in messages for part in _parts(message.get("content"))]
    return [part["input"] for part in parts if isinstance(part, dict) and part.get("input")]


def _parts(content: object) -> Sequence[object]:
    return content if isinstance(content, list) else []


def _frame(reply: Reply) -> dict[str, object]:
    return {"id": f"msg_{reply.serial}", "type": "message", "role": "assistant", "model": reply.question.model}


def _usage(reply: Reply, output_tokens: int) -> dict[str, int]:
    return {
        "input_tokens": reply.question.prompt_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def _stop(*, limited: bool) -> str:
    return "max_tokens" if limited else "end_turn"


def _event(value: Mapping[str, object]) -> bytes:
    return f"event: {value['type']}\ndata: ".encode() + _json(value) + b"\n\n"


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
