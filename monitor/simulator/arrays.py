"""A stream whose events are the elements of one JSON array, as `gemini` sends them where nothing else is asked for."""

from collections.abc import Iterator
from dataclasses import replace

from monitor.simulator.steps import Body, Cut, Head, Step

_FIELD = b"data: "
_PAGE = "text/html"


def as_array(steps: Iterator[Step], content_type: str) -> Iterator[Step]:
    """Yield an answer's steps with each event, or a body that is one object, as an element; pages stay as they are."""
    first, framed, at_s = True, True, 0.0
    for step in steps:
        match step:
            case Head():
                framed = not (step.content_type or "").startswith(_PAGE)
                yield replace(step, content_type=content_type, length=None) if framed else step
            case Body() | Cut() if framed:
                data = _element(step.data)
                at_s = step.at_s
                yield replace(step, data=(b"[" if first else b",\r\n") + data if data else b"\n")
                first = first and not data
            case _:
                yield step
    if framed and not first:
        yield Body(at_s=at_s, data=b"\n]")


def _element(data: bytes) -> bytes:
    """Return the JSON in an event or a body, nothing for a comment."""
    return data.removeprefix(_FIELD).strip() if data.startswith((_FIELD, b"{")) else b""
