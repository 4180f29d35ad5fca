"""Tells what a body is by its first bytes."""

from breaker.answer import Body
from breaker.wire.json_body import ArrayEvents, JsonEvents
from breaker.wire.sse import SseEvents

# Blanks and the bytes of a byte order mark.
LEADING = b" \t\r\n\xef\xbb\xbf"
_STREAM_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":", b"error: {", b"error:{")
# The longest start that tells a stream from anything else.
_TELLING = 8


def sniffed(head: bytes, *, whole: bool = False) -> tuple[Body, SseEvents | JsonEvents | ArrayEvents | None] | None:
    """What a body with this head is, and what cuts it into events (None: it has none); `whole` says that it is all.

    None where more must come before it can be told. A head has none of the `LEADING` bytes.
    """
    if len(head) < _TELLING and not whole and b"\n" not in head and b"\r" not in head:
        return None
    if head.startswith(_STREAM_STARTS):
        return Body.SSE, SseEvents()
    if head.startswith(b"["):
        return Body.JSON, ArrayEvents()
    if head.startswith(b"{"):
        return Body.JSON, JsonEvents()
    if head.startswith(b"<"):
        return Body.HTML, None
    return (Body.OTHER if head else Body.EMPTY), None
