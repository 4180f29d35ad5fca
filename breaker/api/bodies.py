"""Reads what a POST carries, within bounds."""

import json

from fastapi import Request

from breaker.api.problems import ProblemError

MAX_BODY_BYTES = 1_000_000


async def read(request: Request) -> bytes:
    """The body of a request. Raises ProblemError unless it is declared as JSON and at most MAX_BODY_BYTES long.

    The declared type matters for more than tidiness: a web page can post JSON to another site only after asking,
    while text and forms go out unasked.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(415, "wrong-content-type", "send JSON, with 'Content-Type: application/json'")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MAX_BODY_BYTES:
        raise _too_long()
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _too_long()
    return bytes(body)


def parsed(body: bytes) -> object:
    """The JSON value in a body. Raises ProblemError where there is none."""
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ProblemError(400, "unreadable", "the body is not JSON") from None


def _no_number(_: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


def _too_long() -> ProblemError:
    return ProblemError(413, "too-long", f"the body is longer than {MAX_BODY_BYTES} bytes; send it in parts")
