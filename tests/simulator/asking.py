"""Asks the simulator over a real socket and reads its answers, apart from the code that writes them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from monitor.simulator import Behaviour, Replay, Simulator

OPENAI = "openai-chat"
ANTHROPIC = "anthropic-messages"
WIRES = (OPENAI, ANTHROPIC)
TARGET = "zai/glm"
MARKS = "FB-0000000A", "FB-0000000B", "FB-0000000C"
PROMPT = f"{MARKS[0]} {'lorem ' * 400}{MARKS[1]} {'ipsum ' * 400}{MARKS[2]} {MARKS[0]}"

_PATHS = {OPENAI: "/chat/completions", ANTHROPIC: "/messages"}


@dataclass(kw_only=True)
class Heard:
    """What a client could read of an answer."""

    status: int
    headers: Mapping[str, str]
    text: str = ""
    finish: str | None = None
    ended: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    kinds: list[str] = field(default_factory=list)
    body: str = ""


@asynccontextmanager
async def simulated(
    behaviour: Behaviour | Replay | str = "healthy", *, speed: float = 100.0, **others: Any
) -> AsyncIterator[Simulator]:
    """One target behind a running simulator, a hundred times faster than it says."""
    async with Simulator({TARGET: behaviour}, speed=speed, seed=1, **others) as simulator:
        yield simulator


def client_of(limit_s: float = 5.0) -> httpx.AsyncClient:
    """A client that reads no certificates, which would take longer than the request."""
    return httpx.AsyncClient(timeout=limit_s, trust_env=False, verify=False)


def body_for(wire: str, *, stream: bool, prompt: object = PROMPT, **others: Any) -> dict[str, Any]:
    """The JSON of a request."""
    body = {"model": "glm", "stream": stream, "messages": [{"role": "user", "content": prompt}], **others}
    return {"max_tokens": 1000, **body} if wire == ANTHROPIC else {"stream_options": {"include_usage": True}, **body}


def url_of(simulator: Simulator, wire: str) -> str:
    """Where a wire is asked."""
    return simulator.base_url("zai") + _PATHS[wire]


async def ask(
    simulator: Simulator,
    wire: str,
    *,
    stream: bool,
    limit_s: float = 5.0,
    headers: Mapping[str, str] | None = None,
    **others: Any,
) -> Heard:
    """Ask once, over a fresh connection; raises httpx's errors as they come."""
    async with client_of(limit_s) as client:
        answer = await client.post(
            url_of(simulator, wire),
            json=body_for(wire, stream=stream, **others),
            headers={"anthropic-version": "2023-06-01", **(headers or {})},
        )
    return read(wire, answer)


def read(wire: str, answer: httpx.Response) -> Heard:
    """What an answer says."""
    heard = Heard(status=answer.status_code, headers=answer.headers, body=answer.text)
    kind = answer.headers["content-type"]
    if kind.startswith("text/event-stream"):
        for event in answer.text.split("\n\n"):
            _event(wire, heard, event)
    elif kind == "application/json" and answer.text:
        _plain(wire, heard, answer.json())
    return heard


def _event(wire: str, heard: Heard, event: str) -> None:
    for line in event.splitlines():
        name, _, value = line.partition(": ")
        if name == "event":
            heard.kinds.append(value)
        elif name == "data" and value == "[DONE]":
            heard.ended = True
        elif name == "data":
            (_openai_event if wire == OPENAI else _anthropic_event)(heard, json.loads(value))


def _openai_event(heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    heard.usage = value.get("usage") or heard.usage
    for choice in value.get("choices", []):
        heard.text += choice["delta"].get("content") or ""
        heard.finish = choice["finish_reason"] or heard.finish


def _anthropic_event(heard: Heard, value: dict[str, Any]) -> None:
    match value["type"]:
        case "message_start":
            heard.usage |= value["message"]["usage"]
        case "content_block_delta":
            heard.text += value["delta"]["text"]
        case "message_delta":
            heard.usage |= value["usage"]
            heard.finish = value["delta"]["stop_reason"]
        case "message_stop":
            heard.ended = True
        case "error":
            heard.error = value["error"]
        case _:
            pass


def _plain(wire: str, heard: Heard, value: dict[str, Any]) -> None:
    heard.error = value.get("error")
    heard.usage = value.get("usage") or {}
    if heard.error is not None:
        return
    if wire == OPENAI:
        heard.text, heard.finish = value["choices"][0]["message"]["content"], value["choices"][0]["finish_reason"]
    else:
        heard.text, heard.finish = "".join(part["text"] for part in value["content"]), value["stop_reason"]
    heard.ended = True
