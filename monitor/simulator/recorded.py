"""Recorded exchanges as behaviours: the bytes that came once, at their times."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from breaker.answer import Ended
from breaker.errors import BadExchangeError
from breaker.exchange import Exchange
from breaker.wire.reading import Reading
from monitor.simulator.steps import Body, Hang, Head, Reset, Step

NAME = "exchange"

# What belonged to the connection that the exchange came by, and what the frame of chunks replaces.
_HOPS = {"connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "upgrade"}
_DROPPED = _HOPS | {"content-length", "transfer-encoding"}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BODILESS = (204, 304)


@dataclass(frozen=True)
class Recorded:
    """Exchanges that requests meet in turn, from the first again after the last.

    Raises `ValueError` where there is none, or one that no server can send.
    """

    exchanges: tuple[Exchange, ...]

    def __post_init__(self) -> None:
        if not self.exchanges:
            raise ValueError("there is no exchange to play")
        for exchange in self.exchanges:
            if exchange.status is not None and exchange.status < 200:
                raise ValueError(f"exchange {exchange.id!r} has status {exchange.status}; no answer ends with that")

    @classmethod
    def read(cls, text: str) -> Self:
        """Return what `FILE` or `FILE#ID` names: all exchanges of a file of JSON lines, or one of them.

        Raises `ValueError` with the line that can't be read, `OSError` as opening does.
        """
        path, _, wanted = text.partition("#")
        with Path(path).open(encoding="utf-8") as file:
            exchanges = tuple(_read_all(file))
        if not wanted:
            return cls(exchanges)
        chosen = next((exchange for exchange in exchanges if exchange.id == wanted), None)
        if chosen is None:
            raise ValueError(f"{path} has no exchange {wanted!r} among its {len(exchanges)}")
        return cls((chosen,))


def steps(exchange: Exchange) -> Iterator[Step]:
    """Yield what the client of an exchange gets: its status, headers and bytes, and its end."""
    if exchange.status is not None:
        yield _head(exchange, exchange.status)
        yield from _body(exchange)
    match exchange.ended:
        case Ended.COMPLETE:
            yield Body(at_s=exchange.end_at_s, data=b"")
        case Ended.RESET | Ended.UNREACHABLE:
            yield Reset(at_s=exchange.end_at_s)
        case _:
            yield Hang()


def _head(exchange: Exchange, status: int) -> Head:
    # Headers have no time of their own; behind a silence that nothing followed they came at once.
    silent_s = 0.0 if exchange.ended is Ended.SILENCE else exchange.end_at_s
    others = tuple((name, value) for name, value in exchange.headers.items() if _goes_on(name))
    at_s = exchange.chunks[0][0] if exchange.chunks else silent_s
    return Head(at_s=at_s, status=status, others=others, length=0 if status in _BODILESS else None)


def _goes_on(name: str) -> bool:
    return name.lower() not in _DROPPED and _TOKEN.fullmatch(name) is not None


def _body(exchange: Exchange) -> Iterator[Step]:
    if exchange.status in _BODILESS:
        return
    reading = Reading(exchange.wire, streamed=exchange.streamed)
    reading.headers(exchange.status or 0, exchange.headers, 0.0)
    for at_s, data in exchange.chunks:
        reading.feed(data, at_s)
        yield Body(at_s=at_s, data=data, carries=reading.first_byte_s is not None)


def _read_all(lines: Iterable[str]) -> Iterator[Exchange]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield Exchange.read(json.loads(line))
            except json.JSONDecodeError:
                raise ValueError(f"line {number} is no JSON") from None
            except (BadExchangeError, RecursionError) as fault:
                raise ValueError(f"line {number}: {fault}") from None
