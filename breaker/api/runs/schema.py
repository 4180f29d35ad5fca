"""What may be told of a run, as JSON Schema."""

import re
from enum import StrEnum

from breaker.api import reports
from breaker.api.reports import steps
from breaker.done import DEFAULT_BOUNDS, MAX_HAND_BACKS, MAX_STEPS
from breaker.run import Effect, Outcome, State, reading


def _body(one: dict[str, object]) -> dict[str, object]:
    several = {"type": "array", "items": one, "minItems": 1, "maxItems": reports.MAX_REPORTS}
    content = {"application/json": {"schema": {"oneOf": [one, several]}}}
    return {"requestBody": {"required": True, "content": content}}


def _text(pattern: re.Pattern[str]) -> dict[str, object]:
    return {"type": "string", "pattern": f"^{pattern.pattern}$"}


def _whole(least: int, most: int) -> dict[str, object]:
    return {"type": "integer", "minimum": least, "maximum": most}


def _word(kind: type[StrEnum]) -> dict[str, object]:
    return {"type": "string", "enum": list(kind)}


def _object(properties: dict[str, object], *required: str) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_ID, _NAME, _DIGEST, _SEQ = _text(reading.ID), _text(reading.NAME), _text(reading.DIGEST), _whole(0, reading.MAX_SEQ)
_IDS = {"type": "array", "items": _ID, "maxItems": reading.MAX_NAMED}
_SECONDS = {"type": "number", "minimum": 0, "maximum": reading.MAX_SECONDS}
_BOOLEAN = {"type": "boolean"}

STEPS = _body(reports.schema(steps.schema(), needed=("seq",)))
OPERATIONS = _body(
    _object(
        {
            "id": _ID,
            "seq": _SEQ,
            "tool": _NAME,
            "state": _word(State),
            "effect": _word(Effect),
            "attempt": _whole(1, reading.MAX_ATTEMPTS),
            "needs": _IDS,
            "replaces": _IDS,
            "required": _BOOLEAN,
            "idempotency_key": _ID,
            "reference": _text(reading.REFERENCE),
            "error": _NAME,
            "retryable": _BOOLEAN,
            "arguments": _DIGEST,
            "result": _DIGEST,
            "seconds": _SECONDS,
            "at_s": _SECONDS,
        },
        "id",
        "seq",
        "tool",
        "state",
    )
)
CHECKS = _body(
    _object({"id": _ID, "seq": _SEQ, "name": _NAME, "outcome": _word(Outcome)}, "id", "seq", "name", "outcome")
)


def _parameter(place: str, name: str, shape: dict[str, object]) -> dict[str, object]:
    return {"in": place, "name": name, "required": place == "path", "schema": shape}


DONE = {
    "parameters": [
        _parameter("path", "run", {**_text(reading.RUN), "maxLength": reading.MAX_RUN}),
        _parameter("query", "steps", {**_whole(1, MAX_STEPS), "default": DEFAULT_BOUNDS.steps}),
        _parameter("query", "hand_backs", {**_whole(0, MAX_HAND_BACKS), "default": DEFAULT_BOUNDS.hand_backs}),
    ]
}
