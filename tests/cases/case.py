"""Writes an exchange with what is expected of it, in the format of `docs/exchanges.md`."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.cases.said import Piece, joined

Case = dict[str, Any]
_FINE = ("ok", "tool_call")
_EVENTS = {"content-type": "text/event-stream"}
_JSON = {"content-type": "application/json"}


def case(
    id: str,  # noqa: A002 # the format's word
    wire: str,
    body: Sequence[Piece] | Piece,
    *,
    rule: str,
    verdict: str,
    blame: str = "",
    cause: str | None = None,
    finish: str | None = None,
    accept: Sequence[str] = (),
    accept_class: Sequence[str] = (),
    status: int | None = 200,
    headers: Mapping[str, str] | None = None,
    stream: bool | None = None,
    end: str = "close",
    begin: int = 400,
    step: int = 30,
    cuts: int = 0,
    notice: bool = False,
    wait: int = 5,
    **request: object,
) -> Case:
    """One exchange.

    `body` is the pieces of a stream, each sent by itself every `step` ms from `begin` on (or, with `cuts`, all joined
    and cut anew into reads of so many bytes), or the one piece of a plain answer. A `notice` is no word of a model, so
    it has no first byte. The end comes `wait` ms after the last read.
    """
    plain = isinstance(body, Piece)
    pieces = [body] if isinstance(body, Piece) else list(body)
    reads = list(_cut(pieces, cuts)) if cuts else [piece.data for piece in pieces]
    at_ms = [begin + place * step for place in range(len(reads))]
    expect: Case = {"verdict": verdict, "class": blame or ("ok" if verdict in _FINE else "provider_failure")}
    expect["ttft_ms"] = None if plain or notice else _first(pieces, reads, at_ms)
    expect["finish_reason"] = finish
    expect |= {"cause": cause} if cause else {}
    expect |= {"accept": list(accept)} if accept else {}
    expect |= {"accept_class": list(accept_class)} if accept_class else {}
    return {
        "id": id,
        "rule": rule,
        "wire": wire,
        "stream": not plain if stream is None else stream,
        "request": {"chars": 3000, "tools": False, "max_tokens": 1024, **request},
        "status": status,
        "headers": dict(headers) if headers is not None else (_JSON if plain else _EVENTS),
        "chunks": [_chunk(at, data) for at, data in zip(at_ms, reads, strict=True)],
        "end": end,
        "end_at_ms": (at_ms[-1] if at_ms else begin) + wait,
        "expect": expect,
    }


def _cut(pieces: Iterable[Piece], size: int) -> Iterable[bytes]:
    data = joined(pieces)
    return (data[at : at + size] for at in range(0, len(data), size))


def _first(pieces: Sequence[Piece], reads: Sequence[bytes], at_ms: Sequence[int]) -> int | None:
    """The moment of the read that completes the first piece that the model made."""
    place = next((place for place, piece in enumerate(pieces) if piece.token), None)
    if place is None:
        return None
    # An event is complete at the first sign that its blank line ends.
    needed = len(joined(pieces[: place + 1])) - pieces[place].data.endswith(b"\r\n")
    came = 0
    for read, at in zip(reads, at_ms, strict=True):
        came += len(read)
        if came >= needed:
            return at
    return None


def _chunk(at_ms: int, data: bytes) -> Case:
    try:
        return {"at_ms": at_ms, "data": data.decode()}
    except UnicodeDecodeError:
        return {"at_ms": at_ms, "b64": base64.b64encode(data).decode()}
