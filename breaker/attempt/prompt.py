"""Measures the text that a request sends, in any wire."""

import json
from collections.abc import Iterator, Mapping

from breaker.wire.question import prompt_bytes

_WHERE = ("system", "instructions", "messages", "input", "contents", "systemInstruction", "system_instruction")
_TEXTS = ("text", "content", "parts", "output", "arguments", "thinking", "reasoning_content", "function", "tool_calls")
# What a call was given, or a function gave back, that stands there parsed.
_PARSED = ("input", "args", "response")
_CALLS = ("functionCall", "functionResponse", "function_call", "function_response")


def size_of(body: Mapping[str, object]) -> int:
    """How much text a parsed request sends, as `Answer.prompt_bytes` wants it: images and files are none."""
    said = (text for name in _WHERE for text in _texts(body.get(name)))
    tools = body.get("tools")
    defined = (_json(tool) for tool in tools) if isinstance(tools, list) else ()
    return prompt_bytes(*said, *defined)


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _texts(part)
    elif isinstance(content, dict):
        yield from _parts(content)


def _parts(part: Mapping[str, object]) -> Iterator[str]:
    for name in (*_TEXTS, *_CALLS):
        yield from _texts(part.get(name))
    for name in _PARSED:
        if isinstance(part.get(name), dict):
            yield _json(part[name])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
