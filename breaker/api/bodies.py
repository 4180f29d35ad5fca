"""Reads what a POST carries, within bounds."""

import asyncio
import json
from collections.abc import Callable

from fastapi import Request
from starlette.requests import ClientDisconnect

from breaker.api.problems import ProblemError

MAX_BODY_BYTES = 1_000_000
# Who sends nothing more would else be waited for without end.
WITHIN_S = 30.0
_MOST_DIGITS = 100


async def read(request: Request, *, most: int = MAX_BODY_BYTES, remedy: str = "send it in parts") -> bytes:
    """The body of a request. Raises ProblemError unless it is declared as JSON, not packed, at most `most` bytes long,
    and comes whole within half a minute.

    The declared type matters for more than tidiness: a web page can post JSON to another site only after asking,
    while text and forms go out unasked.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(415, "wrong-content-type", "send JSON, with 'Content-Type: application/json'")
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        plain = {"Accept-Encoding": "identity"}
        raise ProblemError(415, "wrong-content-encoding", "send it unpacked, without 'Content-Encoding'", headers=plain)
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_long(most, remedy)
    body = bytearray()
    try:
        async with asyncio.timeout(WITHIN_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise _too_long(most, remedy)
    except TimeoutError:
        close = {"Connection": "close"}
        detail = f"the body didn't come within {WITHIN_S:g} s; send it again"
        raise ProblemError(408, "too-slow", detail, headers=close) from None
    except ClientDisconnect:  # who would hear this has gone
        raise ProblemError(400, "unreadable", "the body broke off") from None
    return bytes(body)


def parsed(body: bytes, *, each: Callable[[dict[str, object]], object] | None = None) -> object:
    """The JSON value in a body; `each` is called with every object in it. Raises ProblemError where there is none."""
    try:
        return json.loads(body, parse_int=_whole, parse_constant=_no_number, object_hook=each)
    except (ValueError, RecursionError):
        raise ProblemError(400, "unreadable", "the body is not JSON") from None


def _whole(digits: str) -> int:
    """An integer; of one that is too long for any fact, the first digits, which are too many as well.

    Python refuses to read thousands of them, and with them all that stands around.
    """
    return int(digits[:_MOST_DIGITS])


def _no_number(_: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


def _too_long(most: int, remedy: str) -> ProblemError:
    return ProblemError(413, "too-long", f"the body is longer than {most} bytes; {remedy}")
