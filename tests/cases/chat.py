"""Chat Completions, streamed and plain."""

from typing import Any

from tests.cases.said import Call, Piece, Said, event, halves

DONE = event("[DONE]")


def chunk(delta: object, *, token: bool = False, **choice: object) -> Piece:
    """One chunk with one choice."""
    return event(chunk_of(delta, **choice), token=token)


def chunk_of(delta: object, **choice: object) -> dict[str, object]:
    """The body of one chunk with one choice."""
    return {
        "id": "cmpl-41",
        "object": "chat.completion.chunk",
        "created": 1764460800,
        "model": "oak-2",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None, **choice}],
    }


def role() -> Piece:
    """The chunk that opens an answer."""
    return chunk({"role": "assistant", "content": ""})


def text(*pieces: str) -> list[Piece]:
    """Chunks of text."""
    return [chunk({"content": piece}, token=True) for piece in pieces]


def finish(word: str = "stop", **choice: Any) -> Piece:
    """The chunk with the reason to stop."""
    return chunk({}, finish_reason=word, **choice)


def usage_of(said: Said) -> dict[str, object]:
    """The counted tokens."""
    counts: dict[str, object] = {
        "prompt_tokens": said.read or 0,
        "completion_tokens": said.written or 0,
        "total_tokens": (said.read or 0) + (said.written or 0),
    }
    if said.cached:
        counts["prompt_tokens_details"] = {"cached_tokens": said.cached}
    return counts


def usage(said: Said) -> Piece:
    """The chunk with the counts."""
    return event({"id": "cmpl-41", "object": "chat.completion.chunk", "choices": [], "usage": usage_of(said)})


def _calls(calls: tuple[Call, ...]) -> list[Piece]:
    pieces = []
    for index, call in enumerate(calls):
        head = {"name": call.name, "arguments": ""}
        begun = {"index": index, "id": f"call-{index}", "type": "function", "function": head}
        pieces.append(chunk({"tool_calls": [begun]}, token=True))
        parts = ({"index": index, "function": {"arguments": half}} for half in halves(call))
        pieces += [chunk({"tool_calls": [part]}, token=True) for part in parts]
    return pieces


def word_of(said: Said) -> str | None:
    """The word for the end, as the wire says it."""
    return said.finish if said.finish != "" else ("tool_calls" if said.calls else "stop")


def stream(said: Said) -> list[Piece]:
    """A streamed answer."""
    pieces = [role()]
    pieces += [chunk({"reasoning_content": thought}, token=True) for thought in said.thoughts]
    pieces += text(*said.text) + _calls(said.calls)
    if (word := word_of(said)) is None:
        return pieces
    pieces.append(finish(word))
    if said.read is not None:
        pieces.append(usage(said))
    return [*pieces, DONE]


def plain(said: Said) -> dict[str, object]:
    """A plain answer."""
    message: dict[str, object] = {"role": "assistant", "content": said.whole or None}
    if said.thoughts:
        message["reasoning_content"] = said.thought
    if said.calls:
        message["tool_calls"] = [
            {"id": f"call-{at}", "type": "function", "function": {"name": c.name, "arguments": "".join(halves(c))}}
            for at, c in enumerate(said.calls)
        ]
    body: dict[str, object] = {
        "id": "cmpl-41",
        "object": "chat.completion",
        "created": 1764460800,
        "model": "oak-2",
        "choices": [{"index": 0, "message": message, "finish_reason": word_of(said)}],
    }
    return body if said.read is None else {**body, "usage": usage_of(said)}
