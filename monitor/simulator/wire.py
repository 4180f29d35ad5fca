"""What a wire has to offer to the simulator; each wire is a module of pure functions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from monitor.simulator import wire_anthropic, wire_openai
from monitor.simulator.question import Question, Reply


class Wire(Protocol):
    """The bytes of one wire: requests in, events and bodies out."""

    NAME: str
    PATH: str

    def read(self, headers: Mapping[str, str], body: bytes) -> Question:
        """Return what a request asks, or raise a `RefusalError`."""

    def key_in(self, headers: Mapping[str, str]) -> str | None:
        """Return the key that a request carries, None where it carries none."""

    def opening(self, reply: Reply, *, empty: bool = False) -> Sequence[bytes]:
        """Return the events before the first token."""

    def delta(self, reply: Reply, text: str) -> bytes:
        """Return the event that carries one token."""

    def closing(self, reply: Reply, output_tokens: int, *, limited: bool, empty: bool = False) -> Sequence[bytes]:
        """Return the events after the last token; `limited` says that the request's own limit ended the answer."""

    def whole(self, reply: Reply, text: str, output_tokens: int, *, limited: bool) -> bytes:
        """Return the body of an answer that isn't streamed."""

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an HTTP error."""

    def error_event(self, message: str) -> bytes:
        """Return an error as an event inside a stream."""


_WIRES: tuple[Wire, ...] = (wire_openai, wire_anthropic)

WIRES: Mapping[str, Wire] = {wire.NAME: wire for wire in _WIRES}
BY_PATH: Mapping[str, Wire] = {path: wire for wire in _WIRES for path in (wire.PATH, f"/v1{wire.PATH}")}
