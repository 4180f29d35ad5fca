"""Asks the simulator over a real socket and reads its answers, apart from the code that writes them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from breaker.exchange import Exchange
from monitor.simulator import Behaviour, Recorded, Replay, Simulator

OPENAI = "openai-chat"
RESPONSES = "openai-responses"
ANTHROPIC = "anthropic-messages"
GEMINI = "gemini"
WIRES = (OPENAI, RESPONSES, ANTHROPIC, GEMINI)
GOOD_END = {OPENAI: "stop", RESPONSES: "completed", ANTHROPIC: "end_turn", GEMINI: "STOP"}
LIMIT_END = {OPENAI: "length", RESPONSES: "max_output_tokens", ANTHROPIC: "max_tokens", GEMINI: "MAX_TOKENS"}
TARGET = "zai/glm"
MARKS = "FB-0000000A", "FB-0000000B", "FB-0000000C"
PROMPT = f"{MARKS[0]} {'lorem ' * 400}{MARKS[1]} {'ipsum ' * 400}{MARKS[2]} {MARKS[0]}"

_PATHS = {OPENAI: "/chat/completions", RESPONSES: "/responses", ANTHROPIC: "/messages"}
_LIMITS = {OPENAI: "max_tokens", RESPONSES: "max_output_tokens", ANTHROPIC: "max_tokens", GEMINI: "maxOutputTokens"}


@dataclass(kw_only=True)
class Heard:
    """What a client could read of an answer."""

    status: int
    headers: Mapping[str, str]
    text: str = ""
    finish: str | None = None
    ended: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    in_tokens: int | None = None
    out_tokens: int | None = None
    error: dict[str, Any] | None = None
    kinds: list[str] = field(default_factory=list)
    body: str = ""


@asynccontextmanager
async def simulated(
    behaviour: Behaviour | Replay | Recorded | Exchange | str = "healthy", *, speed: float = 100.0, **others: Any
) -> AsyncIterator[Simulator]:
    """One target behind a running simulator, a hundred times faster than it says."""
    async with Simulator({TARGET: behaviour}, speed=speed, seed=1, **others) as simulator:
        yield simulator


def client_of(limit_s: float = 60.0) -> httpx.AsyncClient:
    """A client that reads no certificates, which would take longer than the request."""
    return httpx.AsyncClient(timeout=httpx.Timeout(60.0, read=limit_s), trust_env=False, verify=False)


def body_for(
    wire: str, *, stream: bool, prompt: object = PROMPT, limit: object = None, **others: Any
) -> dict[str, Any]:
    """The JSON of a request; `limit` is the most tokens to answer with."""
    said = {"role": "user", "content": prompt}
    limits = {} if limit is None else {_LIMITS[wire]: limit}
    match wire:
        case "gemini":
            parts = prompt if isinstance(prompt, list) else [{"text": prompt}]
            return {"contents": [{"role": "user", "parts": parts}], "generationConfig": limits, **others}
        case "openai-responses":
            return {"model": "glm", "stream": stream, "input": [said], **limits, **others}
        case "anthropic-messages":
            return {"model": "glm", "stream": stream, "messages": [said], "max_tokens": 1000, **limits, **others}
        case _:
            options = {"stream_options": {"include_usage": True}}
            return {"model": "glm", "stream": stream, "messages": [said], **options, **limits, **others}


def url_of(simulator: Simulator, wire: str, *, stream: bool = True, model: str = "glm") -> str:
    """Where a wire is asked."""
    if wire != GEMINI:
        return simulator.base_url("zai") + _PATHS[wire]
    how = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"{simulator.base_url('zai')}/models/{quote(model, safe='')}:{how}"


async def ask(
    simulator: Simulator,
    wire: str,
    *,
    stream: bool,
    limit_s: float = 60.0,
    headers: Mapping[str, str] | None = None,
    model: str = "glm",
    **others: Any,
) -> Heard:
    """Ask once, over a fresh connection; raises httpx's errors as they come."""
    named = {} if wire == GEMINI else {"model": model}
    async with client_of(limit_s) as client:
        answer = await client.post(
            url_of(simulator, wire, stream=stream, model=model),
            json=body_for(wire, stream=stream, **{**named, **others}),
            headers={"anthropic-version": "2023-06-01", **(headers or {})},
        )
    return read(wire, answer)


