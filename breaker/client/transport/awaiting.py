"""Carries out a step for a caller that awaits."""

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskGroup

from breaker.attempt import Attempt, Begin, Drop, Refuse, Show, Stand, Wait
from breaker.client.transport.course import Course
from breaker.client.transport.tap import Tap

_T = TypeVar("_T")
_NEVER = float("inf")


class AwaitingStep:
    """A step on its way. The tasks that two attempts at once need are there only where a second may be sent."""

    def __init__(self, course: Course, inner: Any) -> None:
        self._course = course
        self._inner = inner
        self._taps: dict[Attempt, _Tap] = {}
        self._settled = anyio.Event()

    async def respond(self) -> Any:
        """The response that the caller gets."""
        attempt = await self._until_shown()
        if attempt is None:
            return self._course.refused()
        stream = self._course.family.async_stream(self._flow(attempt), self._close, self._left)
        return self._course.shown(attempt, self._taps[attempt].response, stream)

    async def _until_shown(self) -> Attempt | None:
        try:
            if not self._course.hedges:
                return await self._act(None)
            async with anyio.create_task_group() as tasks:
                shown = await self._act(tasks)
                tasks.cancel_scope.cancel()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._close()
            raise
        self._raise()
        return shown

    async def _act(self, tasks: TaskGroup | None) -> Attempt | None:
        while not any(tap.fault for tap in self._taps.values()):
            match self._course.next(time.monotonic()):
                case Begin(attempt):
                    await self._begin(attempt, tasks)
                case Wait(until):
                    await self._wait(until)
                case Drop(attempt):
                    self._taps.pop(attempt).drop()
                case Show(attempt):
                    self._taps = {attempt: self._taps[attempt]}
                    return attempt
                case Refuse():
                    return None
        return None

    async def _begin(self, attempt: Attempt, tasks: TaskGroup | None) -> None:
        tap = self._taps[attempt] = _Tap(self._course, attempt, self._inner)
        if tasks is not None:
            tasks.start_soon(self._listen, tap)
        else:
            await tap.listen()
            self._raise()

    async def _listen(self, tap: "_Tap") -> None:
        try:
            await tap.listen()
        except Exception as error:  # noqa: BLE001 # whoever waits for it raises it
            tap.fault = error
        self._settled.set()

    async def _wait(self, until: float) -> None:
        left = until - time.monotonic()
        if not self._course.step.running:
            await anyio.sleep(max(left, 0.0))
            return
        with anyio.move_on_after(left):
            await self._settled.wait()
            self._settled = anyio.Event()

    def _raise(self) -> None:
        """Raise what went wrong on the caller's own side."""
        for tap in self._taps.values():
            if tap.fault is not None:
                raise tap.fault

    async def _flow(self, attempt: Attempt) -> AsyncIterator[bytes]:
        while True:
            tap, showing = self._taps[attempt], self._course.showing(attempt)
            while True:
                given = time.monotonic()
                for piece in showing.pieces():
                    yield piece
                attempt.away(time.monotonic() - given)
                if attempt.is_over:
                    break
                data = await tap.next()
                while data and showing.passes(data, given := time.monotonic()):
                    yield data
                    attempt.away(time.monotonic() - given)
                    data = await tap.next()
                if data is not None:
                    tap.came(data)
            await tap.close()
            self._raise()
            if not showing.failed:
                return
            attempt = await self._following(attempt)

    async def _following(self, attempt: Attempt) -> Attempt:
        """What is shown after an attempt that failed when part of it had been shown."""
        error, cause = self._course.error(attempt), self._taps[attempt].cause
        following = await self._until_shown() if self._course.restarts(attempt) else None
        if following is None or following.stand is Stand.BAD:
            raise error from cause
        return following

    async def _close(self) -> None:
        for tap in self._taps.values():
            await tap.close()

    def _left(self) -> None:
        """Report what nobody has closed; its connection goes as those of httpx do."""
        for tap in self._taps.values():
            tap.finish()


class _Tap(Tap):
    def __init__(self, course: Course, attempt: Attempt, inner: Any) -> None:
        super().__init__(course, attempt, inner)
        self._pieces: AsyncIterator[bytes]
        self._stream: Any = None
        self._scope = anyio.CancelScope()

    async def listen(self) -> None:
        """Ask, and read until it is known what to do with the answer."""
        with self._scope:
            await self.course.shared.rooms.enter(self.attempt.place.provider, self.course.limits.first_byte_s)
            self.begin()
            await self._ask()
            while self.attempt.stand is Stand.HELD:
                await self.read()
        if self.attempt.is_over:
            with anyio.CancelScope(shield=True):
                await self.close()

    async def read(self) -> None:
        """Take one more piece; where there is none, the attempt is over then."""
        if (data := await self.next()) is not None:
            self.came(data)

    async def next(self) -> bytes | None:
        """What comes next, b"" at the end; None where nothing came in time or the exchange broke: it is over then."""
        if not self.rings:
            return await self._in_time(anext(self._pieces, b""))
        self.listens()
        try:
            return self.heard(await anext(self._pieces, b""))
        except self.course.family.breaks as error:
            self.broke(error)
            return None

    def drop(self) -> None:
        """Give up an attempt that another task listens to: that task ends and closes it."""
        self.finish()
        self._scope.cancel()

    async def close(self) -> None:
        """Give its connection up. Safe to call twice."""
        self.finish()
        self.sleep()
        if self._stream is not None:
            with contextlib.suppress(*self.course.family.breaks):
                await self._stream.aclose()

    async def _ask(self) -> None:
        self.request.extensions["timeout"]["read"] = None
        response = await self._in_time(self.inner.handle_async_request(self.request))
        if response is not None:
            self._stream = response.stream
            self.headed(response)
            self._pieces = aiter(self._stream)

    async def _in_time(self, coming: Awaitable[_T]) -> _T | None:
        """What comes; None where nothing came in time or the exchange broke, and the attempt is over then."""
        came = None
        try:
            with anyio.move_on_after(self.attempt.until - time.monotonic()) as limit:
                came = await coming
        except self.course.family.breaks as error:
            self.broke(error)
            return None
        if limit.cancelled_caught:
            self.silent()
        return came
