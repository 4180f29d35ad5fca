"""One agent's task: its answers, operations and checks, and what they come to together.

Facts come in any order and may come again: a run is made of the set of them, ordered by their own numbers.
"""

from breaker.run.facts import Check, Fact, Stage, Step, step
from breaker.run.fold import Run, fold
from breaker.run.operation import Operation
from breaker.run.starting import Hindrance, Why, blocked, hindrance
from breaker.run.words import Effect, Outcome, Says, State

__all__ = [
    "Check",
    "Effect",
    "Fact",
    "Hindrance",
    "Operation",
    "Outcome",
    "Run",
    "Says",
    "Stage",
    "State",
    "Step",
    "Why",
    "blocked",
    "fold",
    "hindrance",
    "step",
]
