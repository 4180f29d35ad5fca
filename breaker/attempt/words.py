"""The words for attempts: how one stands, what it was, and what a run needs of it."""

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from breaker.answer import Answer
from breaker.verdict import Blame, Judgement, Verdict

if TYPE_CHECKING:
    from breaker.run import Says


class Stand(StrEnum):
    """What is known of an attempt so far."""

    HELD = "held"  # nothing yet that may be shown
    GOOD = "good"  # what came may be shown, and so may what comes
    BAD = "bad"  # it has failed; what was held back is never shown as an answer


class End(NamedTuple):
    """What an attempt was: its facts, and what they mean."""

    answer: Answer
    judgement: Judgement


class Turn(NamedTuple):
    """A digest of the tools that an answer calls, keyed by the run's id, and what the end of its text sounds like."""

    calls: str | None
    says: "Says | None"


def failed(judgement: Judgement) -> bool:
    """Whether an answer is none that its caller can use; one that only met a limit of tokens is."""
    return judgement.blame is Blame.PROVIDER_FAILURE and judgement.verdict is not Verdict.LENGTH
