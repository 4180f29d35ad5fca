"""How a circuit is opened: for how long, and what is put down."""

from breaker.circuit.moving import moved
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Circuit, Measure, Move
from breaker.log import Entry
from breaker.policy import Policy


def opened(
    seen: Seen,
    cause: Cause,
    why: str,
    answers: tuple[Entry, ...],
    measures: tuple[Measure, ...],
    *,
    until: float | None = None,
) -> Move:
    """The move that opens a circuit until a moment; None means for a hold."""
    circuit, now = seen.circuit, seen.now
    hold_s = circuit.hold_s if until is not None else _hold_s(circuit, seen.policy, now)
    return moved(
        circuit,
        now,
        cause,
        why,
        answers=answers,
        measures=measures,
        moved_at=now,
        open_until=max(until, now) if until is not None else now + hold_s,
        hold_s=hold_s,
    )


def _hold_s(circuit: Circuit, policy: Policy, now: float) -> float:
    """How long the next hold is: longer than the last where that is only just over."""
    forgotten = circuit.open_until is None and now - circuit.moved_at >= policy.hold_forget_s
    if policy.hold_growth <= 1 or circuit.hold_s == 0 or forgotten:
        return policy.hold_s
    return min(max(circuit.hold_s * policy.hold_growth, policy.hold_s), policy.hold_max_s)
