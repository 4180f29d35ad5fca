"""Reads a plain `GET /route` from the bytes of a request, and finds nothing in what an app had better see to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

import httptools
from starlette.datastructures import Headers

from breaker.api.access import Access, check
from breaker.api.prepared import Prepared
from breaker.api.problems import ProblemError
from breaker.api.waiting import MAX_WAIT_S

# With one of these a question isn't plain; whatever else a header says, the app's answer would be the same.
_NOT_PLAIN = frozenset({b"content-length", b"transfer-encoding", b"expect", b"upgrade"})
_WAIT = re.compile(rb"[?&]wait=(\d{1,3}(?:\.\d{1,6})?)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """A plain one: for which route, what the asker knows already ("" for nothing), how long it would wait for more."""

    route: str
    condition: str = ""
    wait_s: float | None = None


def targets(prepared: Prepared) -> dict[bytes, str]:
    """The request targets that ask for a route and nothing else, each with its route's name."""
    named = {f"/route?route={quote(name, safe=safe)}".encode(): name for name in prepared.names for safe in ("", "/:")}
    default = prepared.default()
    return named if default is None else {b"/route": default, **named}


def read(data: bytes, routes: Mapping[bytes, str], access: Access) -> Question | None:
    """The question; None unless this is one whole and plain request that may come in. `routes` are the targets."""
    request = _Request()
    try:
        request.parser.feed_data(data)
        check(access, "GET", "/route", Headers(raw=request.headers))
    except (httptools.HttpParserError, httptools.HttpParserUpgrade, ProblemError):
        return None
    if not request.plain() or not data.endswith(b"\r\n\r\n"):
        return None
    target, wait_s = _without_wait(request.target)
    conditions = [value for name, value in request.headers if name == b"if-none-match"]
    if target not in routes or len(conditions) > 1 or not (wait_s is None or 0 < wait_s <= MAX_WAIT_S):
        return None
    return Question(routes[target], "".join(value.decode("latin-1") for value in conditions), wait_s)


def _without_wait(target: bytes) -> tuple[bytes, float | None]:
    found = _WAIT.search(target)
    return (target, None) if found is None else (target[: found.start()], float(found[1]))


class _Request:
    """What the server's own parser says of a request."""

    def __init__(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.target = b""
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
        self.target += url

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
