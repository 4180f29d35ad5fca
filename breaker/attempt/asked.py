"""Reads a request that asks a model, and gives it another model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from breaker.attempt.members import Member, members, replaced
from breaker.attempt.prompt import size_of

_PATHS = {
    "openai-chat": re.compile(r"/chat/completions"),
    "openai-responses": re.compile(r"/responses"),
    "anthropic-messages": re.compile(r"/messages"),
    "gemini": re.compile(r"/models/(?P<model>[^/:]+):(?P<how>generateContent|streamGenerateContent)"),
}
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
# With one of these the provider may know of tools that the request doesn't name.
_ELSEWHERE = ("previous_response_id", "conversation", "prompt", "mcp_servers", "container", "cachedContent")
# One of these names what is kept at one provider, and no other has.
_KEPT = ("previous_response_id", "conversation", "prompt", "container", "cachedContent", "background")
_KEPT_WITHIN = ('"file_id"', '"vector_store_ids"', '"item_reference"')


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a request asks: `path` continues a provider's `base_url`, query and all, `text` is its body.

    `max_tokens` is the caller's own limit; None for none. `tools` says whether any were offered; None where the
    provider may know of some that stand elsewhere. `bound` says that only the provider can answer which keeps what the
    request names. `prompt_bytes` is the text sent.
    """

    wire: str
    path: str
    text: str
    streamed: bool
    max_tokens: int | None
    tools: bool | None
    bound: bool
    prompt_bytes: int

    @property
    def model(self) -> str:
        """Whom the caller asked."""
        if self.wire == "gemini":
            return unquote(str(_PATHS[self.wire].split(self.path)[1]))
        return str((members(self.text) or {})["model"].value)

    def path_for(self, model: str) -> str:
        """The path at which a model is asked."""
        found = _PATHS[self.wire].match(self.path)
        if found is None or "model" not in found.groupdict():
            return self.path
        begin, end = found.span("model")
        return self.path[:begin] + quote(model.removeprefix("models/"), safe="@") + self.path[end:]

    def body_for(self, model: str, more: Mapping[str, object] | None = None) -> bytes:
        """The body that asks a model, with `more` values in it; all else stays as it was written."""
        values = dict(more or {})
        if self.wire != "gemini":
            values["model"] = model
        return (replaced(self.text, values) if values else self.text).encode()


def read_request(method: str, path: str, body: bytes) -> Asked | None:
    """What a request asks; None for one that asks no model, or in no wire known here. Never raises.

    `path` is the whole path with its query, wherever a base URL ends in it.
    """
    wire, behind = _wire(method, path)
    if wire is None:
        return None
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    found = members(text)
    if found is None or not _names_a_model(wire, found):
        return None
    values = {name: member.value for name, member in found.items()}
    streamed = "streamGenerateContent" in behind if wire == "gemini" else values.get("stream") is True
    return Asked(
        wire=wire,
        path=behind,
        text=text,
        streamed=streamed,
        max_tokens=_limit(values),
        tools=_offers_tools(values),
        bound=any(values.get(name) for name in _KEPT) or any(name in text for name in _KEPT_WITHIN),
        prompt_bytes=size_of(values),
    )


def asks_a_model(method: str, path: str) -> bool:
    """Whether a request to this path asks a model, if its body does."""
    return _wire(method, path)[0] is not None


def _wire(method: str, path: str) -> tuple[str | None, str]:
    """The wire that a path belongs to, and what of it stands behind a base URL."""
    bare, query, rest = path.partition("?")
    for wire, pattern in _PATHS.items():
        found = re.search(f"(?:{pattern.pattern})$", bare)
        if found is not None and method == "POST":
            return wire, bare[found.start() :] + query + rest
    return None, path


def _names_a_model(wire: str, found: Mapping[str, Member]) -> bool:
    return wire == "gemini" or ("model" in found and isinstance(found["model"].value, str))


def _limit(values: Mapping[str, object]) -> int | None:
    config = values.get("generationConfig")
    named = config.get("maxOutputTokens") if isinstance(config, dict) else None
    limits = [named, *(values.get(name) for name in _LIMITS)]
    return next((limit for limit in limits if type(limit) is int and limit > 0), None)


def _offers_tools(values: Mapping[str, object]) -> bool | None:
    if values.get("tools") or values.get("functions"):
        return True
    return None if any(values.get(name) for name in _ELSEWHERE) else False
