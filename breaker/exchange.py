"""Reads a whole recorded exchange with a provider, and plays it to the judge."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from breaker.answer import MAX_NUMBER, Answer, Ended, Source
from breaker.errors import BadExchangeError
from breaker.verdict import Blame, Judgement, Verdict, judge
from breaker.wire import READERS
from breaker.wire.reading import Reading
from breaker.wire.signs import PHRASES, Phrase

MAX_ID = 256
# What stands in the facts of an answer whose target and id nobody has said.
PLAYED = "exchange"

ENDS = {"close": Ended.COMPLETE, "reset": Ended.RESET, "timeout": Ended.SILENCE, "cancel": Ended.CANCELLED}
_KINDS = {str: "a text", bool: "true or false", int: "a whole number", dict: "an object", list: "a list"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One exchange with a provider, from the question's size to the last byte of its answer.

    `prompt_bytes` is the text sent (images and files left out), `tools` whether any were offered, `max_tokens` the
    caller's own limit, `status` None where no response began. `chunks` are the reads of the body, each with the
    moment at which it came; all moments are seconds since the request began. `ended` is how it ended, at `end_at_s`.
    """

    id: str = ""
    wire: str
    streamed: bool
    prompt_bytes: int | None = None
    tools: bool | None = None
    max_tokens: int | None = None
    status: int | None = None
    headers: Mapping[str, str]
    chunks: tuple[tuple[float, bytes], ...]
    ended: Ended
    end_at_s: float

    @classmethod
    def read(cls, exchange: object) -> "Exchange":
        """The exchange behind a parsed JSON object of the format in `docs/exchanges.md`.

        Raises BadExchangeError for anything that isn't one; the message quotes none of its texts.
        """
        said = _checked("the exchange", exchange, dict)
        request = _field(said, "request", dict, {})
        status, chunks = _status(said), _chunks(said)
        if status is None and chunks:
            raise BadExchangeError("status is null, yet there are chunks; no body comes without a status")
        return cls(
            id=_id(said),
            wire=_one_of(said, "wire", READERS),
            streamed=_field(said, "stream", bool),
            prompt_bytes=_prompt_bytes(request),
            tools=_field(request, "tools", bool, None, "request.tools"),
            max_tokens=_whole(request, "max_tokens", "request.max_tokens", least=1),
            status=status,
            headers=_headers(said),
            chunks=chunks,
            ended=_ended(said, status),
            end_at_s=_end_at_s(said, chunks),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """What an exchange was: its facts, what they mean, and the wire's own word for why the model stopped.

    `finish_word` is None where there was none. `first_byte_s` is the first event with anything that the model made,
    seconds; None for none, for a plain answer, and where all the text there is was a gateway's.
    """

    answer: Answer
    judgement: Judgement
    finish_word: str | None
    first_byte_s: float | None


def play(exchange: Exchange, *, phrases: Sequence[Phrase] = PHRASES) -> Played:
    """Read and judge an exchange as a probe would have; `phrases` are the gateways' words to look for."""
    reading = Reading(
        exchange.wire,
        streamed=exchange.streamed,
        prompt_bytes=exchange.prompt_bytes,
        max_tokens=exchange.max_tokens,
        phrases=phrases,
        tools=exchange.tools,
    )
    if exchange.status is not None:
        reading.headers(exchange.status, exchange.headers, _headers_s(exchange))
    for at_s, data in exchange.chunks:
        reading.feed(data, at_s)
    answer = reading.end(exchange.ended, exchange.end_at_s, target=PLAYED, id=PLAYED, source=Source.REPORT)
    judgement = judge(answer)
    first_byte_s = None if _by_the_gateway(answer, judgement) else answer.first_byte_s
    return Played(answer=answer, judgement=judgement, finish_word=reading.finish_word, first_byte_s=first_byte_s)


def _by_the_gateway(answer: Answer, judgement: Judgement) -> bool:
    """Whether all of the text is a gateway's, so that the model made nothing; some append theirs to a model's."""
    sure = judgement.blame is not Blame.INCONCLUSIVE
    return judgement.verdict is Verdict.GATEWAY_TEXT and sure and not answer.phrase_before


def _headers_s(exchange: Exchange) -> float:
    """The latest moment at which the headers can have come; the format has no moment of their own."""
    return exchange.chunks[0][0] if exchange.chunks else exchange.end_at_s


# The fields


def _id(said: dict[str, Any]) -> str:
    name: str = _field(said, "id", str, "")
    if len(name) > MAX_ID:
        raise BadExchangeError(f"id has {len(name)} characters; it may have {MAX_ID}")
    return name


def _prompt_bytes(request: dict[str, Any]) -> int | None:
    """Bytes where they were counted, else characters; what images weigh is no text, so then characters alone count."""
    chars = _whole(request, "chars", "request.chars")
    size = _whole(request, "bytes", "request.bytes")
    images = _whole(request, "images", "request.images")
    return chars if images or size is None else size


def _status(said: dict[str, Any]) -> int | None:
    status = _whole(said, "status", "status")
    if status is not None and not 100 <= status <= 599:
        raise BadExchangeError(f"status is {status}; an HTTP status is 100 to 599, or null where none came")
    return status


def _headers(said: dict[str, Any]) -> dict[str, str]:
    headers = _field(said, "headers", dict, {})
    return {name: _checked("a value in headers", value, str) for name, value in headers.items()}


def _ended(said: dict[str, Any], status: int | None) -> Ended:
    ended = ENDS[_one_of(said, "end", ENDS)]
    # A connection that is closed or broken before its status line is one that never stood.
    return Ended.UNREACHABLE if status is None and ended in (Ended.COMPLETE, Ended.RESET) else ended


def _end_at_s(said: dict[str, Any], chunks: tuple[tuple[float, bytes], ...]) -> float:
    last_s = chunks[-1][0] if chunks else 0.0
    end_s = _moment(said["end_at_ms"], "end_at_ms") if said.get("end_at_ms") is not None else last_s
    if end_s < last_s:
        raise BadExchangeError("end_at_ms lies before the last chunk's at_ms; the end comes last")
    return end_s


def _chunks(said: dict[str, Any]) -> tuple[tuple[float, bytes], ...]:
    chunks = tuple(_chunk(place, chunk) for place, chunk in enumerate(_field(said, "chunks", list)))
    for place in range(1, len(chunks)):
        if chunks[place][0] < chunks[place - 1][0]:
            raise BadExchangeError(f"chunks[{place}].at_ms lies before the chunk's before it; write them as they came")
    return chunks


def _chunk(place: int, chunk: object) -> tuple[float, bytes]:
    thing = f"chunks[{place}]"
    said = _checked(thing, chunk, dict)
    if ("data" in said) == ("b64" in said):
        raise BadExchangeError(f"{thing} has both data and b64, or neither; it has one of them")
    at_s = _moment(said.get("at_ms"), f"{thing}.at_ms")
    if "data" in said:
        return at_s, _checked(f"{thing}.data", said["data"], str).encode(errors="replace")
    try:
        return at_s, base64.b64decode(_checked(f"{thing}.b64", said["b64"], str), validate=True)
    except (binascii.Error, ValueError):
        raise BadExchangeError(f"{thing}.b64 can't be decoded; it is base64 of the raw bytes") from None


# The checks


def _field(said: dict[str, Any], name: str, kind: type, *otherwise: Any) -> Any:
    """A field of its kind; `otherwise` is its default, if it may be left out, and then its full name."""
    value = said.get(name)
    thing = otherwise[1] if len(otherwise) > 1 else name
    if value is None and otherwise:
        return otherwise[0]
    if name not in said:
        raise BadExchangeError(f"{thing} is missing; it is {_KINDS[kind]}")
    return _checked(thing, value, kind)


def _checked(thing: str, value: object, kind: type) -> Any:
    if type(value) is kind:
        return value
    raise BadExchangeError(f"{thing} is {_shown(value)}; it must be {_KINDS[kind]}")


def _one_of(said: dict[str, Any], name: str, known: Mapping[str, object]) -> str:
    value: str = _field(said, name, str)
    if value not in known:
        raise BadExchangeError(f"{name} is {_shown(value)}; it is one of: {', '.join(known)}")
    return value


def _whole(said: dict[str, Any], name: str, thing: str, *, least: int = 0) -> int | None:
    value: int | None = _field(said, name, int, None, thing)
    if value is not None and not least <= value <= MAX_NUMBER:
        raise BadExchangeError(f"{thing} is out of range; it is {least} to {MAX_NUMBER:.0e}, or left out")
    return value


def _moment(value: object, thing: str) -> float:
    """Seconds, from milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadExchangeError(f"{thing} is {_shown(value)}; it is a number of milliseconds")
    if not 0 <= value <= MAX_NUMBER:  # written so that NaN is refused too
        raise BadExchangeError(f"{thing} is out of range; it is milliseconds since the request began, from 0")
    return value / 1000


def _shown(value: object) -> str:
    """What kind of value stands there; its text may be a prompt's or a reply's."""
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return repr(value) if len(repr(value)) <= 40 else "a number too long to show"
    return f"{_KINDS.get(type(value), 'a value')} (not shown)"
