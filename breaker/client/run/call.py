"""One call of a run's tool on its way."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from breaker.client.run.raised import flaw_of
from breaker.run import Effect, Operation, Stage, State, digests, reading
from breaker.run.results import Flaw, Rule, flaw

if TYPE_CHECKING:
    from breaker.client.run.box import Entry
    from breaker.client.run.journal import Journal

# The name of the parameter by which a tool takes a key that makes a second attempt the same as the first.
KEY = "idempotency_key"
# The error of a call whose arguments aren't such as its tool takes: nothing happened, and another makes it good.
MISFIT = "wrong_arguments"
# An operation that may be tried again is, once.
_MOST_ATTEMPTS = 2


class Key(NamedTuple):
    """A key that a call has; `own` is the caller's, None where one is to be made."""

    own: str | None


class Terms(NamedTuple):
    """What is said of a tool, whatever it is called with; `required` is None where that hangs on its effect."""

    name: str
    effect: Effect
    required: bool | None
    rules: Collection[Rule]


class Call:
    """One call on its way: attempts at an operation, at most two."""

    def __init__(
        self,
        journal: Journal,
        terms: Terms,
        name: str,
        found: Operation | None,
        arguments: str,
        needs: tuple[str, ...],
        replaces: tuple[str, ...],
        key: Key | None,
    ) -> None:
        self.id = name
        self.more: dict[str, str] = {}  # what is given to the tool besides
        self.fits = True  # whether its arguments are such as the tool takes
        self.begun: Entry | None = None  # how its newest stage is told
        self._journal = journal
        self._terms = terms
        self._attempt = found.attempts + 1 if found else 1
        self._made = 0
        self._arguments = arguments
        self._needs = needs
        self._replaces = replaces
        self.key = self._give_key(key)
        self._began = time.monotonic()

    def only_once(self) -> None:
        """It can't be made again by itself."""
        self._made = _MOST_ATTEMPTS

    def returned(self, result: object) -> bool:
        """It gave this; whether it is to be tried once more."""
        if isinstance(result, BaseException):
            return self._ended(flaw_of(result))
        digest = digests.digest(self._journal.id, digests.text_of(result))
        return self._ended(self._flaw(result), result=digest)

    def raised(self, error: BaseException) -> bool:
        """It raised this; whether it is to be tried once more."""
        if not self.fits and _never_began(error):
            return self._ended(Flaw(MISFIT, retryable=True), again=False)
        return self._ended(flaw_of(error), again=isinstance(error, Exception))

    def not_made(self) -> None:
        """It was broken off before it was made."""
        self._ended(Flaw("not_made", retryable=True), again=False)

    def tell(self, state: State, **more: Any) -> None:  # Any: a stage's own facts
        """The operation has come to a stage."""
        if state is State.EXECUTING:
            self._made += 1
            self._began = time.monotonic()
        stage = Stage(
            id=self.id,
            seq=self._journal.box.seq(),
            tool=self._terms.name,
            state=state,
            effect=self._terms.effect,
            attempt=min(self._attempt, reading.MAX_ATTEMPTS),
            needs=self._needs,
            replaces=self._replaces,
            required=self._terms.required,
            idempotency_key=self.key,
            arguments=self._arguments,
            at_s=round(time.monotonic() - self._journal.box.began, 3),
            **more,
        )
        self.begun = self._journal.staged(stage)

    def _ended(self, wrong: Flaw | None, *, result: str | None = None, again: bool = True) -> bool:
        seconds = round(time.monotonic() - self._began, 3)
        if wrong is None:
            self.tell(State.SUCCEEDED, result=result, seconds=seconds)
            return False
        reads = self._terms.effect is Effect.READ
        state = State.UNKNOWN if wrong.unknown and not reads else State.FAILED
        retryable = wrong.retryable or (wrong.unknown and reads)
        self.tell(state, error=wrong.error, retryable=retryable, result=result, seconds=seconds)
        once_more = again and self._made < _MOST_ATTEMPTS and (retryable or (wrong.unknown and self.key is not None))
        if once_more:
            self._attempt += 1
            self.tell(State.EXECUTING)
        return once_more

    def _flaw(self, result: object) -> Flaw | None:
        try:
            return flaw(result, self._terms.rules)
        except Exception:  # noqa: BLE001 # a result may be anything, and the agent is to have it whatever that does
            return None

    def _give_key(self, key: Key | None) -> str | None:
        """The key of the operation, the same at each attempt; the caller's own where there is one."""
        if key is None:
            return None
        if key.own is None:
            self.more[KEY] = made = digests.digest(self._journal.id, self.id)
            return made
        return key.own if reading.ID.fullmatch(key.own) else digests.digest(self._journal.id, key.own)


def _never_began(error: BaseException) -> bool:
    """Whether it was raised where the tool was called, and not within."""
    return isinstance(error, TypeError) and error.__traceback__ is not None and error.__traceback__.tb_next is None
