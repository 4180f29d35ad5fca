"""Carries out a step for a caller that blocks."""

import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from breaker.attempt import Attempt, Begin, Drop, Refuse, Show, Showing, Stand, Wait
from breaker.client.transport.course import Course
from breaker.client.transport.tap import Tap


class BlockingStep:
    """A step on its way. What two attempts at once need of threads is there only where a second may be sent."""

    def __init__(self, course: Course, inner: Any) -> None:
        self._course = course
        self._inner = inner
        self._taps: dict[Attempt, _Tap] = {}
        self._settled: queue.SimpleQueue[_Tap] = queue.SimpleQueue()

    def respond(self) -> Any:
        """The response that the caller gets."""
        attempt = self._until_shown()
        if attempt is None:
            return self._course.refused()
        stream = self._course.family.sync_stream(self._flow(attempt), self._close, self._left)
        return self._course.shown(attempt, self._taps[attempt].response, stream)

    def _until_shown(self) -> Attempt | None:
        try:
            return self._act()
        except BaseException:
            self._close()
            raise

    def _act(self) -> Attempt | None:
        while True:
            match self._course.next(time.monotonic()):
                case Begin(attempt):
                    self._begin(attempt)
                case Wait(until):
                    self._wait(until)
                case Drop(attempt):
                    self._taps.pop(attempt).drop()
                case Show(attempt):
                    self._taps = {attempt: self._taps[attempt]}
                    return attempt
                case Refuse():
                    return None

    def _begin(self, attempt: Attempt) -> None:
        tap = self._taps[attempt] = _Tap(self._course, attempt, self._inner)
        if self._course.hedges:
            threading.Thread(target=self._listen, args=[tap], name="firstbyte-attempt", daemon=True).start()
        else:
            tap.listen()
            _raise(tap)

    def _listen(self, tap: "_Tap") -> None:
        try:
            tap.listen()
        except Exception as error:  # noqa: BLE001 # whoever waits for it raises it
            tap.fault = error
        self._settled.put(tap)

    def _wait(self, until: float) -> None:
        left = until - time.monotonic()
        if not self._course.step.running:
            time.sleep(max(left, 0.0))
            return
        with contextlib.suppress(queue.Empty):
            _raise(self._settled.get(timeout=None if left == float("inf") else max(left, 0.0)))

    def _flow(self, attempt: Attempt) -> Iterator[bytes]:
        while True:
            tap, showing = self._taps[attempt], self._course.showing(attempt)
            yield from tap.shown(showing)
            tap.close()
            _raise(tap)
            if not showing.failed:
                return
            attempt = self._following(attempt)

    def _following(self, attempt: Attempt) -> Attempt:
        """What is shown after an attempt that failed when part of it had been shown."""
        error, cause = self._course.error(attempt), self._taps[attempt].cause
        following = self._until_shown() if self._course.restarts(attempt) else None
        if following is None or following.stand is Stand.BAD:
            raise error from cause
        return following

    def _close(self) -> None:
        for tap in self._taps.values():
            tap.close()

    def _left(self) -> None:
        """Report what nobody has closed; its connection goes as those of httpx do."""
        for tap in self._taps.values():
            tap.finish()


def _raise(tap: "_Tap") -> None:
    """Raise what went wrong on the caller's own side."""
    if tap.fault is not None:
        raise tap.fault


class _Tap(Tap):
    def __init__(self, course: Course, attempt: Attempt, inner: Any) -> None:
        super().__init__(course, attempt, inner)
        self._pieces: Iterator[bytes] = iter(())
        self._stream: Any = None

    def listen(self) -> None:
        """Ask, and read until it is known what to do with the answer."""
        try:
            self.course.shared.rooms.enter(self.attempt.place.provider, self.course.limits.first_byte_s)
            self.begin()
            self._ask()
            while self.attempt.stand is Stand.HELD:
                self.read()
            if self.attempt.is_over:
                self.close()
        except BaseException:
            self.close()
            raise

    def shown(self, showing: Showing) -> Iterator[bytes]:
        """What may be shown, as it comes."""
        attempt = self.attempt
        while True:
            given = time.monotonic()
            yield from showing.pieces()
            attempt.away(time.monotonic() - given)
            if attempt.is_over:
                return
            data = self._next()
            while data and showing.passes(data, given := time.monotonic()):
                yield data
                attempt.away(time.monotonic() - given)
                data = self._next()
            if data is not None:
                self.came(data)

    def read(self) -> None:
        """Take one more piece; where there is none, the attempt is over then."""
        if (data := self._next()) is not None:
            self.came(data)

    def _next(self) -> bytes | None:
        """What comes next, b"" at the end; None where nothing came in time or the exchange broke: it is over then."""
        self.listens()
        try:
            return self.heard(next(self._pieces, b""))
        except self.course.family.breaks as error:
            self.broke(error)
            return None

    def drop(self) -> None:
        """Give up an attempt that another thread listens to: that thread wakes and closes it."""
        self.finish()
        self.wake()

    def close(self) -> None:
        """Give its connection up. Safe to call twice."""
        self.finish()
        self.sleep()
        if self._stream is not None:
            with contextlib.suppress(*self.course.family.breaks):
                self._stream.close()

    def _ask(self) -> None:
        timeouts = self.request.extensions["timeout"]
        timeouts["read"] = max(self.attempt.until - time.monotonic(), 0.001)
        try:
            response = self.inner.handle_request(self.request)
        except self.course.family.breaks as error:
            self.broke(error)
            return
        self._stream = response.stream
        self.headed(response)
        # It is looked up anew where the body begins.
        timeouts["read"] = None if self.rings else self.course.limits.silence_s
        self._pieces = iter(self._stream)
