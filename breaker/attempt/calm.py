"""Asks a model to think as little as it can, in its provider's own dialect."""

import re
from collections.abc import Callable, Mapping

from breaker.attempt.asked import Asked
from breaker.attempt.members import members

_Values = Mapping[str, object]

# Sources: the providers' own references of their APIs, as of 2026-11.
_OFF: dict[str, object] = {"thinking": {"type": "disabled"}}
_HOSTS: tuple[tuple[str, dict[str, object]], ...] = (
    (r"openrouter\.ai", {"reasoning": {"effort": "low"}}),
    (r"z\.ai|bigmodel\.cn|deepseek\.com|moonshot\.(ai|cn)", _OFF),
    (r"aliyuncs\.com|siliconflow\.(cn|com)", {"enable_thinking": False}),
    (r"(openai|openai\.azure|groq)\.com|(x|cerebras|together)\.ai|together\.xyz", {"reasoning_effort": "low"}),
)
_DIALECTS = [(re.compile(rf"https?://([^/]+\.)?({hosts})([:/]|$)"), values) for hosts, values in _HOSTS]
# What a caller says of reasoning itself, and the least that can be said there.
_SAID: tuple[tuple[str, object], ...] = (
    ("reasoning_effort", "low"),
    ("reasoning", {"effort": "low"}),
    ("thinking", {"type": "disabled"}),
    ("enable_thinking", False),
)


def calmer(asked: Asked, base_url: str) -> dict[str, object]:
    """The values that ask for the least reasoning; empty where nobody knows how this provider is asked for it.

    What the caller's own request says of reasoning shows its dialect, else the provider's address does.
    """
    found = members(asked.text) or {}
    values = {name: member.value for name, member in found.items()}
    return dict(_BY_WIRE[asked.wire](values, base_url))


def _chat(values: _Values, base_url: str) -> _Values:
    said = next(({name: least} for name, least in _SAID if name in values), None)
    if said is not None:
        return said
    return next((least for host, least in _DIALECTS if host.match(base_url)), {})


def _responses(values: _Values, base_url: str) -> _Values:
    return {"reasoning": {**_object(values.get("reasoning")), "effort": "low"}}


def _messages(values: _Values, base_url: str) -> _Values:
    return {"thinking": {"type": "disabled"}} if "thinking" in values else {}


def _gemini(values: _Values, base_url: str) -> _Values:
    config = _object(values.get("generationConfig"))
    thinking = _object(config.get("thinkingConfig"))
    least: dict[str, object] = {"thinkingLevel": "low"} if "thinkingLevel" in thinking else {"thinkingBudget": 0}
    return {"generationConfig": {**config, "thinkingConfig": least}}


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


_BY_WIRE: dict[str, Callable[[_Values, str], _Values]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
    "gemini": _gemini,
}
