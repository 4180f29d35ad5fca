"""What a model said, and the pieces in which a wire carries it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Piece(NamedTuple):
    """Bytes that belong together, as an event does; `token` says that the model made a part of it."""

    data: bytes
    token: bool = False


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Said:
    """One answer of a model, in the pieces in which it comes.

    `read` and `written` are the counted tokens, None where nobody counts; `cached` is the part of the prompt that the
    cache held. `finish` is the wire's own word for the end, "" for the usual one, None where the answer never ends.
    """

    text: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    read: int | None = 800
    written: int | None = 40
    cached: int = 0
    finish: str | None = ""

    @property
    def whole(self) -> str:
        """All the text."""
        return "".join(self.text)

    @property
    def thought(self) -> str:
        """All the reasoning."""
        return "".join(self.thoughts)


def dump(body: object) -> str:
    """JSON as most providers write it: no blanks, letters as they are."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def event(body: object, *, name: str = "", token: bool = False) -> Piece:
    """One server-sent event; text goes in as it is."""
    head = f"event: {name}\n" if name else ""
    return Piece(f"{head}data: {body if isinstance(body, str) else dump(body)}\n\n".encode(), token)


def raw(text: str | bytes) -> Piece:
    """Bytes that no model made: comments, pings, errors, pages."""
    return Piece(text.encode() if isinstance(text, str) else text)


def halves(call: Call) -> tuple[str, str]:
    """The arguments of a call as they come in a stream: in two parts."""
    arguments = dump(call.arguments)
    return arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]


def words(text: str, size: int = 1) -> tuple[str, ...]:
    """A text in pieces of so many words, blanks kept."""
    found = text.split(" ")
    whole = [word if at == 0 else " " + word for at, word in enumerate(found)]
    return tuple("".join(whole[at : at + size]) for at in range(0, len(whole), size))


def joined(pieces: Iterable[Piece]) -> bytes:
    """The bytes of all pieces."""
    return b"".join(piece.data for piece in pieces)
