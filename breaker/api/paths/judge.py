"""Judges whole exchanges for agents that can't read a provider's stream themselves: /judge."""

import asyncio
from collections.abc import Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response

from breaker.api import bodies, shapes
from breaker.api.problems import ProblemError
from breaker.api.replies import as_json
from breaker.api.rules import Rules
from breaker.errors import BadExchangeError
from breaker.exchange import ENDS, Exchange, Played, play
from breaker.wire import READERS
from breaker.wire.signs import Phrase

# An answer of 20,000 tokens, one a chunk, comes to some 6 MB.
MAX_EXCHANGE_BYTES = 8_000_000
# The most that are read or wait at once; each holds its body, and several times that once it is parsed.
MOST_AT_ONCE = 4

_REMEDY = "`firstbyte judge` has no such limit"

_COUNT = {"type": ["integer", "null"], "minimum": 0}
_SCHEMA: dict[str, object] = {
    "type": "object",
    "required": ["wire", "stream", "chunks", "end"],
    "properties": {
        "id": {"type": ["string", "null"]},
        "wire": {"type": "string", "enum": list(READERS)},
        "stream": {"type": "boolean"},
        "request": {
            "type": ["object", "null"],
            "properties": {
                "chars": _COUNT,
                "bytes": _COUNT,
                "images": _COUNT,
                "tools": {"type": ["boolean", "null"]},
                "max_tokens": {"type": ["integer", "null"], "minimum": 1},
            },
        },
        "status": {"type": ["integer", "null"], "minimum": 100, "maximum": 599},
        "headers": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
        "chunks": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at_ms"],
                "properties": {
                    "at_ms": {"type": "number", "minimum": 0},
                    "data": {"type": "string"},
                    "b64": {"type": "string", "contentEncoding": "base64"},
                },
                "oneOf": [{"required": ["data"]}, {"required": ["b64"]}],
            },
        },
        "end": {"type": "string", "enum": list(ENDS)},
        "end_at_ms": {"type": ["number", "null"], "minimum": 0},
    },
}
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}}}


def router(rules: Rules) -> APIRouter:
    """The path of those who let us judge; `rules` have the gateways' words to look for."""
    paths = APIRouter(tags=["agents"])
    places, turn = asyncio.Semaphore(MOST_AT_ONCE), asyncio.Lock()

    @paths.post("/judge", name="judge", response_model=shapes.JudgedShape, openapi_extra=_BODY)
    async def judge_(request: Request) -> Response:
        """Say what an exchange was, and its facts; nothing of it is kept, and no circuit moves by it."""
        if places.locked():
            detail = f"{MOST_AT_ONCE} exchanges are being judged; try again in a moment"
            raise ProblemError(503, "busy", detail, headers={"Retry-After": "1"})
        async with places:
            body = await bodies.read(request, most=MAX_EXCHANGE_BYTES, remedy=_REMEDY)
            async with turn:  # one at a time, so that the door has at least every other moment for itself
                return as_json(await asyncio.to_thread(_judged, body, rules.phrases))

    return paths


def _judged(body: bytes, phrases: Sequence[Phrase]) -> shapes.JudgedShape:
    try:
        exchange = Exchange.read(bodies.parsed(body, each=_breathe))
    except BadExchangeError as error:
        raise ProblemError(400, "bad-exchange", str(error)) from None
    return _shape(exchange, play(exchange, phrases=phrases))


def _breathe(found: dict[str, object]) -> dict[str, object]:
    """Does nothing, but as Python: between two objects the parser lets other threads have their turn."""
    return found


def _shape(exchange: Exchange, played: Played) -> shapes.JudgedShape:
    judgement = played.judgement
    facts = {name: fact for name, fact in played.answer.facts().items() if name not in ("target", "id")}
    return {
        "id": exchange.id,
        "verdict": judgement.verdict.value,
        "class": judgement.blame.value,
        "cause": judgement.cause and judgement.cause.value,
        "confidence": judgement.confidence.value,
        "why": judgement.why,
        "finish_reason": played.finish_word,
        "facts": facts,
    }
