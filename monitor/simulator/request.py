"""A request as it came in, before a wire reads it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request without its body; header names are in lower case, `query` holds the first value of each name."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    keep_alive: bool


def bearer_of(request: Request) -> str | None:
    """Return the bearer's token that a request carries, None where it carries none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
