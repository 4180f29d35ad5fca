"""Whom the switchboard tells of answers and moves."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from breaker.answer import Answer
from breaker.circuit import Move
from breaker.logged import FAULT
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


@dataclass(frozen=True, slots=True)
class Listeners:
    """Whom the switchboard tells: `judged` of each answer that counted, `moved` of each circuit that moved here."""

    judged: tuple[Callable[[Judged], None], ...] = ()
    moved: tuple[Callable[[str, Move], None], ...] = ()


NOBODY = Listeners()


def tell(listeners: Iterable[Callable[..., None]], *what: object) -> None:
    """Tell each listener; a fault in one concerns neither the others nor the answer."""
    for listener in listeners:
        try:
            listener(*what)
        except Exception:  # noqa: BLE001 # whatever a listener does wrong
            _log.exception("a listener failed", extra=FAULT())
