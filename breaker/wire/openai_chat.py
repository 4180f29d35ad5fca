"""OpenAI's Chat Completions, as OpenAI and the many who copied it speak it."""

import re

from breaker.wire import ollama
from breaker.wire.question import Question, Request
from breaker.wire.shape import items, mapping, number, pick
from breaker.wire.tally import Tally

END_WORD: str | None = "[DONE]"

# OpenAI's models that think refuse `max_tokens`; of those who copied the wire, many know no other name.
# Source: platform.openai.com/docs/api-reference/chat/create, 2026-11.
_NEW_LIMIT_HOSTS = re.compile(r"https?://(api\.openai\.com|[^/]+\.openai\.azure\.com)([:/]|$)")

# Where a choice's text stands.
_SPOKEN = frozenset(("delta", "message", "text"))
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_MORE = frozenset((*_THOUGHTS, "refusal", "tool_calls", "function_call", "images", "audio"))


def request(model: str, question: Question, *, streamed: bool, base_url: str = "") -> Request:
    """POST to `/chat/completions`; a streamed one asks for the token counts, which come in no other way."""
    system = [{"role": "system", "content": question.system}] if question.system else []
    body: dict[str, object] = {
        "model": model,
        "messages": [*system, {"role": "user", "content": question.prompt}],
        "max_completion_tokens" if _NEW_LIMIT_HOSTS.match(base_url) else "max_tokens": question.max_tokens,
        "stream": streamed,
    }
    if streamed:
        body["stream_options"] = {"include_usage": True}
    if question.tools:
        body["tools"] = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema}}
            for t in question.tools
        ]
    accept = "text/event-stream" if streamed else "application/json"
    return Request("/chat/completions", {"accept": accept, "content-type": "application/json"}, body)


def key_headers(key: str) -> dict[str, str]:
    """The header that carries the key."""
    return {"authorization": f"Bearer {key}"}


def read(event: dict[str, object], tally: Tally) -> bool:
    """Count one chunk, or a whole plain answer, and say whether it is this wire's."""
    if "done" in event and ollama.is_native(event):
        ollama.read(event, tally)
        return True
    counts = _counts(event) if event.get("usage") or event.get("x_groq") else []
    if "choices" not in event and ("type" in event or not counts):
        return False
    choices = items(event.get("choices"))
    # Among choices that hold nothing of an answer the caller finds none.
    known = not choices and (bool(counts) or isinstance(event.get("choices"), list))
    for place, choice in enumerate(choices):
        if not known:
            known = not _SPOKEN.isdisjoint(choice)
        _read_choice(choice, number(choice.get("index"), place), tally)
    for usage in counts:
        _read_usage(usage, tally)
    return known


def _counts(event: dict[str, object]) -> list[dict[str, object]]:
    """The counts of tokens that stand in a chunk."""
    return [usage for holder in (event, mapping(event.get("x_groq"))) if (usage := mapping(holder.get("usage")))]


def _read_choice(choice: dict[str, object], place: int, tally: Tally) -> None:
    # Some hosts repeat the text so far as `message` beside each `delta`.
    delta = mapping(choice.get("delta"))
    if "message" in choice and not isinstance(choice.get("delta"), dict):
        delta = mapping(choice.get("message"))
        tally.whole = True
    _read_delta(delta, place, tally)
    if "text" in choice:
        tally.add_text(choice["text"])
    if choice.get("finish_reason") or choice.get("native_finish_reason") or choice.get("usage"):
        tally.add_finish(choice.get("finish_reason"))
        tally.add_finish(choice.get("native_finish_reason"), native=True)
        _read_usage(mapping(choice.get("usage")), tally)


def _read_delta(delta: dict[str, object], place: int, tally: Tally) -> None:
    if content := delta.get("content"):
        _read_content(content, tally)
    if not _MORE.isdisjoint(delta):
        _read_more(delta, place, tally)


def _read_more(delta: dict[str, object], place: int, tally: Tally) -> None:
    """What stands beside the text, or in its place."""
    tally.add_text(delta.get("refusal"))
    tally.add_reasoning(pick(delta, *_THOUGHTS))
    for at, call in enumerate(items(delta.get("tool_calls"))):
        _read_call(call, f"{place}/{number(call.get('index'), at)}", tally)
    if function := mapping(delta.get("function_call")):
        _read_call({"function": function}, f"{place}/function", tally)
    if items(delta.get("images")) or mapping(delta.get("audio")):
        tally.add_media()


def _read_content(content: object, tally: Tally) -> None:
    """A string, or a list of parts some of which are thoughts."""
    if isinstance(content, str):
        tally.add_text(content)
        return
    for part in items(content):
        if part.get("type") == "thinking":
            for thought in items(part.get("thinking")):
                tally.add_reasoning(thought.get("text"))
            tally.add_reasoning(part.get("thinking"))
        elif part.get("type") in ("image_url", "audio", "file"):
            tally.add_media()
        else:
            tally.add_text(part.get("text"))


def _read_call(call: dict[str, object], place: str, tally: Tally) -> None:
    function, custom = mapping(call.get("function")), mapping(call.get("custom"))
    # What a custom tool is given is free text, not JSON: nothing to check.
    arguments = function.get("arguments") or ({"input": custom["input"]} if custom.get("input") else None)
    tally.add_call(place, id=call.get("id"), name=pick({**custom, **function}, "name"), arguments=arguments)


def _read_usage(usage: dict[str, object], tally: Tally) -> None:
    if usage:
        tally.add_usage(
            pick(usage, "prompt_tokens", "input_tokens"),
            pick(usage, "completion_tokens", "output_tokens"),
        )
