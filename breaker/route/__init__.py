"""Where a step should go: the first target of its route that is offered, can take it, and takes this session again."""

from breaker.route.choice import choose
from breaker.route.ramp import RAMP_S, turn_s
from breaker.route.step import Unable, unable
from breaker.route.words import VALID_FOR_S, Decision, Reason, Role, Route, share_of

__all__ = [
    "RAMP_S",
    "VALID_FOR_S",
    "Decision",
    "Reason",
    "Role",
    "Route",
    "Unable",
    "choose",
    "share_of",
    "turn_s",
    "unable",
]