def read(wire: str, answer: httpx.Response) -> Heard:
    """What an answer says."""
    heard = Heard(status=answer.status_code, headers=answer.headers, body=answer.text)
    kind = answer.headers["content-type"]
    if kind.startswith("text/event-stream"):
        for event in answer.text.replace("\r\n", "\n").split("\n\n"):
            _event(wire, heard, event)
    elif kind.startswith("application/json") and answer.text:
        value = answer.json()
        for part in value if isinstance(value, list) else [value]:
            _PLAIN[wire](heard, part)
    return heard


def _event(wire: str, heard: Heard, event: str) -> None:
    for line in event.splitlines():
        name, _, value = line.partition(": ")
        if name == "event":
            heard.kinds.append(value)
        elif name == "data" and value == "[DONE]":
            heard.ended = True
        elif name == "data":
            _EVENTS[wire](heard, json.loads(value))


def _openai_event(heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    _count(heard, value.get("usage"), "prompt_tokens", "completion_tokens")
    for choice in value.get("choices", []):
        heard.text += choice["delta"].get("content") or ""
        heard.finish = choice["finish_reason"] or heard.finish


def _anthropic_event(heard: Heard, value: dict[str, Any]) -> None:
    match value["type"]:
        case "message_start":
            _count(heard, value["message"]["usage"], "input_tokens", "output_tokens")
        case "content_block_delta":
            heard.text += value["delta"]["text"]
        case "message_delta":
            _count(heard, value["usage"], "input_tokens", "output_tokens")
            heard.finish = value["delta"]["stop_reason"]
        case "message_stop":
            heard.ended = True
        case "error":
            heard.error = value["error"]
        case _:
            pass


def _responses_event(heard: Heard, value: dict[str, Any]) -> None:
    assert value["sequence_number"] == len(heard.kinds) - 1
    match value["type"]:
        case "response.output_text.delta":
            heard.text += value["delta"]
        case "response.completed" | "response.incomplete":
            said = heard.text
            _responses_plain(heard, value["response"])
            assert heard.text == said
        case "error":
            heard.error = value
        case _:
            pass


def _gemini(heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    _count(heard, value.get("usageMetadata"), "promptTokenCount", "candidatesTokenCount")
    for candidate in value.get("candidates", []):
        heard.text += "".join(part["text"] for part in candidate["content"].get("parts", []))
        heard.finish = candidate.get("finishReason")
        heard.ended = heard.finish is not None


def _openai_plain(heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    _count(heard, value.get("usage"), "prompt_tokens", "completion_tokens")
    for choice in value.get("choices", []):
        heard.text, heard.finish, heard.ended = choice["message"]["content"], choice["finish_reason"], True


def _responses_plain(heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    if "output" not in value:
        return
    _count(heard, value["usage"], "input_tokens", "output_tokens")
    heard.text = "".join(part["text"] for item in value["output"] for part in item["content"])
    heard.finish = (value["incomplete_details"] or {}).get("reason") or value["status"]
    heard.ended = True


def _anthropic_plain(heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    if "content" not in value:
        return
    _count(heard, value["usage"], "input_tokens", "output_tokens")
    heard.text, heard.finish = "".join(part["text"] for part in value["content"]), value["stop_reason"]
    heard.ended = True


def _count(heard: Heard, usage: dict[str, Any] | None, name_in: str, name_out: str) -> None:
    heard.usage |= usage or {}
    heard.in_tokens, heard.out_tokens = heard.usage.get(name_in), heard.usage.get(name_out)


_EVENTS = {OPENAI: _openai_event, RESPONSES: _responses_event, ANTHROPIC: _anthropic_event, GEMINI: _gemini}
_PLAIN = {OPENAI: _openai_plain, RESPONSES: _responses_plain, ANTHROPIC: _anthropic_plain, GEMINI: _gemini}
