"""What an agent holds: where to go before a step, and whom to tell after it."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Self

from breaker.answer import Answer
from breaker.client.address import Address
from breaker.client.engine import FLUSH_S, Engine
from breaker.client.keeping import Book, Kept
from breaker.client.outbox import Outbox, Waiting
from breaker.client.said import Decision, Fallback, Source, check
from breaker.client.step import Step
from breaker.errors import BadFactError, DoorError, DoorGoneError, DoorRefusedError
from breaker.verdict import Verdict, judge

_log = logging.getLogger(__name__)
_monotonic = time.monotonic


class _Client:
    """What both kinds of client have in common."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        fallback: Fallback | None = None,
        strict: bool = False,
    ) -> None:
        self._address = Address.found(url, token)
        self._fallback: Fallback = fallback or ()
        check(self._fallback)
        self._strict = strict
        self._outbox = Outbox()
        self._book = Book(self._fallback, strict=strict)
        self._kept = self._book.kept  # read at every step
        self._begin()
        _clients.add(self)

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}({self._address.bare!r})"

    @property
    def url(self) -> str:
        """Where the service is looked for."""
        return self._address.url

    @property
    def waiting(self) -> int:
        """How many reports haven't been sent yet."""
        return len(self._outbox)

    @property
    def dropped(self) -> int:
        """How many reports had to go: the oldest of more than 10,000 that waited, and what was left at the end."""
        return self._outbox.dropped

    @property
    def refused(self) -> int:
        """How many reports weren't taken, here or by the service, since their facts are none."""
        return self._outbox.refused

    def report(self, answer: Answer | None = None, /, **facts: object) -> Verdict | None:
        """Tell how a step went, and hear what it was. Returns at once; what can't be sent now is sent later.

        Give an `Answer`, or its facts: target, ended and seconds are needed, an id is made when left out. None where
        these are no facts (with `strict`: BadFactError).
        """
        now = _monotonic()
        try:
            answer = Answer.from_facts({"id": uuid.uuid4().hex, **facts}) if answer is None else answer
        except BadFactError as error:
            self._not_taken(error)
            return None
        judgement = judge(answer)
        self._book.stepped(Step(answer, judgement, now))
        if self._outbox.add(Waiting(answer, now)) and not self._engine.tell():
            self._outbox.give_up()
        return judgement.verdict

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """The best target of a route besides those that were tried, from memory; None where none is known."""
        return self._book.besides(name, tried, _monotonic())

    def _begin(self) -> None:
        self._engine = Engine(self._address, self._book, self._outbox, self._fallback)
        self._finalizer = weakref.finalize(self, self._engine.stop)
        self._finalizer.atexit = False  # `stop_all` waits besides

    def _forked(self) -> None:
        """In a new process there is no thread, and the connections are the parent's: they are left as they are."""
        _left_to_parents.append(self._engine)
        self._finalizer.detach()
        self._outbox.forked()
        self._book.forked()
        self._begin()

    def _not_taken(self, error: BadFactError) -> None:
        if self._strict:
            raise error
        if not self._outbox.refused:
            _log.warning("a report that is none (said once): %s", error)
        self._outbox.refused += 1

    def _ask(self, name: str | None, *, patient: bool) -> tuple[Kept, float]:
        """A route that is followed from now on, and for how long it should be waited for."""
        now = _monotonic()
        kept, begins = self._book.ask(name, now)
        if begins and not self._engine.follow(kept):
            self._book.leave(kept)
        return kept, self._book.wait_s(kept, now, patient=patient)

    def _decide(self, kept: Kept) -> Decision | None:
        decision = self._book.decide(kept, _monotonic())
        if self._strict and (decision is None or decision.source is not Source.SERVICE):
            raise self._why(kept)
        return decision

    def _decided(self, kept: Kept) -> Decision:
        decision = self._decide(kept)
        if decision is None:
            raise self._why(kept)
        return decision

    def _why(self, kept: Kept) -> DoorError:
        """An error of its own for each step, since each raises it."""
        known = kept.refused
        if isinstance(known, DoorRefusedError):
            return DoorRefusedError(known.status, str(known))
        return DoorGoneError(str(known or f"{self._address.bare} doesn't answer in time"))

    def _close(self) -> float:
        """Begin to end; gives the monotonic moment until which that may take."""
        self._engine.stop()
        return _monotonic() + FLUSH_S


