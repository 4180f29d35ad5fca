"""A lane before the app: answers a plain `GET /route` in the server's own protocol, and leaves all else to the app.

Needs uvicorn with httptools, as `connection.py` and `question.py` do, which serve it; without them the app answers the
same, only slower.
"""

import asyncio
import time
from typing import Any, ClassVar, TypeVar

from breaker.api.access import Access
from breaker.api.connection import Connection, Defaults, written
from breaker.api.route.asked import Asked
from breaker.api.route.desk import Desk
from breaker.api.route.prepared import MOST_KEPT, Said
from breaker.api.route.question import Question, apart, likely, read, urls
from breaker.api.route.times import EVERY

# An agent asks with the same bytes each time; so many different questions are remembered, and none that is longer.
MOST_QUESTIONS = 1_024
MOST_BYTES = 2_048
# What comes behind a question that waits is kept up to this; then the connection isn't read until its answer.
_MOST_BEHIND = 65_536

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Lane:
    """What all connections of one server share: which questions are plain, and their answers in bytes."""

    def __init__(self, desk: Desk, access: Access) -> None:
        self.waiting = desk.waiting
        self.times = desk.times
        self._prepared = desk.prepared
        self._access = access
        self._routes = urls(desk.prepared)
        self._questions: dict[bytes, Question] = {}
        self._written: dict[tuple[Asked, bool], tuple[Said, Defaults, bytes]] = {}

    def renew(self, access: Access) -> None:
        """Read questions by the routes and tokens that there are now."""
        self._access = access
        self._routes = urls(self._prepared)
        self._questions.clear()
        self._written.clear()

    def question(self, data: bytes) -> Question | None:
        """The plain question that came; None for what the app is to answer. `data` is all that came at once."""
        try:
            return self._questions[data]
        except KeyError:
            pass
        if not likely(data) or len(data) > MOST_BYTES:
            return None
        alike, input_tokens, session = apart(data)
        question = self._questions.get(alike) or self._read(alike)
        if question is None or (not input_tokens and session is None):
            return question
        asked = self._prepared.asked(question.asked.route, question.needs, input_tokens, session)
        return Question(asked, question.needs, question.condition, question.wait_s)

    def known(self, question: Question) -> Said | None:
        """The answer, where whoever asks would wait for another; else None."""
        if question.wait_s is None:
            return None
        said = self._prepared.answer(question.asked)
        return said if said.known_to(question.condition) else None

    def answer(self, question: Question, defaults: Defaults) -> bytes:
        """The whole response; `defaults` are the headers that the server puts before all others."""
        said = self._prepared.answer(question.asked)
        known = question.condition != "" and said.known_to(question.condition)
        made = self._written.get((said.asked, known))
        if made is None or made[0] is not said or made[1] is not defaults:
            made = (said, defaults, written(said.unchanged if known else said.full, defaults))
            _keep(self._written, (said.asked, known), made, MOST_KEPT)
        said.count.times += 1
        return made[2]

    def _read(self, data: bytes) -> Question | None:
        """A question that hasn't been asked like this before."""
        question = read(data, self._routes, self._prepared, self._access)
        if question is not None:  # what isn't plain may hold anything, so it isn't kept
            _keep(self._questions, data, question, MOST_QUESTIONS)
        return question

    def protocol(self) -> type[Connection]:
        """The protocol for uvicorn's `http=`."""
        return type("Protocol", (_Protocol,), {"lane": self})


