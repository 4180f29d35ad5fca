"""Holds by hand: they lie over the automatic part, which goes on underneath."""

from breaker.circuit.clock import shifted
from breaker.circuit.moving import laid_over
from breaker.circuit.words import Cause, Circuit, Held, Move


def hold(circuit: Circuit, now: float, *, opened: bool, who: str, why: str, until: float) -> Move:
    """The move that holds a circuit open or closed by hand until a moment."""
    circuit = shifted(circuit, now)  # else it would be done later, and shorten this hold
    held = Held(opened=opened, who=who, why=why, since=now, until=until)
    return laid_over(circuit, now, Cause.MANUAL, f"by hand, {who}: {why}", held=held)


def release(circuit: Circuit, now: float, *, who: str, why: str) -> Move | None:
    """The move that ends a hold by hand; None where there is none."""
    if circuit.held is None:
        return None
    return laid_over(circuit, now, Cause.MANUAL, f"released by hand, {who}: {why}", held=None)


def hold_over(circuit: Circuit, now: float) -> Move | None:
    """The move that the end of a hold by hand makes; None before."""
    if circuit.held is None or now < circuit.held.until:
        return None
    return laid_over(circuit, now, Cause.HOLD_OVER, "the hold by hand is over", held=None)
