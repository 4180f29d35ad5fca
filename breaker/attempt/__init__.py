"""An agent's step: attempts at targets, watched as they come, held back until they are an answer; no I/O."""

from breaker.attempt.again import Next, Tried, next_try
from breaker.attempt.asked import Asked, asks_a_model, read_request
from breaker.attempt.attempt import Attempt
from breaker.attempt.limits import Limits
from breaker.attempt.place import Place
from breaker.attempt.showing import Showing
from breaker.attempt.step import Act, Begin, Drop, Refuse, Show, Step, Wait
from breaker.attempt.told import NO_RETRY, Refusal, headers_of, refusal
from breaker.attempt.words import Stand, Turn

__all__ = [
    "NO_RETRY",
    "Act",
    "Asked",
    "Attempt",
    "Begin",
    "Drop",
    "Limits",
    "Next",
    "Place",
    "Refusal",
    "Refuse",
    "Show",
    "Showing",
    "Stand",
    "Step",
    "Tried",
    "Turn",
    "Wait",
    "asks_a_model",
    "headers_of",
    "next_try",
    "read_request",
    "refusal",
]
