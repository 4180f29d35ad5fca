"""A task as its agent holds it: tools, answers and checks are told by themselves, and it says whether all is done."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from breaker.answer import Answer, Part
from breaker.client.outbox import Waiting
from breaker.client.run import said
from breaker.client.run.box import CHECKS, OPERATIONS, STEPS, Arrival, Box, Entry
from breaker.client.run.current import current
from breaker.client.run.tool import Tool
from breaker.client.run.wrapping import wrapped
from breaker.done import MAX_HAND_BACKS, MAX_STEPS, Bounds, decide
from breaker.errors import BadFactError
from breaker.run import Effect, Operation, Outcome, Says, Stage, State, claims, digests, reading, step
from breaker.run import Run as Folded
from breaker.run.results import RULES, Rule
from breaker.verdict import Judgement, Verdict, judge

if TYPE_CHECKING:
    from breaker.attempt import Attempt
    from breaker.client.common import Client

_F = TypeVar("_F", bound=Callable[..., Any])

# Before the first operation that writes, the service is asked which were begun before; nobody waits longer for that.
KNOWN_S = 2.0
# Each that writes begins when the service knows of it, or so much later.
TOLD_S = 0.5
# Whoever asks whether it is done waits for the service so long, then hears what this client knows.
DONE_S = 2.5


class Run:
    """One task of one agent. Nothing of it raises or waits since the service is away.

    Within `with`, answers that come through a transport belong to it by themselves. Any thread may use it.
    """

    def __init__(self, client: Client, run: str | None, *, bounds: Bounds, rules: Collection[Rule]) -> None:
        self.id = os.urandom(16).hex() if run is None else reading.run_id(run)
        self.box = Box(self.id)
        self.beginning = threading.Lock()  # held for no longer than it takes to note that a call begins
        _check("steps", bounds.steps, 1, MAX_STEPS)
        _check("hand_backs", bounds.hand_backs, 0, MAX_HAND_BACKS)
        self._client = client
        self._bounds = bounds
        self._rules = (*RULES, *rules)
        self._tokens: list[Any] = []  # Any: what a context variable gives back
        self._abouts: dict[str, list[str]] = {}

    def __enter__(self) -> Self:
        """Itself; from now on answers belong to it."""
        self._tokens.append(current.set(self))
        box = self.box
        if not self._client.do(lambda running: running.learn_run(box)):
            box.known.set()
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
                self,
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
        self._step(made, judge(made), digests.calls(self.id, calls), claims.says(text))
        return self._client.report(made)

    def check(self, name: str, passed: bool | None) -> None:
        """Tell what a check of the task's own said; None where it couldn't be made."""
        outcome = {True: Outcome.PASSED, False: Outcome.FAILED, None: Outcome.UNKNOWN}[passed]
        seq = self.box.seq()
        told = {"id": f"check-{seq}", "seq": seq, "name": name, "outcome": outcome.value}
        self._tell(Entry(CHECKS, reading.check(told), told))

    def operation(self, tool: str, state: str, **facts: object) -> None:
        """Tell how far an operation is that is no call of a `tool` here; its id is the tool's name unless given.

        Raises BadFactError for what are no facts of one.
        """
        told = {"id": tool, "tool": tool, "seq": self.box.seq(), "state": state, **facts}
        self._tell(Entry(OPERATIONS, reading.stage(told), told))

    def found(self, tool: str, *, happened: bool) -> None:
        """Somebody has looked: of a tool's last operation that failed or of which nobody knew, this is known now."""
        for one in reversed(self.known().operations):
            if one.tool == tool and one.state in (State.UNKNOWN, State.EXECUTING, State.FAILED):
                state = State.SUCCEEDED if happened else State.FAILED
                seq, attempt = self.box.seq(), max(one.attempts, 1)
                self.staged(Stage(one.id, seq, tool, state, effect=one.effect, attempt=attempt, retryable=not happened))
                return

    def decide(self) -> said.Done:
        """Whether the task is done, by what this client knows; asks nobody."""
        return said.local(decide(self.known(), self._bounds))

    # What its tools and transports tell

    def answered(self, attempt: Attempt) -> None:
        """An attempt is over that a transport made for this run."""
        end, turn = attempt.ended, attempt.turn(self.id)
        self._step(end.answer, end.judgement, turn.calls, turn.says)

    def staged(self, stage: Stage) -> Entry:
        """An operation has come to a stage."""
        told = {name: value for name, value in stage._asdict().items() if value not in (None, ())}
        entry = Entry(OPERATIONS, stage, told)
        self._tell(entry)
        return entry

    def known(self) -> Folded:
        """The run as this client knows it."""
        return self.box.folded()

    def last_of(self, tool: str) -> Operation | None:
        """A tool's last operation; None where it has had none."""
        return next((one for one in reversed(self.known().operations) if one.tool == tool), None)

    def failed_about(self, about: str | None, operation: str) -> tuple[str, ...]:
        """The operations about the same thing that failed before this one, which is noted."""
        if about is None:
            return ()
        noted = self._abouts.setdefault(about, [])
        run, before = self.known(), [one for one in noted if one != operation]
        if operation not in noted:
            noted.append(operation)
        failed = [one for name in before if (one := run.operation(name)) and one.state is State.FAILED]
        return tuple(one.id for one in failed[-reading.MAX_NAMED :])

    def wait_known(self, effect: Effect) -> None:
        """Wait until it is known what was begun before, for two seconds at most; one that reads needn't."""
        known = self.box.known
        if effect is Effect.WRITE and not known.come:
            self._came(known, waited(known, KNOWN_S))

    async def until_known(self, effect: Effect) -> None:
        """The same, awaited."""
        known = self.box.known
        if effect is Effect.WRITE and not known.come:
            await _awaited(known.wait, KNOWN_S)
            self._came(known, known.come)

    def wait_told(self, begun: Entry | None) -> None:
        """Wait until the service knows that a call begins, for half a second at most, and not while it is away.

        Whoever goes on with this run when this process is killed meanwhile shall know that it may have happened.
        """
        if (told := self._awaits(begun)) is not None:
            self._came(told, waited(told, TOLD_S))

    async def until_told(self, begun: Entry | None) -> None:
        """The same, awaited."""
        if (told := self._awaits(begun)) is not None:
            await _awaited(told.wait, TOLD_S)
            self._came(told, told.come)

    # Inside

    def _awaits(self, begun: Entry | None) -> Arrival | None:
        """What to wait for before something is written; None where it isn't, or nobody is there to be told."""
        if begun is None or self.box.away or self.box.overfull:
            return None
        writes = isinstance(begun.fact, Stage) and begun.fact.effect is Effect.WRITE
        return begun.told if writes and not begun.told.come else None

    def _came(self, what: Arrival, came: bool) -> None:  # its only fact
        """Wait for the same no longer, and for a service that keeps silent no more."""
        self.box.away = self.box.away or not came
        what.come = True

    def _step(self, answer: Answer, judgement: Judgement, calls: str | None, says: Says | None) -> None:
        if answer.part is Part.LATE:
            return
        made = step(answer, judgement, seq=self.box.seq(), calls=calls, says=says)
        place = {"seq": made.seq, **({"calls": calls} if calls else {}), **({"says": says.value} if says else {})}
        waiting = Waiting(answer, self._client.now())
        self.box.add(Entry(STEPS, made, place, waiting))
        self._client.place(answer.id, {"run": self.id, **place})

    def _tell(self, entry: Entry) -> None:
        box = self.box
        box.add(entry)
        if not self._client.do(lambda running: running.tell_run(box)):
            entry.told.set()

    def _ask(self, put: Callable[[dict[str, Any] | None], None]) -> bool:
        """Have the service asked; False where nobody can."""
        box, bounds, expected = self.box, self._bounds, self.decide().reasons
        params = {"steps": str(bounds.steps), "hand_backs": str(bounds.hand_backs)}
        return self._client.do(lambda running: running.ask_run(box, params, put, expected=expected))

    def _done(self, found: dict[str, Any] | None) -> said.Done:
        """What the service said, else what is known here."""
        if found is not None and not self.box.overfull:
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

        await _awaited(ask, DONE_S)
        return self._done(found[0] if found else None)


def waited(arrival: Arrival, within_s: float) -> bool:
    """Whether something comes within so long."""
    arrived = threading.Event()
    arrival.wait(arrived.set)
    return arrived.wait(within_s)


def _check(name: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise BadFactError(f"{name} must be a whole number from {least} to {most}", name)


async def _awaited(wait: Callable[[Callable[[], None]], None], within_s: float) -> None:
    """Until something that any thread may call is called, or so long."""
    import asyncio  # here, so that who needs no loop needn't load it

    loop, arrived = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(arrived.set)

    wait(wake)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await arrived.wait()
