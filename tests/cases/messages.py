"""Anthropic's Messages, streamed and plain."""

from tests.cases.said import Call, Piece, Said, event, halves


def named(body: dict[str, object], *, token: bool = False) -> Piece:
    """An event under its type as name."""
    return event(body, name=str(body["type"]), token=token)


def start(said: Said) -> Piece:
    """The event that opens an answer."""
    message = {
        **_head(),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _read(said, min(said.written or 0, 1)),
    }
    return named({"type": "message_start", "message": message})


def begun(index: int, block: dict[str, object], *, token: bool = False) -> Piece:
    """The start of a block."""
    return named({"type": "content_block_start", "index": index, "content_block": block}, token=token)


def delta(index: int, kind: str, token: bool = True, **more: object) -> Piece:
    """A piece of a block."""
    return named({"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}, token=token)


def ended(index: int) -> Piece:
    """The end of a block."""
    return named({"type": "content_block_stop", "index": index})


def stop(word: str, written: int | None = 40, **usage: object) -> Piece:
    """The event with the reason to stop."""
    delta = {"stop_reason": word, "stop_sequence": None}
    return named({"type": "message_delta", "delta": delta, "usage": {"output_tokens": written or 0, **usage}})


STOPPED = named({"type": "message_stop"})
PING = named({"type": "ping"})


def texts(index: int, *pieces: str) -> list[Piece]:
    """A block of text."""
    return [
        begun(index, {"type": "text", "text": ""}),
        *(delta(index, "text_delta", text=piece) for piece in pieces),
        ended(index),
    ]


def _head() -> dict[str, object]:
    return {"id": "msg-41", "type": "message", "role": "assistant", "model": "fir-4"}


def _read(said: Said, written: int) -> dict[str, object]:
    return {
        "input_tokens": (said.read or 0) - said.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": said.cached,
        "output_tokens": written,
    }


def _call(index: int, call: Call) -> list[Piece]:
    first, second = halves(call)
    return [
        begun(index, {"type": "tool_use", "id": f"use-{index}", "name": call.name, "input": {}}, token=True),
        delta(index, "input_json_delta", token=False, partial_json=""),
        delta(index, "input_json_delta", partial_json=first),
        delta(index, "input_json_delta", partial_json=second),
        ended(index),
    ]


def word_of(said: Said) -> str | None:
    """The word for the end, as the wire says it."""
    return said.finish if said.finish != "" else ("tool_use" if said.calls else "end_turn")


def stream(said: Said) -> list[Piece]:
    """A streamed answer."""
    pieces, index = [start(said), PING], 0
    if said.thoughts:
        pieces.append(begun(0, {"type": "thinking", "thinking": "", "signature": ""}))
        pieces += [delta(0, "thinking_delta", thinking=thought) for thought in said.thoughts]
        pieces += [delta(0, "signature_delta", token=False, signature="c2ln"), ended(0)]
        index += 1
    if said.text:
        pieces += texts(index, *said.text)
        index += 1
    for number, call in enumerate(said.calls, index):
        pieces += _call(number, call)
    if (word := word_of(said)) is None:
        # An answer that never ends does so in the midst of its last block.
        return pieces[:-1] if pieces[-1].data == ended(index - 1 + len(said.calls)).data else pieces
    return [*pieces, stop(word, said.written), STOPPED]


def plain(said: Said) -> dict[str, object]:
    """A plain answer."""
    content: list[dict[str, object]] = []
    if said.thoughts:
        content.append({"type": "thinking", "thinking": said.thought, "signature": "c2ln"})
    if said.text:
        content.append({"type": "text", "text": said.whole})
    content += [
        {"type": "tool_use", "id": f"use-{at}", "name": c.name, "input": dict(c.arguments)}
        for at, c in enumerate(said.calls)
    ]
    usage = _read(said, said.written or 0)
    return {**_head(), "content": content, "stop_reason": word_of(said), "stop_sequence": None, "usage": usage}
