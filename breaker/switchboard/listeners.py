"""Whom the switchboard tells of answers and moves."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from breaker.answer import Answer
from breaker.circuit import Move
from breaker.done import Ruling
from breaker.logged import FAULT
from breaker.run import Stage
from breaker.store.contract import Reading
from breaker.verdict import Blame, Judgement, Verdict

_log = logging.getLogger(__name__)


class Judged(NamedTuple):
    """An answer on its way through the switchboard; `move` is what it caused here, None for nothing.

    `waited_s` is how long it waited for the store; `answer` was true before that, `reading` is true after it.
    """

    answer: Answer
    judgement: Judgement
    reading: Reading
    move: Move | None
    waited_s: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """What it was."""
        return self.judgement.verdict

    @property
    def blame(self) -> Blame:
        """The verdict's class."""
        return self.judgement.blame


@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """An operation of a run that has come to another stage; `mark` names the run to those who don't know its id."""

    mark: str
    stage: Stage


@dataclass(frozen=True, kw_only=True, slots=True)
class Concluded:
    """A decision about a run that is another than the one before; `provider` is the last answer's, None without one.

    `claim` says that it is the first about an answer that an agent would take for the task's end.
    """

    mark: str
    ruling: Ruling
    provider: str | None
    claim: bool


@dataclass(frozen=True, slots=True)
class Listeners:
    """Whom the switchboard tells: `judged` of each answer that counted, `moved` of each circuit that moved here,
    `staged` of each operation of a run that came to another stage, `concluded` of each new decision about a run.
    """

    judged: tuple[Callable[[Judged], None], ...] = ()
    moved: tuple[Callable[[str, Move], None], ...] = ()
    staged: tuple[Callable[[Staged], None], ...] = ()
    concluded: tuple[Callable[[Concluded], None], ...] = ()


NOBODY = Listeners()


def tell(listeners: Iterable[Callable[..., None]], *what: object) -> None:
    """Tell each listener; a fault in one concerns neither the others nor the answer."""
    for listener in listeners:
        try:
            listener(*what)
        except Exception:  # noqa: BLE001 # whatever a listener does wrong
            _log.exception("a listener failed", extra=FAULT())
