"""A target's circuit: when it opens, when it closes, and who may hold it.

    closed ──(bad answers, a slump, a refusal)──> open ──(the hold is over)──> half-open
       ^                                           ^ │                            │  │
       │                                           │ └──(a refusal is over)──┐    │  │
       └──(good probes, or no monitor)─────────────┼─────────────────────────┴────┘  │
                                                   └──────────(a bad probe)──────────┘

Half-open is never stored: a circuit is half-open when it is open and its hold is over. A hold by hand lies over all of
this; the automatic part goes on underneath and is what remains when the hold ends. Everything that moves a circuit is
in this folder.
"""

from breaker.circuit.by_hand import hold, release
from breaker.circuit.clock import CLOCK_SLACK_S, restored
from breaker.circuit.due import due, next_due
from breaker.circuit.learning import learnt
from breaker.circuit.moving import closed_at, state, until
from breaker.circuit.withstanding import withstands
from breaker.circuit.words import OPENS, Cause, Circuit, Held, Measure, Move, State

__all__ = [
    "CLOCK_SLACK_S",
    "OPENS",
    "Cause",
    "Circuit",
    "Held",
    "Measure",
    "Move",
    "State",
    "closed_at",
    "due",
    "hold",
    "learnt",
    "next_due",
    "release",
    "restored",
    "state",
    "until",
    "withstands",
]
