"""Anthropic's Messages."""

from breaker.wire.question import Question, Request
from breaker.wire.shape import items, mapping, number
from breaker.wire.tally import Tally

END_WORD: str | None = None

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def request(model: str, question: Question, *, streamed: bool, base_url: str = "") -> Request:
    """POST to `/messages`, in the version of 2023-06-01."""
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": "user", "content": question.prompt}],
        "max_tokens": question.max_tokens,
        "stream": streamed,
    }
    if question.system:
        body["system"] = question.system
    if question.tools:
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.schema} for t in question.tools
        ]
    headers = {
        "accept": "text/event-stream" if streamed else "application/json",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    return Request("/messages", headers, body)


def key_headers(key: str) -> dict[str, str]:
    """The header that carries the key."""
    return {"x-api-key": key}


def read(event: dict[str, object], tally: Tally) -> bool:
    """Count one event, or a whole plain answer, and say whether it is this wire's."""
    match event.get("type"):
        case "message_start":
            tally.begin()
            _read_usage(mapping(mapping(event.get("message")).get("usage")), tally)
        case "content_block_start":
            _read_block(mapping(event.get("content_block")), number(event.get("index"), 0), tally)
        case "content_block_delta":
            _read_delta(mapping(event.get("delta")), number(event.get("index"), 0), tally)
        case "message_delta":
            _read_stop(mapping(event.get("delta")), tally)
            _read_usage(mapping(event.get("usage")), tally)
        case "message_stop":
            tally.end()
        case "message":
            _read_message(event, tally)
        case "ping" | "content_block_stop":
            pass
        case _:
            return False
    return True


def _read_message(message: dict[str, object], tally: Tally) -> None:
    # What a whole call is given comes parsed, and only a text in its place needs a look.
    tally.whole = True
    for index, block in enumerate(items(message.get("content"))):
        _read_block(block, index, tally)
    _read_stop(message, tally)
    _read_usage(mapping(message.get("usage")), tally)


def _read_block(block: dict[str, object], index: int, tally: Tally) -> None:
    """What a block holds when it begins; in a stream that is nearly nothing."""
    tally.add_text(block.get("text"))
    tally.add_reasoning(block.get("thinking"))
    if _is_call(block):
        served = block.get("type") != "tool_use"
        arguments = block.get("input")
        tally.add_call(str(index), id=block.get("id"), name=block.get("name"), arguments=arguments, served=served)


def _is_call(block: dict[str, object]) -> bool:
    """A call of a tool, be it the caller's to carry out (`tool_use`), the server's or an MCP server's."""
    return str(block.get("type")).endswith("tool_use")


def _read_delta(delta: dict[str, object], index: int, tally: Tally) -> None:
    tally.add_text(delta.get("text"))
    tally.add_reasoning(delta.get("thinking"))
    if "partial_json" in delta:
        tally.add_call(str(index), arguments=delta.get("partial_json"))


def _read_stop(holder: dict[str, object], tally: Tally) -> None:
    tally.add_finish(holder.get("stop_reason"))


def _read_usage(usage: dict[str, object], tally: Tally) -> None:
    """`input_tokens` leaves out what the cache held, and a later count may leave out the cache's: keep each apart."""
    for name in _INPUT:
        tally.add_usage(usage.get(name), None, part=name)
    tally.add_usage(None, usage.get("output_tokens"))