class Firstbyte(_Client):
    """Where to go before each step, and whom to tell after it. Any number of threads may share one.

    Without `url` and `token`: what FIRSTBYTE_URL and FIRSTBYTE_TOKEN say, else the default address and no token.
    `fallback` are the targets to go on with where the service has never been reached, the preferred one first: for
    all routes, or for each by its name. With one, no call takes longer than 50 ms and none raises; without one the
    first `route` may wait for 5 s, and raises DoorGoneError where even then nothing is known. With `strict` `route`
    raises a DoorError for all that isn't the service's own word, `report` for facts that are none.

    Use it as a context manager, or close it; else what waits is sent when the interpreter ends.
    """

    def __enter__(self) -> Self:
        """Itself; what it will need is being loaded."""
        self._engine.warm()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Send what waits, for a second at most, and end; safe to call twice."""
        self._engine.join(self._close())

    def route(self, name: str | None = None) -> Decision:
        """Where the next step should go; without a name: the route `default`, or the only one."""
        kept = self._kept.get(name)
        if kept is not None and (now := _monotonic()) < kept.until and kept.decision is not None:
            kept.asked_at = now
            return kept.decision
        return self._decided(self._settled(name, patient=True))

    def known(self, name: str | None = None) -> Decision | None:
        """The same within 50 ms in any case; None where nothing is known."""
        return self._decide(self._settled(name, patient=False))

    def _settled(self, name: str | None, *, patient: bool) -> Kept:
        kept, wait_s = self._ask(name, patient=patient)
        if wait_s > 0:
            arrived = threading.Event()
            if self._book.wait(kept, arrived.set):
                arrived.wait(wait_s)
        return kept


class AsyncFirstbyte(_Client):
    """The same for asyncio: `route` is awaited, `report` isn't, since it never waits. Several loops may share one."""

    async def __aenter__(self) -> Self:
        """Itself; what it will need is being loaded."""
        self._engine.warm()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """Send what waits, for a second at most, and end; safe to call twice."""
        import asyncio  # here, so that who needs no loop needn't load it

        await asyncio.to_thread(self._engine.join, self._close())

    async def route(self, name: str | None = None) -> Decision:
        """Where the next step should go; without a name: the route `default`, or the only one."""
        kept = self._kept.get(name)
        if kept is not None and (now := _monotonic()) < kept.until and kept.decision is not None:
            kept.asked_at = now
            return kept.decision
        return self._decided(await self._settled(name, patient=True))

    async def known(self, name: str | None = None) -> Decision | None:
        """The same within 50 ms in any case; None where nothing is known."""
        return self._decide(await self._settled(name, patient=False))

    async def _settled(self, name: str | None, *, patient: bool) -> Kept:
        kept, wait_s = self._ask(name, patient=patient)
        if wait_s > 0:
            import asyncio  # here, so that who needs no loop needn't load it

            loop, arrived = asyncio.get_running_loop(), asyncio.Event()
            if self._book.wait(kept, _in_loop(loop.call_soon_threadsafe, arrived.set)):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await arrived.wait()
        return kept


def _in_loop(call: Callable[[Callable[[], None]], object], what: Callable[[], None]) -> Callable[[], None]:
    """Has something called in a loop, from any thread; nothing where the loop has been closed."""

    def wake() -> None:
        with contextlib.suppress(RuntimeError):
            call(what)

    return wake


_clients: weakref.WeakSet[_Client] = weakref.WeakSet()
_left_to_parents: list[Engine] = []


def _after_fork() -> None:
    for client in list(_clients):
        client._forked()  # noqa: SLF001 # of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
