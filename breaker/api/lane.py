"""A lane before the app: answers a plain `GET /route` in the server's own protocol, and leaves all else to the app.

Needs uvicorn with httptools, which this module alone knows of; without them the app answers the same, only slower.
"""

import time
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import httptools
from starlette.datastructures import Headers
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from breaker.api.access import Access, check
from breaker.api.prepared import Prepared, Said
from breaker.api.problems import ProblemError

# An agent asks with the same bytes each time; so many different questions are remembered, and none that is longer.
MOST_QUESTIONS = 1_024
MOST_BYTES = 2_048
# With one of these a question isn't plain; whatever else a header says, the app's answer would be the same.
_NOT_PLAIN = frozenset({b"if-none-match", b"content-length", b"transfer-encoding", b"expect", b"upgrade"})

_Defaults = list[tuple[bytes, bytes]]


class Lane:
    """What all connections of one server share: which questions are plain, and their answers in bytes."""

    def __init__(self, prepared: Prepared, access: Access) -> None:
        self._prepared = prepared
        self._access = access
        self._routes = _targets(prepared)
        self._questions: dict[bytes, str | None] = {}
        self._answers: dict[str, tuple[Said, _Defaults, bytes]] = {}

    def answer(self, question: bytes, defaults: _Defaults) -> bytes | None:
        """The whole response to a plain question; None for what the app is to answer.

        `question` is all that came at once; `defaults` are the headers that the server puts before all others.
        """
        try:
            route = self._questions[question]
        except KeyError:
            route = self._read(question)
        if route is None:
            return None
        said, made = self._prepared.answer(route), self._answers.get(route)
        if made is None or made[0] is not said or made[1] is not defaults:
            self._answers[route] = made = (said, defaults, _written(said, defaults))
        return made[2]

    def protocol(self) -> type[HttpToolsProtocol]:
        """The protocol for uvicorn's `http=`."""
        return type("Protocol", (_Protocol,), {"lane": self})

    def _read(self, question: bytes) -> str | None:
        """The route that a question asks for if it is plain, which is then remembered."""
        if not question.startswith(b"GET /route") or len(question) > MOST_BYTES:
            return None
        if len(self._questions) >= MOST_QUESTIONS:
            self._questions.clear()
        self._questions[question] = route = _Question.route(question, self._routes, self._access)
        return route


class _Question:
    """A question as the server's own parser reads it."""

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._begun = 0
        self._whole = 0
        self._kept = False

    @classmethod
    def route(cls, data: bytes, routes: Mapping[bytes, str], access: Access) -> str | None:
        """The route that is asked for; None unless this is one whole and plain question that may come in."""
        read = cls()
        try:
            read._parser.feed_data(data)
            check(access, "GET", "/route", Headers(raw=read._headers))
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, ProblemError):
            return None
        return routes.get(read._target) if read._plain() and data.endswith(b"\r\n\r\n") else None

    def _plain(self) -> bool:
        one = self._begun == self._whole == 1
        return one and self._kept and _NOT_PLAIN.isdisjoint(name for name, _ in self._headers)

    def on_message_begin(self) -> None:
        """Count it."""
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        """Keep it."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep it."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """See whether the connection stays as it is; only now the parser knows."""
        parser = self._parser
        same = parser.get_http_version() == "1.1" and parser.should_keep_alive() and not parser.should_upgrade()
        self._kept = same and parser.get_method() == b"GET"

    def on_message_complete(self) -> None:
        """Count it."""
        self._whole += 1


class _Protocol(HttpToolsProtocol):
    """A connection: the lane's answers come between those of the app, and are counted and timed as they are."""

    lane: ClassVar[Lane]

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what uvicorn hands over is its own affair
        super().__init__(*args, **kwargs)
        self._between = True  # no question has begun that isn't read to its end
        self._answered_at = 0.0  # monotonic
        # What the lane doesn't see to: a log of requests, a limit on connections, a prefix of paths.
        self._open = not (self.access_log or self.limit_concurrency is not None or self.root_path)

    def data_received(self, data: bytes) -> None:
        """Answer at once what is plain, in its turn; hand all else on."""
        answer = self.lane.answer(data, self.server_state.default_headers) if self._idle() else None
        if answer is None:
            super().data_received(data)
            return
        self.transport.write(answer)
        self.server_state.total_requests += 1
        self._answered_at = time.monotonic()
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _idle(self) -> bool:
        """Whether a question that comes now may be answered now."""
        done = getattr(self.cycle, "response_complete", True)  # before the app's first question there is no cycle
        return done and self._between and self._open and not (self.flow.write_paused or self.transport.is_closing())

    def on_message_begin(self) -> None:
        """A question has begun that the app will answer."""
        self._between = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """After a question to change the protocol the parser is in a state of its own, so the lane is closed."""
        if self.parser.should_upgrade():
            self._open = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """It has been read to its end."""
        self._between = True
        super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Close unless the lane has answered since: a timer for each of its answers would cost as much as they do."""
        left_s = self._answered_at + self.timeout_keep_alive - time.monotonic()
        if left_s > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left_s, self.timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()


def _targets(prepared: Prepared) -> dict[bytes, str]:
    """The request targets that ask for a route and nothing else, each with its route's name."""
    targets = {
        f"/route?route={quote(name, safe=safe)}".encode(): name for name in prepared.names for safe in ("", "/:")
    }
    default = prepared.default()
    return targets if default is None else {b"/route": default, **targets}


def _written(said: Said, defaults: _Defaults) -> bytes:
    """A response as the server writes the app's."""
    headers = b"".join(b"%s: %s\r\n" % pair for pair in [*defaults, *said.full.raw_headers])
    return b"%s%s\r\n%s" % (STATUS_LINE[200], headers, said.full.body)