class _Protocol(Connection):
    """A connection: the lane's answers come between those of the app, and are counted and timed as they are."""

    lane: ClassVar[Lane]

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what uvicorn hands over is its own affair
        super().__init__(*args, **kwargs)
        self._held: _Held | None = None
        self._answered_at = 0.0  # monotonic
        # What the lane doesn't see to: a log of requests, a limit on connections, a prefix of paths.
        self._open = not (self.access_log or self.limit_concurrency is not None or self.root_path)

    def data_received(self, data: bytes) -> None:
        """Answer at once what is plain, in its turn; hand all else on."""
        times = self.lane.times
        began = 0.0 if times.seen % EVERY else time.perf_counter()
        if self._held is not None:
            self._held.keep(data)
            return
        question = self.lane.question(data) if self._idle() else None
        if question is None:
            super().data_received(data)
        elif (said := self.lane.known(question)) is None or not self._wait(data, question, said):
            self.give(question)
            times.seen += 1
            if began:
                times.add(time.perf_counter() - began)

    def give(self, question: Question) -> None:
        """Answer."""
        self.transport.write(self.lane.answer(question, self.server_state.default_headers))
        self.server_state.total_requests += 1
        self._answered_at = time.monotonic()
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def give_at_last(self, data: bytes) -> None:
        """Answer what was held back, as it is to be understood now; what isn't plain any more is the app's."""
        question = self.lane.question(data)
        if question is None:
            super().data_received(data)
        else:
            self.give(question)

    def go_on(self, behind: bytes) -> None:
        """After an answer that was held back, read what came behind its question."""
        self._held = None
        self.flow.resume_reading()
        if behind and not self.transport.is_closing():
            self.data_received(behind)

    def eof_received(self) -> bool:  # type: ignore[override] # as asyncio has it
        """Nothing more will come: answer who waits at once."""
        while self._held is not None:
            self._held.wake()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody waits here any more."""
        if self._held is not None:
            self._held.leave()
            self._held = None
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Answer who waits before the connection is closed."""
        if self._held is not None:
            self._held.wake()
        super().shutdown()

    def spoken(self) -> bool:
        """Whether a question has ever come here."""
        return self._answered_at > 0 or self._held is not None or super().spoken()

    def timeout_keep_alive_handler(self) -> None:
        """Close unless the lane has answered since: a timer for each of its answers would cost as much as they do."""
        left_s = self._answered_at + self.timeout_keep_alive - time.monotonic()
        if left_s > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left_s, self.timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def _idle(self) -> bool:
        """Whether a question that comes now may be answered now."""
        done = getattr(self.cycle, "response_complete", True)  # before the app's first question there is no cycle
        return done and self._between and self._open and not (self.flow.write_paused or self.transport.is_closing())

    def _wait(self, data: bytes, question: Question, said: Said) -> bool:
        self._unset_keepalive_if_required()
        held = _Held(self, data, question.wait_s or 0.0, said)
        if held.enter():
            self._held = held
        return self._held is not None


class _Held:
    """An answer that is held back, and what its connection brings meanwhile."""

    __slots__ = ("_behind", "_data", "_protocol", "_said", "_timer", "_wait_s")

    def __init__(self, protocol: _Protocol, data: bytes, wait_s: float, said: Said) -> None:
        self._protocol = protocol
        self._data = data
        self._wait_s = wait_s
        self._said = said
        self._behind = b""
        self._timer: asyncio.TimerHandle | None = None

    def enter(self) -> bool:
        """Begin to wait, if there is a place."""
        entered = self._protocol.lane.waiting.enter(self._said, self)
        if entered:
            self._timer = self._protocol.loop.call_later(self._wait_s, self.wake)
        return entered

    def keep(self, data: bytes) -> None:
        """Keep what came behind the question."""
        self._behind += data
        if len(self._behind) > _MOST_BEHIND:
            self._protocol.flow.pause_reading()

    def wake(self) -> None:
        """Answer with what is to be said now."""
        self.leave()
        self._protocol.give_at_last(self._data)
        self._protocol.go_on(self._behind)

    def leave(self) -> None:
        """Wait no longer."""
        self._protocol.lane.waiting.leave(self._said, self)
        if self._timer is not None:
            self._timer.cancel()


def _keep(kept: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Keep one more, and at most so many."""
    if len(kept) >= most and key not in kept:
        kept.clear()
    kept[key] = value
