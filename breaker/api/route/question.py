"""Reads a plain `GET /route` from the bytes of a request, and finds nothing in what an app had better see to."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

import httptools
from starlette.datastructures import Headers

from breaker.api.access import Access, check
from breaker.api.problems import ProblemError
from breaker.api.route.asked import Asked, needs
from breaker.api.route.prepared import Prepared
from breaker.api.route.waiting import MAX_WAIT_S
from breaker.target import Ability

# With one of these a question isn't plain; whatever else a header says, the app's answer would be the same.
_NOT_PLAIN = frozenset({b"content-length", b"transfer-encoding", b"expect", b"upgrade"})
# Each with the sign behind it, if there is one.
_WAIT = re.compile(rb"(?:(?<=\A/route)\?|&)wait=(\d{1,3}(?:\.\d{1,6})?)()\Z")
_NEEDS = re.compile(rb"(?:(?<=\A/route)\?|&)needs=([a-z_,]{0,100})(&|\Z)")
# What differs from step to step. A session is no key of anything, so it goes first.
_SESSION = re.compile(rb"(?:(?<=\AGET /route)\?|&)session=([A-Za-z0-9_.~-]{1,128})(&|\Z)")
_TOKENS = re.compile(rb"(?:(?<=\AGET /route)\?|&)input_tokens=(\d{1,9})(&|\Z)")


@dataclass(frozen=True, slots=True)
class Question:
    """A plain one: what is asked, what the asker knows already ("" for nothing), how long it would wait for more.

    `needs` are what the step needs of its target, as far as they are asked.
    """

    asked: Asked
    needs: frozenset[Ability] = frozenset()
    condition: str = ""
    wait_s: float | None = None


class Varying(NamedTuple):
    """A request in two parts: what an agent asks alike each time, and what differs from step to step."""

    alike: bytes
    input_tokens: int
    session: str | None


def likely(data: bytes) -> bool:
    """Whether this may be a plain question; what stands behind a `&` is then a parameter."""
    return data.startswith((b"GET /route?", b"GET /route "))


def apart(data: bytes) -> Varying:
    """A request that is a likely one, in its two parts."""
    end = data.find(b" ", 4)
    data, tokens = _without(_TOKENS, data, end)
    if tokens:
        end = data.find(b" ", 4)
    data, session = _without(_SESSION, data, end)
    return Varying(data, int(tokens or 0), session.decode() if session else None)


def urls(prepared: Prepared) -> dict[bytes, str]:
    """The URLs, from their paths on, that ask for a route and nothing else, each with its route's name."""
    named = {f"/route?route={quote(name, safe=safe)}".encode(): name for name in prepared.names for safe in ("", "/:")}
    default = prepared.default
    return named if default is None else {b"/route": default, **named}


def read(data: bytes, routes: Mapping[bytes, str], prepared: Prepared, access: Access) -> Question | None:
    """The question; None unless this is one whole and plain request that may come in. `routes` are `urls`."""
    request = _Request()
    try:
        request.parser.feed_data(data)
        check(access, "GET", "/route", Headers(raw=request.headers))
        url, wait = _without(_WAIT, request.url)
        url, words = _without(_NEEDS, url)
        needed = needs(words.decode())
    except (httptools.HttpParserError, httptools.HttpParserUpgrade, ProblemError):
        return None
    if not request.plain() or not data.endswith(b"\r\n\r\n"):
        return None
    wait_s = float(wait) if wait else None
    conditions = [value for name, value in request.headers if name == b"if-none-match"]
    if url not in routes or len(conditions) > 1 or not (wait_s is None or 0 < wait_s <= MAX_WAIT_S):
        return None
    condition = "".join(value.decode("latin-1") for value in conditions)
    return Question(prepared.asked(routes[url], needed), needed, condition, wait_s)


def _without(pattern: re.Pattern[bytes], data: bytes, end: int = sys.maxsize) -> tuple[bytes, bytes]:
    """What comes without a parameter that stands before `end`, and what that was; empty where there is none."""
    found = pattern.search(data, 0, end)
    if found is None:
        return data, b""
    first = found.start() + len(found[2])  # where another one follows, the sign before stays for it
    return data[:first] + data[found.end() :], found[1]


class _Request:
    """What the server's own parser says of a request."""

    def __init__(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self._begun = 0
        self._whole = 0
        self._kept = False

    def plain(self) -> bool:
        """Whether this is one whole GET without anything that changes the connection."""
        one = self._begun == self._whole == 1
        return one and self._kept and _NOT_PLAIN.isdisjoint(name for name, _ in self.headers)

    def on_message_begin(self) -> None:
        """Count it."""
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        """Keep it."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep it."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """See whether the connection stays as it is; only now the parser knows."""
        parser = self.parser
        same = parser.get_http_version() == "1.1" and parser.should_keep_alive() and not parser.should_upgrade()
        self._kept = same and parser.get_method() == b"GET"

    def on_message_complete(self) -> None:
        """Count it."""
        self._whole += 1
