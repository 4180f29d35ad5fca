"""Gemini's generateContent, streamed and plain."""

import json
from typing import Any

from tests.cases.said import Piece, Said, dump

_KIND = {"modelVersion": "yew-3", "responseId": "r41"}


def frame(body: dict[str, object], *, token: bool = False) -> Piece:
    """One event as this wire sends it: in lines that end in CRLF."""
    return Piece(f"data: {dump(body)}\r\n\r\n".encode(), token)


def candidate(*parts: dict[str, object], finish: str | None = None, **more: Any) -> dict[str, object]:
    """One chunk, or a whole answer, with one candidate."""
    body: dict[str, object] = {"content": {"parts": list(parts), "role": "model"}} if parts else {}
    if finish is not None:
        body["finishReason"] = finish
    return {"candidates": [{**body, "index": 0}], **more, **_KIND}


def usage_of(said: Said) -> dict[str, Any]:
    """The counted tokens, for a chunk or an answer."""
    if said.read is None:
        return {}
    counts = {
        "promptTokenCount": said.read,
        "candidatesTokenCount": said.written or 0,
        "totalTokenCount": said.read + (said.written or 0),
    }
    return {"usageMetadata": {**counts, "cachedContentTokenCount": said.cached} if said.cached else counts}


def word_of(said: Said) -> str | None:
    """The word for the end, as the wire says it."""
    return said.finish if said.finish != "" else "STOP"


def _parts(said: Said, *, whole: bool) -> list[dict[str, object]]:
    thoughts = (said.thought,) if whole and said.thoughts else said.thoughts
    texts = (said.whole,) if whole and said.text else said.text
    parts: list[dict[str, object]] = [{"text": thought, "thought": True} for thought in thoughts]
    parts += [{"text": text} for text in texts]
    return parts + [{"functionCall": {"name": c.name, "args": dict(c.arguments)}} for c in said.calls]


def bodies(said: Said) -> list[dict[str, object]]:
    """The chunks of a streamed answer."""
    found = [candidate(part, **usage_of(said)) for part in _parts(said, whole=False)]
    if (word := word_of(said)) is not None:
        found.append(candidate({"text": ""}, finish=word, **usage_of(said)))
    return found


def stream(said: Said) -> list[Piece]:
    """A streamed answer."""
    return [frame(body, token=at < len(_parts(said, whole=False))) for at, body in enumerate(bodies(said))]


def array(said: Said) -> list[Piece]:
    """A streamed answer as the wire sends it where no server-sent events were asked for: a growing list."""
    found = bodies(said)
    text = [json.dumps(body, ensure_ascii=False, indent=1) for body in found]
    pieces = [Piece(f"{'[' if at == 0 else ','}\n{one}".encode(), True) for at, one in enumerate(text)]
    return pieces if said.finish is None else [*pieces, Piece(b"\n]")]


def plain(said: Said) -> dict[str, object]:
    """A plain answer."""
    return candidate(*_parts(said, whole=True), finish=word_of(said), **usage_of(said))
