"""A task as its agent holds it: tools, answers and checks are told by themselves, and it says whether all is done."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from breaker.answer import Answer
from breaker.client.run import said
from breaker.client.run.arrival import awaited
from breaker.client.run.box import CHECKS, OPERATIONS, Entry
from breaker.client.run.current import current
from breaker.client.run.journal import Journal
from breaker.client.run.tool import Tool
from breaker.client.run.wrapping import wrapped
from breaker.done import MAX_HAND_BACKS, MAX_STEPS, Bounds, decide
from breaker.errors import BadFactError
from breaker.run import Effect, Outcome, Stage, State, claims, digests, reading
from breaker.run.results import RULES, Rule
from breaker.verdict import Verdict, judge

if TYPE_CHECKING:
    from breaker.client.common import Client

_F = TypeVar("_F", bound=Callable[..., Any])

# Whoever asks whether it is done waits for the service so long, then hears what this client knows.
DONE_S = 2.5


class Run:
    """One task of one agent. Nothing of it raises or waits since the service is away.

    Within `with`, answers that come through a transport belong to it by themselves. Any thread may use it.
    """

    def __init__(self, client: Client, run: str | None, *, bounds: Bounds, rules: Collection[Rule]) -> None:
        self.id = os.urandom(16).hex() if run is None else reading.run_id(run)
        self.journal = Journal(client, self.id)
        _check("steps", bounds.steps, 1, MAX_STEPS)
        _check("hand_backs", bounds.hand_backs, 0, MAX_HAND_BACKS)
        self._client = client
        self._bounds = bounds
        self._rules = (*RULES, *rules)
        self._tokens: list[Any] = []  # Any: what a context variable gives back

    def __enter__(self) -> Self:
        """Itself; from now on answers belong to it."""
        self._tokens.append(current.set(self.journal))
        self.journal.learn()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Answers belong to it no longer."""
        with contextlib.suppress(ValueError):  # entered in another context
            current.reset(self._tokens.pop())

    # What happens

    @overload
    def tool(
        self,
        function: _F,
        /,
        *,
        effect: str = "read",
        needs: Collection[str] = (),
        required: bool | None = None,
        about: str | Collection[str] = (),
        name: str | None = None,
    ) -> _F: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        effect: str = "read",
        needs: Collection[str] = (),
        required: bool | None = None,
        about: str | Collection[str] = (),
        name: str | None = None,
    ) -> Callable[[_F], _F]: ...

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        effect: str = "read",
        needs: Collection[str] = (),
        required: bool | None = None,
        about: str | Collection[str] = (),
        name: str | None = None,
    ) -> Any:
        """Let each call of a function be an operation of the run; a decorator.

        `effect` is `read`, or `write` for what changes something. `needs` are the names of tools that must have
        succeeded before; `required` says whether the task is complete without it (None: one that writes is needed).
        `about` names the parameters that say what it is done to: a later call about the same makes an earlier failure
        good. A parameter `idempotency_key` is filled in, so that an attempt of which nobody knows is made once more.
        Raises NotStartedError in place of a call that may do harm.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            abouts = (about,) if isinstance(about, str) else about
            made = Tool(
                self.journal,
                function,
                name=name,
                effect=Effect(effect),
                needs=needs,
                required=required,
                about=abouts,
                rules=self._rules,
            )
            return wrapped(made, function)

        return decorate if function is None else decorate(function)

    def report(
        self,
        answer: Answer | None = None,
        /,
        *,
        calls: Collection[tuple[str, object]] = (),
        text: str = "",
        **facts: object,
    ) -> Verdict | None:
        """Tell how a step went, as `Firstbyte.report` does, where no transport does it.

        `calls` are the tools that the answer calls, by name and arguments, `text` what it says: neither leaves the
        process, but for a digest of the calls and what the text's end sounds like.
        """
        if answer is None and text:
            facts = {"text_chars": len(text), **facts}
        made = self._client.answer(answer, facts)
        if made is None:
            return None
        self.journal.stepped(made, judge(made), digests.calls(self.id, calls), claims.says(text))
        return self._client.report(made)

    def check(self, name: str, passed: bool | None) -> None:
        """Tell what a check of the task's own said; None where it couldn't be made."""
        outcome = {True: Outcome.PASSED, False: Outcome.FAILED, None: Outcome.UNKNOWN}[passed]
        seq = self.journal.box.seq()
        told = {"id": f"check-{seq}", "seq": seq, "name": name, "outcome": outcome.value}
        self.journal.note(Entry(CHECKS, reading.check(told), told))

    def operation(self, tool: str, state: str, **facts: object) -> None:
        """Tell how far an operation is that is no call of a `tool` here; its id is the tool's name unless given.

        Raises BadFactError for what are no facts of one.
        """
        told = {"id": tool, "tool": tool, "seq": self.journal.box.seq(), "state": state, **facts}
        self.journal.note(Entry(OPERATIONS, reading.stage(told), told))

    def found(self, tool: str, *, happened: bool) -> None:
        """Somebody has looked: of a tool's last operation that failed or of which nobody knew, this is known now."""
        for one in reversed(self.journal.known().operations):
            if one.tool == tool and one.state in (State.UNKNOWN, State.EXECUTING, State.FAILED):
                state = State.SUCCEEDED if happened else State.FAILED
                seq, attempt = self.journal.box.seq(), max(one.attempts, 1)
                made = Stage(one.id, seq, tool, state, effect=one.effect, attempt=attempt, retryable=not happened)
                self.journal.staged(made)
                return

    def decide(self) -> said.Done:
        """Whether the task is done, by what this client knows; asks nobody."""
        return said.local(decide(self.journal.known(), self._bounds))

    # Inside

    def _ask(self, put: Callable[[dict[str, Any] | None], None]) -> bool:
        """Have the service asked; False where nobody can."""
        params = {"steps": str(self._bounds.steps), "hand_backs": str(self._bounds.hand_backs)}
        return self.journal.ask(params, put, expected=self.decide().reasons)

    def _done(self, found: dict[str, Any] | None) -> said.Done:
        """What the service said, else what is known here."""
        if found is not None and not self.journal.box.overfull:
            with contextlib.suppress(KeyError, TypeError):
                return said.read(found)
        return self.decide()


class BlockingRun(Run):
    """A run of a `Firstbyte`."""

    def done(self) -> said.Done:
        """Whether the task may be called done: the service's word, or where that doesn't come this client's own."""
        found: list[dict[str, Any] | None] = []
        arrived = threading.Event()

        def put(said: dict[str, Any] | None) -> None:
            found.append(said)
            arrived.set()

        if self._ask(put):
            arrived.wait(DONE_S)
        return self._done(found[0] if found else None)


class AwaitedRun(Run):
    """A run of an `AsyncFirstbyte`; all but `done` and tools that are awaited is as it is for those who block."""

    async def __aenter__(self) -> Self:
        """Itself; from now on answers belong to it."""
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Answers belong to it no longer."""
        self.__exit__(kind, error, trace)

    async def done(self) -> said.Done:
        """Whether the task may be called done; see `BlockingRun.done`."""
        found: list[dict[str, Any] | None] = []

        def ask(wake: Callable[[], None]) -> None:
            def put(said: dict[str, Any] | None) -> None:
                found.append(said)
                wake()

            if not self._ask(put):
                wake()

        await awaited(ask, DONE_S)
        return self._done(found[0] if found else None)


def _check(name: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise BadFactError(f"{name} must be a whole number from {least} to {most}", name)
