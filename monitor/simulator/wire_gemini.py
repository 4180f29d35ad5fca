"""The bytes of the wire `gemini`; as an array, its events are framed by `arrays`."""

import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from monitor.simulator.question import (
    Question,
    RefusalError,
    Reply,
    limit_of,
    objects_of,
    prompt_of,
    read_json,
    tokens_of,
)
from monitor.simulator.request import Request, bearer_of

NAME = "gemini"

_PATH = re.compile(r"(?:/v1|/v1beta)?/models/([^:]+):(generateContent|streamGenerateContent)")

_ERRORS: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    529: "UNAVAILABLE",
}


def serves(path: str) -> bool:
    """Return whether a path is this wire's."""
    return _PATH.fullmatch(path) is not None


def read(request: Request, body: bytes) -> Question:
    """Return what a request asks, in its path too, or raise a `RefusalError`."""
    asked = _PATH.fullmatch(request.path)
    if asked is None:
        raise RefusalError(404, f"There is no {request.path} here.")
    values = read_json(body)
    contents = objects_of(values, "contents")
    prompt = prompt_of(values.get("systemInstruction") or values.get("system_instruction"), contents)
    config = values.get("generationConfig") or {}
    if not isinstance(config, dict):
        raise RefusalError(400, "generationConfig: must be an object.")
    stream = asked[2] == "streamGenerateContent"
    return Question(
        model=unquote(asked[1]),
        stream=stream,
        prompt=prompt,
        prompt_tokens=tokens_of(prompt, values.get("tools"), _calls(contents)),
        max_tokens=limit_of(config, "maxOutputTokens"),
        array=stream and request.query.get("alt") != "sse",
    )


def key_in(request: Request) -> str | None:
    """Return the key that a request carries, None where it carries none."""
    return request.headers.get("x-goog-api-key") or request.query.get("key") or bearer_of(request)


def opening(reply: Reply, *, empty: bool = False) -> Sequence[bytes]:
    """Return the events before the first token; this wire has none."""
    return []


def delta(reply: Reply, text: str) -> bytes:
    """Return the event that carries one token."""
    return _event(_content(reply, text, None, _usage(reply)))


def closing(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> Sequence[bytes]:
    """Return the event after the last token, with the finish reason and the usage."""
    return [_event(_content(reply, "", _finish(limited=limited), _usage(reply, output_tokens)))]


def whole(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> bytes:
    """Return the body of an answer that isn't streamed."""
    return _json(_content(reply, text, _finish(limited=limited), _usage(reply, output_tokens)))


def error(status: int, message: str) -> bytes:
    """Return the body of an HTTP error."""
    return _json({"error": {"code": status, "message": message, "status": _ERRORS[status]}})


def error_event(reply: Reply, message: str) -> bytes:
    """Return an error as an event inside a stream."""
    return b"data: " + error(500, message) + b"\r\n\r\n"


def _calls(contents: Sequence[Mapping[str, object]]) -> list[object]:
    lists = [parts for content in contents if isinstance(parts := content.get("parts"), list)]
    parts = [part for parts in lists for part in parts if isinstance(part, dict)]
    return [part[name] for part in parts for name in ("functionCall", "functionResponse") if part.get(name)]


def _content(reply: Reply, text: str, finish: str | None, usage: Mapping[str, object]) -> Mapping[str, object]:
    parts = {"parts": [{"text": text}]} if text else {}
    candidate: dict[str, object] = {"content": {**parts, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    shared = {"modelVersion": reply.question.model, "responseId": reply.serial}
    return {"candidates": [candidate], "usageMetadata": usage, **shared}


def _usage(reply: Reply, output_tokens: int | None = None) -> Mapping[str, object]:
    prompt_tokens = reply.question.prompt_tokens
    said = {} if output_tokens is None else {"candidatesTokenCount": output_tokens}
    return {"promptTokenCount": prompt_tokens, **said, "totalTokenCount": prompt_tokens + (output_tokens or 0)}


def _finish(*, limited: bool) -> str:
    return "MAX_TOKENS" if limited else "STOP"


def _event(value: Mapping[str, object]) -> bytes:
    return b"data: " + _json(value) + b"\r\n\r\n"


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
