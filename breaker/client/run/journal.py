"""Notes the facts of a run as they come, and has the service told before anything is written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from breaker.answer import Answer, Part
from breaker.client.forking import renew_in_child
from breaker.client.keeping import WAIT_S
from breaker.client.outbox import Waiting
from breaker.client.run.arrival import Arrival, awaited, waited
from breaker.client.run.box import OPERATIONS, STEPS, Box, Entry
from breaker.run import Effect, Operation, Run, Says, Stage, State, reading, step
from breaker.verdict import Judgement

if TYPE_CHECKING:
    from breaker.attempt import Attempt
    from breaker.client.common import Client
    from breaker.client.link import Link
    from breaker.client.running import Running

# Before the first operation that writes, the service is asked which were begun before; nobody waits longer for that.
KNOWN_S = 2.0
# Each that writes begins when the service knows of it, or so much later.
TOLD_S = 0.5


class Journal:
    """What a run's tools and transports tell, and what they must know. Any thread may use it."""

    def __init__(self, client: Client, run: str) -> None:
        self.id = run
        self.box = Box(run)
        self.beginning = threading.Lock()  # held for no longer than it takes to note that a call begins
        self._client = client
        self._abouts: dict[str, list[str]] = {}
        renew_in_child(self, Journal.forked)

    def forked(self) -> None:
        """In a new process: whoever noted that a call begins is the parent's."""
        self.beginning = threading.Lock()

    def learn(self) -> None:
        """Have the service asked what it knows of the run."""
        box = self.box
        if not self._send(lambda courier, link: courier.learn(link, box)):
            box.known.set()

    def ask(
        self,
        params: Mapping[str, str],
        put: Callable[[dict[str, Any] | None], None],
        *,
        expected: Sequence[str],
    ) -> bool:
        """Have the service asked whether the run is done; False where nobody can. `expected` are our own reasons."""
        box = self.box
        return self._send(lambda courier, link: courier.ask(link, box, params, put, expected=expected))

    def known(self) -> Run:
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

    # What happens

    def answered(self, attempt: Attempt) -> None:
        """An attempt is over that a transport made for this run."""
        end, turn = attempt.ended, attempt.turn(self.id)
        self.stepped(end.answer, end.judgement, turn.calls, turn.says)

    def staged(self, stage: Stage) -> Entry:
        """An operation has come to a stage."""
        told = {name: value for name, value in stage._asdict().items() if value not in (None, ())}
        entry = Entry(OPERATIONS, stage, told)
        self.note(entry)
        return entry

    def stepped(self, answer: Answer, judgement: Judgement, calls: str | None, says: Says | None) -> None:
        """An answer is whole; what it calls as a digest, and what its text says of the task."""
        if answer.part is Part.LATE:
            return
        made = step(answer, judgement, seq=self.box.seq(), calls=calls, says=says)
        place = {"seq": made.seq, **({"calls": calls} if calls else {}), **({"says": says.value} if says else {})}
        waiting = Waiting(answer, self._client.now())
        self.box.add(Entry(STEPS, made, place, waiting))
        self._client.place(answer.id, {"run": self.id, **place})

    def note(self, entry: Entry) -> None:
        """A fact, told to the service as soon as that can be."""
        box = self.box
        box.add(entry)
        if not self._send(lambda courier, link: courier.tell(link, box)):
            entry.told.set()

    # What is waited for

    def wait_known(self, effect: Effect) -> None:
        """Wait until it is known what was begun before, for two seconds at most; one that reads needn't."""
        known = self.box.known
        if effect is Effect.WRITE and not known.come:
            silent = self._client.is_silent()
            self._came(known, waited(known, WAIT_S if silent else KNOWN_S), silent=silent)

    async def until_known(self, effect: Effect) -> None:
        """The same, awaited."""
        known = self.box.known
        if effect is Effect.WRITE and not known.come:
            silent = self._client.is_silent()
            await awaited(known.wait, WAIT_S if silent else KNOWN_S)
            self._came(known, known.come, silent=silent)

    def wait_told(self, begun: Entry | None) -> None:
        """Wait until the service knows that a call begins, for half a second at most, and not while it is away.

        Whoever goes on with this run when this process is killed meanwhile shall know that it may have happened.
        """
        if (told := self._awaits(begun)) is not None:
            self._came(told, waited(told, self._told_s()))

    async def until_told(self, begun: Entry | None) -> None:
        """The same, awaited."""
        if (told := self._awaits(begun)) is not None:
            await awaited(told.wait, self._told_s())
            self._came(told, told.come)

    # Inside

    def _send(self, what: Callable[[Any, Link], Coroutine[Any, Any, None]]) -> bool:  # Any: the module
        """Have the courier do something in the client's thread; False where nobody can."""

        def sent(running: Running) -> None:
            from breaker.client.run import courier  # here, since an agent's own thread may need no event loop

            running.deliver(lambda link: what(courier, link))

        return self._client.do(sent)

    def _awaits(self, begun: Entry | None) -> Arrival | None:
        """What to wait for before something is written; None where it isn't, or nobody is there to be told."""
        if begun is None or self.box.away or self.box.overfull:
            return None
        writes = isinstance(begun.fact, Stage) and begun.fact.effect is Effect.WRITE
        return begun.told if writes and not begun.told.come else None

    def _told_s(self) -> float:
        return WAIT_S if self._client.is_silent() else TOLD_S

    def _came(self, what: Arrival, came: bool, *, silent: bool = False) -> None:  # `came` is its only fact
        """Wait for the same no longer, and for a service that keeps silent no more.

        What wasn't awaited for its whole time, since it was `silent` before, may be awaited again: it may be back.
        """
        self.box.away = self.box.away or not came
        if came or not silent:
            what.come = True
