"""Turns shapes into HTTP responses."""

import json
from collections.abc import Mapping

from starlette.responses import Response

# What every response carries: nothing of ours is to be guessed at by a browser.
BASE_HEADERS = {"X-Content-Type-Options": "nosniff"}
# Made once: each would cost as much as it then takes.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "), allow_nan=False, check_circular=False)
NO_STORE = {"Cache-Control": "no-store"}


def as_json(
    shape: Mapping[str, object],
    *,
    status: int = 200,
    headers: Mapping[str, str] = NO_STORE,
    media_type: str = "application/json",
) -> Response:
    """A JSON response with the base headers and these; kept by nobody unless the headers say otherwise."""
    return Response(encoded(shape), status, {**BASE_HEADERS, **headers}, media_type)


def encoded(shape: Mapping[str, object]) -> bytes:
    """A shape as one line of JSON."""
    return _ENCODER.encode(shape).encode(errors="replace")
