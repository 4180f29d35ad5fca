"""Tells a step's caller what was done: response headers, and the error where no answer came."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from breaker.attempt.again import Tried
from breaker.attempt.place import Place
from breaker.verdict import Verdict

_TIMEOUTS = (Verdict.TIMEOUT_FIRST_BYTE, Verdict.TIMEOUT_SILENCE)
# The SDKs obey it: what has been tried often enough here is not to be tried three times as often.
NO_RETRY = ("x-should-retry", "false")


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """The response of a step for which no target gave an answer: status, body, content type."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


def headers_of(place: Place, attempts: int, verdicts: Sequence[Verdict]) -> tuple[tuple[str, str], ...]:
    """Which target answered, as what to its route, after how many attempts, and what is known of those."""
    return (
        ("x-firstbyte-target", _plain(place.target)),
        ("x-firstbyte-role", _plain(place.role)),
        ("x-firstbyte-attempts", str(attempts)),
        ("x-firstbyte-verdicts", ",".join(verdicts)),
    )


def refusal(wire: str, tried: Sequence[Tried]) -> Refusal:
    """What a caller gets where attempts failed and none was an error of the provider's own; at least one was made."""
    last = tried[-1]
    status = 504 if last.verdict in _TIMEOUTS else 502
    message = f"no whole answer from {', then '.join(f'{one.place.target} ({one.verdict.value})' for one in tried)}"
    headers = headers_of(last.place, len(tried), [one.verdict for one in tried])
    body = error_body(wire, status, last.verdict.value, message)
    return Refusal(status=status, body=body, headers=(("content-type", "application/json"), NO_RETRY, *headers))


def error_body(wire: str, status: int, code: str, message: str) -> bytes:
    """An error as the wire's own clients read it."""
    return json.dumps(_error(wire, status, code, message)).encode()


def _error(wire: str, status: int, code: str, message: str) -> dict[str, object]:
    if wire == "anthropic-messages":
        return {"type": "error", "error": {"type": "api_error", "message": message, "code": code}}
    if wire == "gemini":
        return {"error": {"code": status, "message": message, "status": "UNAVAILABLE", "details": [{"reason": code}]}}
    return {"error": {"message": message, "type": "server_error", "param": None, "code": code}}


def _plain(value: str) -> str:
    """A header's value: no other signs than those that may stand there."""
    return "".join(sign if " " <= sign <= "~" else "?" for sign in value)
