"""An agent's step as this client remembers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from breaker.answer import Answer
    from breaker.verdict import Judgement


class Step(NamedTuple):
    """An answer that counted at the monotonic moment `at`, and what it was."""

    answer: Answer
    judgement: Judgement
    at: float
