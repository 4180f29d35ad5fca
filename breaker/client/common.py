"""What both kinds of client have in common: all that never waits."""

from __future__ import annotations

import contextlib
import logging
import os
import time
import weakref
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from breaker.client.address import Address
from breaker.client.engine import FLUSH_S, Engine
from breaker.client.forking import renew_in_child
from breaker.client.keeping import Book, Kept
from breaker.client.moved import Shelf
from breaker.client.outbox import Outbox, Waiting
from breaker.client.said import Decision, Fallback, Needs, Source, check, checked
from breaker.client.step import Step
from breaker.errors import BadFactError, DoorError, DoorGoneError, DoorRefusedError

if TYPE_CHECKING:
    from breaker.answer import Answer
    from breaker.client.running import Running
    from breaker.verdict import Verdict

_log = logging.getLogger(__name__)
monotonic = time.monotonic
# The most answers whose places in runs are kept until they are reported.
_MOST_PLACES = 256


class Client:
    """What both kinds of client have in common."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        fallback: Fallback | None = None,
        session: str | None = None,
        strict: bool = False,
    ) -> None:
        self._address = Address.found(url, token)
        self._fallback: Fallback = fallback or ()
        check(self._fallback)
        self._session = os.urandom(16).hex() if session is None else checked(session)
        self._strict = strict
        self._outbox = Outbox()
        self._places: dict[str, Mapping[str, Any]] = {}
        self._book = Book(self._fallback, strict=strict)
        self._kept = self._book.kept  # read at every step
        self._begin()
        renew_in_child(self, Client._forked)

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
        from breaker.verdict import judge  # here and in the client's thread, so that loading the client stays quick

        now = monotonic()
        made = self.answer(answer, facts)
        if made is None:
            return None
        judgement = judge(made)
        self._book.stepped(Step(made, judgement, now))
        if self._outbox.add(Waiting(made, now, self._places.pop(made.id, None))) and not self._engine.tell():
            self._outbox.give_up()
        return judgement.verdict

    def answer(self, answer: Answer | None, facts: Mapping[str, object]) -> Answer | None:
        """The answer, or the one that has these facts, with an id made up where there is none; None for no facts."""
        from breaker.answer import Answer  # as above

        try:
            return Answer.from_facts({"id": os.urandom(16).hex(), **facts}) if answer is None else answer
        except BadFactError as error:
            self._not_taken(error)
            return None

    def expect(self, name: str | None = None) -> None:
        """A step of this route will come soon: the service is asked now. Returns at once."""
        self._ask(name, patient=False)

    # For runs

    def now(self) -> float:
        """The monotonic moment."""
        return monotonic()

    def is_silent(self) -> bool:
        """Whether the service is known not to answer."""
        return self._engine.silence.lasts(monotonic())

    def place(self, answer: str, place: Mapping[str, Any]) -> None:
        """An answer that is about to be reported, by its id, stands there in a run."""
        self._places[answer] = place
        if len(self._places) > _MOST_PLACES:  # whoever was to report them reports to somebody else
            with contextlib.suppress(StopIteration, RuntimeError):  # another thread has just taken one out
                self._places.pop(next(iter(self._places)), None)

    def do(self, what: Callable[[Running], None]) -> bool:
        """Have something done in the client's thread; False where nobody can."""
        return self._engine.do(what)

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """The best target of a route besides those that were tried, from memory; None where none is known."""
        return self._book.besides(name, tried, monotonic())

    def _streaming(
        self, target: str | None, route: str | None, after: str | None
    ) -> tuple[dict[str, str], str | None, Callable[[Shelf], bool], Callable[[Shelf], None]]:
        """What a stream of moves is made of; it holds the thread, not the client."""
        engine = self._engine

        def begin(shelf: Shelf) -> bool:
            engine.shelves.add(shelf)
            return engine.do(lambda running: running.stream(shelf))

        def stop(shelf: Shelf) -> None:
            engine.do(lambda running: running.end_stream(shelf))

        named = {"target": target, "route": route}
        return {name: value for name, value in named.items() if value is not None}, after, begin, stop

    def _begin(self) -> None:
        self._engine = Engine(self._address, self._book, self._outbox, self._fallback, self._session)
        self._finalizer = weakref.finalize(self, self._engine.stop)
        self._finalizer.atexit = False  # `stop_all` waits besides

    def _forked(self) -> None:
        """In a new process everything begins anew, but for what is known."""
        _left_to_parents.append(self._engine)  # collected, it would close what the parent uses
        self._engine.forked()
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
        now = monotonic()
        kept, begins = self._book.ask(name, now)
        if begins and not self._engine.follow(kept):
            self._book.leave(kept)
        return kept, self._book.wait_s(kept, now, patient=patient, ready=self._engine.ready)

    def _decide(self, kept: Kept) -> Decision | None:
        decision = self._book.decide(kept, monotonic())
        if self._strict and (decision is None or decision.source is not Source.SERVICE):
            raise self._why(kept)
        return decision

    def _fit(self, name: str | None, decision: Decision, needs: Collection[str], input_tokens: int) -> Decision:
        kept = self._kept.get(name)
        if kept is None:
            return decision
        return self._book.fit(kept, decision, Needs(frozenset(needs), input_tokens), monotonic())

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
        return monotonic() + FLUSH_S


_left_to_parents: list[Engine] = []
