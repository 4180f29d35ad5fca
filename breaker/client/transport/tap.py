"""One attempt and what came by its connection, the same for callers that block and for those that await."""

import threading
import time
from typing import Any

from breaker.answer import Ended
from breaker.attempt import Attempt
from breaker.client.transport.alarm import NEVER, Bell, cut_off
from breaker.client.transport.course import Course
from breaker.client.transport.guide import report


class Tap:
    """Hands on to an attempt what happens on its connection, and reports how it ended.

    `response` is the one that began, None before. `cause` is the error that broke it, `fault` one of the caller's own
    side. `rings` says that whoever reads the body wakes when silence has lasted too long. Safe to use from two threads.
    """

    def __init__(self, course: Course, attempt: Attempt, inner: Any) -> None:
        self.attempt = attempt
        self.response: Any = None
        self.cause: Exception | None = None
        self.fault: Exception | None = None
        self.course = course
        self.inner = inner
        self.request = course.request(attempt)
        self._lock = threading.RLock()  # a collected stream ends its tap, whatever this thread is doing
        self._reported = False
        self._inside = False
        self._late = Bell(self._tell_late)
        self._silence = Bell(lambda: None)
        self.rings = False

    def begin(self) -> None:
        """The attempt has its turn; that its first byte is late is told when it is."""
        self._inside = True
        self.attempt.begin(time.monotonic())
        self._late.set(self.attempt.late_at)

    def headed(self, response: Any) -> None:
        """The response has begun."""
        self.response = response
        cut = cut_off(response)
        if cut is not None:
            attempt = self.attempt  # the alarm holds the bell, and must not hold the response by it
            self._silence, self.rings = Bell(cut, lambda: attempt.until), True
        with self._lock:
            self.attempt.headers(response.status_code, response.headers, time.monotonic())

    def listens(self) -> None:
        """The next piece of the body is waited for from now on."""
        silence = self._silence
        silence.armed = True
        if silence.when == NEVER or self.attempt.is_ending:
            silence.set(self.attempt.until)

    def heard(self, data: bytes) -> bytes | None:
        """The piece that has come; None for an end that silence has brought about: the attempt is over then."""
        # What its reader does until the next piece is no silence.
        self._silence.armed = False
        if data or not self._silence.rang:
            return data
        self.silent()
        return None

    def sleep(self) -> None:
        """Nobody reads the body any more."""
        self._silence.stop()

    def wake(self) -> None:
        """Wake whoever reads the body, where it has begun."""
        if self.response is not None:
            self._silence.now()

    def came(self, data: bytes) -> None:
        """A piece of the body came; b"" is its end."""
        now = time.monotonic()
        with self._lock:
            if data:
                self.attempt.feed(data, now)
            else:
                self.attempt.end(Ended.COMPLETE, now)

    def silent(self) -> None:
        """Nothing came in time."""
        with self._lock:
            self.attempt.overdue(time.monotonic())

    def broke(self, error: Exception) -> None:
        """The exchange broke with an error."""
        ended = self.course.family.ended(error, headed=self.response is not None)
        if self._silence.rang:
            self.silent()
            return
        self.cause = error
        if ended is Ended.SILENCE:
            self.silent()
            return
        if ended is None or self.course.shared.closed:
            self.fault, ended = error, None
        with self._lock:
            self.attempt.end(ended or Ended.CANCELLED, time.monotonic())

    def finish(self) -> None:
        """It is over, by its caller's wish if nothing else has ended it. Reports it once."""
        with self._lock:
            self.attempt.end(Ended.CANCELLED, time.monotonic())
            known, self._reported = self._reported, True
        self._late.stop()
        if not known:
            self._leave()
            self.course.over(self.attempt)
            report(self.course.wishes.guide, self.attempt.place, self.attempt.ended.answer)

    def _leave(self) -> None:
        self.course.shared.over(self.course.asked, self.attempt)
        if self._inside:
            self.course.shared.rooms.leave(self.attempt.place.provider, refused=self.attempt.crowded)

    def _tell_late(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = self.attempt.late(now) if self.attempt.late_at <= now else None
        if late is not None:
            report(self.course.wishes.guide, self.attempt.place, late)
