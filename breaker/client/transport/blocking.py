"""Carries out a step for a caller that blocks."""

import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from breaker.attempt import Attempt, Begin, Drop, Refuse, Show, Showing, Stand, Wait
from breaker.client.transport.alarm import Bell, cut_off
from breaker.client.transport.line import Line
from breaker.client.transport.plan import Plan


class BlockingStep:
    """A step on its way. What two attempts at once need of threads is there only where a second may be sent."""

    def __init__(self, plan: Plan, inner: Any) -> None:
        self._plan = plan
        self._inner = inner
        self._lines: dict[Attempt, _Line] = {}
        self._settled: queue.SimpleQueue[_Line] = queue.SimpleQueue()

    def respond(self) -> Any:
        """The response that the caller gets."""
        attempt = self._until_shown()
        if attempt is None:
            return self._plan.refused()
        stream = self._plan.family.sync_stream(self._flow(attempt), self._close)
        return self._plan.shown(attempt, self._lines[attempt].response, stream)

    def _until_shown(self) -> Attempt | None:
        try:
            return self._act()
        except BaseException:
            self._close()
            raise

    def _act(self) -> Attempt | None:
        while True:
            match self._plan.next(time.monotonic()):
                case Begin(attempt):
                    self._begin(attempt)
                case Wait(until):
                    self._wait(until)
                case Drop(attempt):
                    self._lines.pop(attempt).drop()
                case Show(attempt):
                    self._lines = {attempt: self._lines[attempt]}
                    return attempt
                case Refuse():
                    return None

    def _begin(self, attempt: Attempt) -> None:
        line = self._lines[attempt] = _Line(self._plan, attempt, self._inner)
        if self._plan.hedges:
            threading.Thread(target=self._listen, args=[line], name="firstbyte-attempt", daemon=True).start()
        else:
            line.listen()
            _raise(line)

    def _listen(self, line: "_Line") -> None:
        try:
            line.listen()
        except Exception as error:  # noqa: BLE001 # whoever waits for it raises it
            line.fault = error
        self._settled.put(line)

    def _wait(self, until: float) -> None:
        left = until - time.monotonic()
        if not self._plan.step.running:
            time.sleep(max(left, 0.0))
            return
        with contextlib.suppress(queue.Empty):
            _raise(self._settled.get(timeout=None if left == float("inf") else max(left, 0.0)))

    def _flow(self, attempt: Attempt) -> Iterator[bytes]:
        while True:
            line, showing = self._lines[attempt], self._plan.showing(attempt)
            while pieces := self._more(line, showing):
                given = time.monotonic()
                yield from pieces
                attempt.away(time.monotonic() - given)
            line.close()
            if not showing.failed:
                return
            attempt = self._following(attempt)

    def _more(self, line: "_Line", showing: Showing) -> list[bytes]:
        """What may be shown next; nothing at the end."""
        while not (pieces := showing.pieces()) and not line.attempt.is_over:
            line.read()
        return pieces or showing.pieces()

    def _following(self, attempt: Attempt) -> Attempt:
        """What is shown after an attempt that failed when part of it had been shown."""
        error, cause = self._plan.error(attempt), self._lines[attempt].cause
        following = self._until_shown() if self._plan.restarts(attempt) else None
        if following is None or following.stand is Stand.BAD:
            raise error from cause
        return following

    def _close(self) -> None:
        for line in self._lines.values():
            line.close()


def _raise(line: "_Line") -> None:
    """Raise what went wrong on the caller's own side."""
    if line.fault is not None:
        raise line.fault


class _Line(Line):
    def __init__(self, plan: Plan, attempt: Attempt, inner: Any) -> None:
        super().__init__(plan, attempt, inner)
        self._pieces: Iterator[bytes] = iter(())
        self._stream: Any = None
        self._silence = Bell(lambda: None)

    def listen(self) -> None:
        """Ask, and read until it is known what to do with the answer."""
        try:
            self.plan.shared.rooms.enter(self.attempt.place.provider, self.plan.limits.first_byte_s)
            self.begin()
            self._ask()
            while self.attempt.stand is Stand.HELD:
                self.read()
            if self.attempt.is_over:
                self.close()
        except BaseException:
            self.close()
            raise

    def read(self) -> None:
        """Take one more piece; where there is none, the attempt is over then."""
        silence = self._silence
        silence.armed = True
        silence.set(self.attempt.until)
        try:
            data = next(self._pieces, b"")
        except self.plan.family.breaks as error:
            if silence.rang:
                self.silent()
            else:
                self.broke(error)
            return
        # What its reader does until the next piece is no silence.
        silence.armed = False
        if silence.rang and not data:
            self.silent()
        else:
            self.came(data)

    def drop(self) -> None:
        """Give up an attempt that another thread listens to: that thread wakes and closes it."""
        self.finish()
        if self.response is not None:
            self._silence.now()

    def close(self) -> None:
        """Give its connection up. Safe to call twice."""
        self.finish()
        self._silence.stop()
        if self._stream is not None:
            with contextlib.suppress(*self.plan.family.breaks):
                self._stream.close()

    def _ask(self) -> None:
        timeouts = self.request.extensions["timeout"]
        timeouts["read"] = max(self.attempt.until - time.monotonic(), 0.001)
        try:
            response = self.inner.handle_request(self.request)
        except self.plan.family.breaks as error:
            self.broke(error)
            return
        self._stream = response.stream
        cut = cut_off(response)
        if cut is not None:
            self._silence = Bell(cut)
        # It is looked up anew where the body begins.
        timeouts["read"] = self.plan.limits.silence_s if cut is None else None
        self.headed(response)
        self._pieces = iter(self._stream)
