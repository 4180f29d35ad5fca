"""Whether a task may be called done: a ruling that rests on evidence, not on a model's last sentence."""

from breaker.done.deciding import decide
from breaker.done.words import DEFAULT_BOUNDS, MAX_HAND_BACKS, MAX_STEPS, Bounds, Completion, Ground, Next, Ruling

__all__ = [
    "DEFAULT_BOUNDS",
    "MAX_HAND_BACKS",
    "MAX_STEPS",
    "Bounds",
    "Completion",
    "Ground",
    "Next",
    "Ruling",
    "decide",
]
