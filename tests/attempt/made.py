"""Attempts and steps as tests make them, and the bytes that providers send."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from breaker.attempt import Asked, Attempt, Limits, Place, Step, read_request
from tests.cases.wires import CHAT

LIMITS = Limits(pause_s=1.0)


def place(name: str = "p/m", wire: str = CHAT, base_url: str = "https://p.example/v1", role: str = "primary") -> Place:
    provider, _, model = name.partition("/")
    return Place(target=name, provider=provider, model=model, base_url=base_url, wire=wire, api_key_env=None, role=role)


def asked(*, streamed: bool = True, path: str = "/v1/chat/completions", **more: Any) -> Asked:
    body = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "stream": streamed, **more}
    found = read_request("POST", path, json.dumps(body).encode())
    assert found is not None
    return found


def attempt(limits: Limits = LIMITS, *, leaves: bool = True, began: float = 100.0, **question: Any) -> Attempt:
    more: Mapping[str, object] = question.pop("values", {})
    return Attempt(asked(**question), place(), limits, id="a1", began=began, leaves=leaves, more=more)


def step(
    *others: str,
    limits: Limits = LIMITS,
    hedge_s: float | None = None,
    chance: float = 0.0,
    calm: bool = False,
    **question: Any,
) -> Step:
    """A step at `p/m`, with these targets besides."""
    return Step(
        asked(**question),
        place(),
        besides(others),
        limits,
        began=100.0,
        new_id=iter(f"a{i}" for i in range(1, 99)).__next__,
        chance=lambda: chance,
        hedge_s=hedge_s,
        calm=calm,
    )


def besides(names: Iterable[str]) -> Callable[[Collection[str]], Place | None]:
    known = [place(name, role="backup") for name in names]
    return lambda tried: next((one for one in known if one.target not in tried), None)


def said(text: str) -> bytes:
    """A piece of text of a chat."""
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


def thought(text: str) -> bytes:
    """A piece of reasoning of a chat."""
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"reasoning": text}}]}).encode() + b"\n\n"


def stop(word: str = "stop") -> bytes:
    """The last word of a chat."""
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
ROLE = b'data: {"choices": [{"index": 0, "delta": {"role": "assistant"}}]}\n\n'
ERROR = b'data: {"error": {"message": "the upstream is gone", "code": 500}}\n\n'
# Words in no order that repeats.
PROSE = " ".join(f"{number * 7919 % 10007} ravens" for number in range(20_000))
