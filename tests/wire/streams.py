"""Builds exchanges as providers send them, and reads them."""

import itertools
import json
from collections.abc import Iterable, Mapping

from breaker.answer import Answer, Ended, Source
from breaker.wire.reading import Reading

CHAT = "openai-chat"
MESSAGES = "anthropic-messages"


def sse(*events: object, name: str | None = None) -> bytes:
    """Events as server-sent ones; text goes in as it is."""
    head = f"event: {name}\n" if name else ""
    return "".join(f"{head}data: {e if isinstance(e, str) else json.dumps(e)}\n\n" for e in events).encode()


def chunk(delta: object = None, **choice: object) -> dict[str, object]:
    """One chunk of a chat completion."""
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, **choice}]}


def text(*pieces: str) -> list[dict[str, object]]:
    """Chunks of text."""
    return [chunk({"content": piece}) for piece in pieces]


def usage(prompt: int, completion: int) -> dict[str, object]:
    """The chunk with the counts."""
    return {"id": "c1", "choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}}


STOP = chunk({}, finish_reason="stop")
DONE = "[DONE]"

MESSAGE_START = {
    "type": "message_start",
    "message": {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "usage": {
            "input_tokens": 20,
            "cache_read_input_tokens": 300,
            "cache_creation_input_tokens": 4000,
            "output_tokens": 1,
        },
    },
}
MESSAGE_STOP = {"type": "message_stop"}


def block(kind: str, index: int = 0, **more: object) -> dict[str, object]:
    """The start of a content block."""
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **more}}


def delta(kind: str, index: int = 0, **more: object) -> dict[str, object]:
    """A piece of a content block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(reason: str, output: int = 9, **more: int) -> dict[str, object]:
    """The event with the reason to stop and the count."""
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": output, **more},
    }


def named(*events: Mapping[str, object]) -> bytes:
    """Anthropic's events, each under its type as name."""
    return b"".join(sse(event, name=str(event["type"])) for event in events)


def read(
    wire: str,
    body: bytes,
    *,
    status: int | None = 200,
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    streamed: bool = True,
    ended: Ended = Ended.COMPLETE,
    cuts: Iterable[int] = (),
    prompt_bytes: int | None = None,
    marks: tuple[str, ...] = (),
    max_tokens: int | None = None,
) -> Answer:
    """The final facts of an exchange whose body came in pieces, cut at `cuts`, all within the same moment."""
    reading = Reading(wire, streamed=streamed, prompt_bytes=prompt_bytes, marks=marks, max_tokens=max_tokens)
    if status is not None:
        reading.headers(status, headers, 0.1)
    edges = [0, *sorted(cuts), len(body)]
    for start, stop_at in itertools.pairwise(edges):
        reading.feed(body[start:stop_at], 0.2)
    return reading.end(ended, 0.3, target="here/model", id="a1", source=Source.PROBE)
