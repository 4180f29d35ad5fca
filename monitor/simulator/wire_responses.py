"""The bytes of the wire `openai-responses`."""

import json
from collections.abc import Mapping, Sequence

from monitor.simulator import wire_openai
from monitor.simulator.question import (
    Question,
    RefusalError,
    Reply,
    flag_of,
    limit_of,
    model_of,
    objects_of,
    prompt_of,
    read_json,
    tokens_of,
)
from monitor.simulator.request import Request

NAME = "openai-responses"

_PATHS = ("/responses", "/v1/responses")

key_in = wire_openai.key_in
error = wire_openai.error


def serves(path: str) -> bool:
    """Return whether a path is this wire's."""
    return path in _PATHS


def read(request: Request, body: bytes) -> Question:
    """Return what a request asks, or raise a `RefusalError`."""
    values = read_json(body)
    items = _items_of(values)
    prompt = prompt_of(values.get("instructions"), items)
    calls = [item.get("arguments") for item in items]
    return Question(
        model=model_of(values),
        stream=flag_of(values, "stream"),
        prompt=prompt,
        prompt_tokens=tokens_of(prompt, values.get("tools"), [call for call in calls if call]),
        max_tokens=limit_of(values, "max_output_tokens"),
    )


def opening(reply: Reply, *, empty: bool = False) -> Sequence[bytes]:
    """Return the events before the first token; an empty answer has no item that it could open."""
    begun = _response(reply, "in_progress", [], None)
    events = [_event(reply, "response.created", response=begun), _event(reply, "response.in_progress", response=begun)]
    if empty:
        return events
    item = _message(reply, "in_progress", [])
    return [
        *events,
        _event(reply, "response.output_item.added", output_index=0, item=item),
        _event(reply, "response.content_part.added", **_place(reply), part=_part("")),
    ]


def delta(reply: Reply, text: str) -> bytes:
    """Return the event that carries one token."""
    return _event(reply, "response.output_text.delta", **_place(reply), delta=text, logprobs=[])


def closing(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> Sequence[bytes]:
    """Return the events after the last token: what was said once more, with the status and the usage."""
    status = "incomplete" if limited else "completed"
    output = _output(reply, text, status)
    done = _done(reply, text, output) if output_tokens else []
    response = _response(reply, status, output, output_tokens)
    return [*done, _event(reply, f"response.{status}", response=response)]


def whole(reply: Reply, text: str, output_tokens: int, *, limited: bool) -> bytes:
    """Return the body of an answer that isn't streamed."""
    status = "incomplete" if limited else "completed"
    return _json(_response(reply, status, _output(reply, text, status), output_tokens))


def error_event(reply: Reply, message: str) -> bytes:
    """Return an error as an event inside a stream."""
    return _event(reply, "error", code="server_error", message=message, param=None)


def _done(reply: Reply, text: str, output: Sequence[object]) -> list[bytes]:
    return [
        _event(reply, "response.output_text.done", **_place(reply), text=text, logprobs=[]),
        _event(reply, "response.content_part.done", **_place(reply), part=_part(text)),
        *(_event(reply, "response.output_item.done", output_index=0, item=item) for item in output),
    ]


def _items_of(values: Mapping[str, object]) -> list[dict[str, object]]:
    said = values.get("input")
    if isinstance(said, str):
        if not said:
            raise RefusalError(400, "input: a text is required.")
        return [{"role": "user", "content": said}]
    return objects_of(values, "input")


def _response(reply: Reply, status: str, output: Sequence[object], output_tokens: int | None) -> Mapping[str, object]:
    return {
        "id": f"resp_{reply.serial}",
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "max_output_tokens": reply.question.max_tokens,
        "model": reply.question.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if output_tokens is None else _usage(reply, output_tokens),
        "metadata": {},
    }


def _usage(reply: Reply, output_tokens: int) -> Mapping[str, object]:
    input_tokens = reply.question.prompt_tokens
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + output_tokens,
    }


def _output(reply: Reply, text: str, status: str) -> list[Mapping[str, object]]:
    return [_message(reply, status, [_part(text)])] if text else []


def _message(reply: Reply, status: str, content: Sequence[object]) -> Mapping[str, object]:
    return {"id": _item(reply), "type": "message", "status": status, "role": "assistant", "content": content}


def _part(text: str) -> Mapping[str, object]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _place(reply: Reply) -> Mapping[str, object]:
    return {"item_id": _item(reply), "output_index": 0, "content_index": 0}


def _item(reply: Reply) -> str:
    return f"msg_{reply.serial}"


def _event(reply: Reply, kind: str, **values: object) -> bytes:
    told = {"type": kind, "sequence_number": next(reply.numbers), **values}
    return f"event: {kind}\ndata: ".encode() + _json(told) + b"\n\n"


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
