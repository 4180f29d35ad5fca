import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from breaker.answer import Ended, Source
from breaker.verdict import judge
from breaker.wire.calls import MAX_ARGUMENTS
from breaker.wire.reading import Reading
from breaker.wire.sse import MAX_EVENT
from tests.cases.said import dump
from tests.cases.wires import CHAT, GEMINI, MESSAGES, RESPONSES, WIRES

SENT = 50 * 1024 * 1024
READ = 256 * 1024
# What `Reading` says that it holds at most, and what parsing an event of that size takes for a moment.
HELD = 4 * MAX_EVENT + MAX_ARGUMENTS
PARSED = 20 * MAX_EVENT
# One read, the interpreter's own crumbs, and the answer's facts.
CRUMBS = 2 * READ
_LONG = "words without an end " * 3_000


def _forever(piece: bytes, start: bytes = b"") -> Iterator[bytes]:
    """As many bytes as are sent in all, in reads of one size."""
    yield start
    many = piece * (READ // len(piece) + 1)
    for _ in range(SENT // READ):
        yield many[:READ] if len(piece) < 100 else many


def _events(wire: str, text: str) -> bytes:
    """An event with a long piece of text, or of a tool's arguments where it is JSON that never ends."""
    bodies = {
        CHAT: {"choices": [{"index": 0, "delta": {"content": text}}]},
        MESSAGES: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        RESPONSES: {"type": "response.output_text.delta", "item_id": "m", "delta": text},
        GEMINI: {"candidates": [{"content": {"parts": [{"text": text}]}}]},
    }
    return f"data: {dump(bodies[wire])}\n\n".encode()


def _calls(wire: str) -> Iterator[bytes]:
    """Calls without number, each with long arguments."""
    for index in range(SENT // len(_LONG)):
        function = {"name": f"f{index}", "arguments": _LONG}
        bodies = {
            CHAT: {"choices": [{"delta": {"tool_calls": [{"index": index, "id": f"c{index}", "function": function}]}}]},
            MESSAGES: {
                "type": "content_block_start",
                "index": index,
                "content_block": {"type": "tool_use", "id": f"c{index}", "name": f"f{index}", "input": {"text": _LONG}},
            },
            RESPONSES: {
                "type": "response.output_item.done",
                "item": {"type": "function_call", "id": f"c{index}", "name": f"f{index}", "arguments": _LONG},
            },
            GEMINI: {
                "candidates": [{"content": {"parts": [{"functionCall": {"name": f"f{index}", "args": {"t": _LONG}}}]}}]
            },
        }
        yield f"data: {dump(bodies[wire])}\n\n".encode()


_STREAMS: dict[str, Callable[[str], Iterator[bytes]]] = {
    "one line without an end": lambda _: _forever(b"x" * 99, b"data: "),
    "one event without an end": lambda _: _forever(b"data: " + b"x" * 9_000 + b"\n"),
    "text without an end": lambda wire: _forever(_events(wire, _LONG)),
    "calls without number": _calls,
    "stray lines": lambda _: _forever(b"oops: " + b"x" * 9_000 + b"\n", b"data: {}\n\n"),
    "a plain body without an end": lambda _: _forever(b"x" * 99, b'{"text": "'),
    "a page without an end": lambda _: _forever(b"<p>" * 33),
    "lists in lists": lambda _: iter([b"[" * (READ // 4)]),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", _STREAMS)
def test_fifty_megabytes_stay_below_the_bound(kind: str, wire: str) -> None:
    peak, _ = _peak(wire, _STREAMS[kind](wire))

    assert peak < HELD + CRUMBS, f"{peak / 1e6:.1f} MB held"


@pytest.mark.parametrize("wire", WIRES)
def test_the_costliest_event_stays_below_the_bound(wire: str) -> None:
    most = b"data: [" + b"{}," * (MAX_EVENT // 3 - 10) + b"{}]\n\n"

    peak, _ = _peak(wire, iter([most]))

    assert peak < HELD + PARSED


def _peak(wire: str, body: Iterator[bytes]) -> tuple[int, float]:
    """The most bytes that reading and judging held at once, and the seconds that it took."""
    tracemalloc.start()
    began = time.perf_counter()
    try:
        reading = Reading(wire, streamed=True, max_tokens=900)
        reading.headers(200, {}, 0.1)
        for data in body:
            reading.feed(data, 0.2)
        judge(reading.end(Ended.COMPLETE, 0.3, target="here/model", id="a", source=Source.REPORT))
        return tracemalloc.get_traced_memory()[1], time.perf_counter() - began
    finally:
        tracemalloc.stop()
