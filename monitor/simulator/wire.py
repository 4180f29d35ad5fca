"""What a wire has to offer to the simulator; each wire is a module of pure functions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from monitor.simulator import wire_anthropic, wire_gemini, wire_openai, wire_responses
from monitor.simulator.question import Question, Reply
from monitor.simulator.request import Request


class Wire(Protocol):
    """The bytes of one wire: requests in, events and bodies out."""

    NAME: str

    def serves(self, path: str) -> bool:
        """Return whether a path is this wire's."""

    def read(self, request: Request, body: bytes) -> Question:
        """Return what a request asks, or raise a `RefusalError`."""

    def key_in(self, request: Request) -> str | None:
        """Return the key that a request carries, None where it carries none."""

    def opening(self, reply: Reply, *, empty: bool = False) -> Sequence[bytes]:
        """Return the events before the first token."""

    def delta(self, reply: Reply, text: str) -> bytes:
        """Return the event that carries one token."""

    def closing(self, reply: Reply, text: str, output_tokens: int, *, limited: bool) -> Sequence[bytes]:
        """Return the events after the last token; `text` was said, `limited` tells that the request's limit cut it."""

    def whole(self, reply: Reply, text: str, output_tokens: int, *, limited: bool) -> bytes:
        """Return the body of an answer that isn't streamed."""

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an HTTP error."""

    def error_event(self, reply: Reply, message: str) -> bytes:
        """Return an error as an event inside a stream."""


_WIRES: tuple[Wire, ...] = (wire_openai, wire_responses, wire_anthropic, wire_gemini)

WIRES: Mapping[str, Wire] = {wire.NAME: wire for wire in _WIRES}


def wire_at(path: str) -> Wire | None:
    """Return the wire that answers at a path, None where none does."""
    return next((wire for wire in _WIRES if wire.serves(path)), None)
