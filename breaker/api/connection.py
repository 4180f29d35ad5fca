"""A connection that nobody can make costly: heads are bounded in length and in time, questions ahead of their turn in
number, and whatever can't be read gets a problem.

Needs uvicorn with httptools, whose own protocol has none of these bounds.
"""

import asyncio
from typing import Any

import httptools
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from breaker.api.access import NO_MORE
from breaker.api.problems import ProblemError

# The most that may come before a request's body, and again around and behind the body.
MAX_HEAD_BYTES = 65_536
# Who sends no whole head, or nothing at all, would else be waited for without end.
HEAD_WITHIN_S = 30.0
# Who has said that nothing more will come gets what is owed within this.
ANSWER_WITHIN_S = 5.0
# Who takes nothing of what it has asked for is cut off, with all that is kept for it.
TAKE_WITHIN_S = 60.0
# So many questions at most wait for their turn, but for those that come in one piece: each costs a hundred times its
# bytes. What comes behind them is read when they have had theirs.
MOST_AHEAD = 16
_PIECE = 2_048

Defaults = list[tuple[bytes, bytes]]
_FRAMES = frozenset({b"content-length", b"transfer-encoding"})


class Connection(HttpToolsProtocol):
    """A connection to the app. A wish for another protocol is ignored, as HTTP allows, and the request is answered."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what uvicorn hands over is its own affair
        super().__init__(*args, **kwargs)
        self._between = True  # no question has begun that isn't read to its end
        self._in_head = False
        self._besides = 0  # bytes of this question that are no body, since it began or since the last of its body
        self._gained = False  # whether a question began or some of a body came just now
        self._owed = b""  # the framing of a body that the parser believes to be another protocol's
        self._body_left = 0  # of a body whose length is known
        self._behind = b""  # what isn't read yet
        self._told = False  # whether the head that is read now is only told to the parser again
        self._fault: ProblemError | None = None  # what is to be said after the answers that are owed; no more is read
        self._turn: RequestResponseCycle | None = None  # the question that the app answers now
        self._ended = False  # whether nothing more will come, while answers are owed
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Wait for a first question, but not for ever."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_WITHIN_S, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more will come."""
        self._end_timer()
        self._end_stuck()
        self._behind = b""
        super().connection_lost(exc)  # it tells the question that came last alone
        if self._turn is not None and not self._turn.response_complete:
            self._turn.disconnected = True
            self._turn.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Read what has come, or keep it for later."""
        if self._fault is not None:
            return
        if self._behind:
            self._behind += data
            self.flow.pause_reading()  # who waits for a body, or for the client's end, has resumed it
        else:
            self._read(data)

    def eof_received(self) -> bool:  # type: ignore[override] # as asyncio has it
        """Nothing more will come. Stay as long as an answer is owed that hasn't begun, and let nobody wait.

        Whether the client still listens can't be known, so it isn't long.
        """
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or cycle.response_started or cycle.more_body:
            return False
        if not self._ended:
            self._ended = True
            self.loop.call_later(ANSWER_WITHIN_S, self.transport.close)
        for each in (self._turn, *(waits for waits, _ in self.pipeline)):
            if each is not None:
                each.scope["state"][NO_MORE] = True
                each.message_event.set()
        return True

    def on_response_complete(self) -> None:
        """The next one has its turn; read what is behind it."""
        if self.pipeline:
            self._turn = self.pipeline[-1][0]
        super().on_response_complete()
        behind, self._behind = self._behind, b""
        if behind:
            self._read(behind)
        if self.cycle.response_complete and not self.transport.is_closing():
            if self._fault is not None:
                self._say(self._fault)
            elif self._ended:
                self.transport.close()

    def on_message_begin(self) -> None:
        """A question has begun."""
        if not self._told:
            self._between, self._in_head, self._gained, self._body_left = False, True, True, 0
            self._end_timer()
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Keep it."""
        if not self._told:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep it; what comes behind a body is none, whether the app has seen the others yet or not."""
        if self._in_head and not self._told:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the question to the app."""
        if self._told:
            self._told = False
            return
        self._in_head = False
        self._end_timer()
        self._body_left = next((int(value) for name, value in self.headers if name == b"content-length"), 0)
        super().on_headers_complete()
        if not self.pipeline:
            self._turn = self.cycle
        if self.parser.should_upgrade():
            self._owed = b"".join(b"%s: %s\r\n" % pair for pair in self.headers if pair[0] in _FRAMES)

    def on_body(self, body: bytes) -> None:
        """Hand it to the app."""
        self._gained = True
        self._body_left = max(self._body_left - len(body), 0)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The question has been read to its end."""
        if not self._owed:
            self._between = True
            super().on_message_complete()

    def pause_writing(self) -> None:
        """More is kept for the client than it takes."""
        super().pause_writing()
        self._stuck = self.loop.call_later(TAKE_WITHIN_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It has taken most of that."""
        self._end_stuck()
        super().resume_writing()

    def spoken(self) -> bool:
        """Whether a question has ever come here."""
        return self.cycle is not None

    def _should_upgrade_to_ws(self) -> bool:
        """Uvicorn asks; there is nothing here to speak of over a websocket."""
        return False

    def _read(self, data: bytes) -> None:
        """Parse piece by piece, until enough questions wait for their turn."""
        self._unset_keepalive_if_required()
        at = 0
        while at < len(data) and self._fault is None and not self.transport.is_closing():
            if len(self.pipeline) >= MOST_AHEAD:
                self._behind = data[at:]
                self.flow.pause_reading()
                return
            piece = data[at : at + (self._body_left or _PIECE)]
            at += len(piece)
            self._read_piece(piece)

    def _read_piece(self, piece: bytes) -> None:
        self._gained = False
        try:
            self._feed(piece)
        except httptools.HttpParserError:
            self._refuse(ProblemError(400, "unreadable", "this can't be read as a request by HTTP/1.1"))
            return
        if self._between or self._fault is not None or self.transport.is_closing():
            return
        self._besides = 0 if self._gained else self._besides + len(piece)
        if self._besides > MAX_HEAD_BYTES:
            detail = f"what comes besides the body is longer than {MAX_HEAD_BYTES} bytes"
            self._refuse(ProblemError(431, "too-long", detail))
        elif self._in_head and self._timer is None:
            self._timer = self.loop.call_later(HEAD_WITHIN_S, self._late)

    def _feed(self, data: bytes) -> None:
        """Parse; after a wish for another protocol what is behind it."""
        left: bytes | None = data
        while left is not None:
            left = self._feed_one(left)

    def _feed_one(self, data: bytes) -> bytes | None:
        """Parse up to a wish for another protocol; gives what is to be parsed then, None where there was no such wish.

        A parser that has heard of such a wish believes that no body follows, so another one goes on.
        """
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as wish:
            left, owed = data[wish.args[0] :], self._owed
        else:
            return None
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's
        self._owed, self._told = b"", owed != b""
        return b"POST / HTTP/1.1\r\n%s\r\n%s" % (owed, left) if owed else left

    def _refuse(self, problem: ProblemError) -> None:
        """Say so, once all have been answered that came whole, and close."""
        self._end_timer()
        cycle: RequestResponseCycle | None = self.cycle  # there is none before the app's first question
        if cycle is None or cycle.response_complete:
            self._say(problem)
        elif not cycle.more_body:
            self._fault = problem
        elif cycle.response_started or self.pipeline:  # it would stand amid another answer
            self.transport.close()
        else:
            self._say(problem)

    def _say(self, problem: ProblemError) -> None:
        problem.headers["Connection"] = "close"
        self.transport.write(written(problem.response(), self.server_state.default_headers))
        self.transport.close()

    def _late(self) -> None:
        self._timer = None
        if self.transport.is_closing():
            return
        if self._in_head:
            detail = f"the head of the request didn't come within {HEAD_WITHIN_S:g} s; send it again"
            self._refuse(ProblemError(408, "too-slow", detail))
        elif not self.spoken():
            self.transport.close()

    def _end_stuck(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def written(response: Response, defaults: Defaults) -> bytes:
    """A response as the server writes the app's; `defaults` are the headers that it puts before all others."""
    headers = b"".join(b"%s: %s\r\n" % pair for pair in [*defaults, *response.raw_headers])
    return b"%s%s\r\n%s" % (STATUS_LINE[response.status_code], headers, response.body)
