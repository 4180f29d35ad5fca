"""The move that a circuit has to make at a moment: everything that moves one by itself meets here."""

from breaker.circuit.by_hand import hold_over
from breaker.circuit.clock import CLOCK_SLACK_S, ahead_s, set_anew
from breaker.circuit.closing import close_or_open_again
from breaker.circuit.opening import open_if_bad
from breaker.circuit.seen import Seen
from breaker.circuit.words import Circuit, Move
from breaker.log import Log
from breaker.policy import Policy


def due(circuit: Circuit, log: Log, policy: Policy, now: float, *, blind_until: float = 0.0) -> Move | None:
    """The move that a circuit has to make now, or None.

    Called after each answer, and whenever `next_due` says so; calling it more often changes nothing. Until
    `blind_until` (store's time) nobody here could see the target: that long a silence of the probes says nothing.
    """
    if ahead_s(circuit, now) > CLOCK_SLACK_S:
        return set_anew(circuit, now)
    seen = Seen(circuit, log, policy, now)
    by_itself = open_if_bad(seen) if circuit.open_until is None else close_or_open_again(seen, blind_until)
    return by_itself or hold_over(circuit, now)  # what answers demand comes first: the clock asks again, they don't


def next_due(circuit: Circuit, log: Log, policy: Policy, now: float, *, blind_until: float = 0.0) -> float | None:
    """The next moment at which the clock alone may move a circuit; None where only an answer can."""
    moments = [circuit.held.until] if circuit.held else []
    if circuit.open_until is not None:
        told = max(Seen(circuit, log, policy, now).last_told, blind_until)
        moments += [circuit.open_until, told + policy.silent_s]
    return min((m for m in moments if m > now), default=None)
