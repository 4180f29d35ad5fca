"""What opens a circuit: all rules in their order; the first that applies gives the cause."""

from breaker.circuit.rates import at_a_rate
from breaker.circuit.refusals import refused, throttled
from breaker.circuit.rows import by_row, in_a_row
from breaker.circuit.seen import Seen
from breaker.circuit.slumps import in_a_slump
from breaker.circuit.words import Move
from breaker.log import Weight, weigh

_RULES = (refused, throttled, in_a_row, at_a_rate, in_a_slump)


def open_if_bad(seen: Seen) -> Move | None:
    """The move that opens a closed circuit, or None. No good answer ever opens one."""
    if seen.calm:
        return None
    for rule in _RULES:
        if (move := rule(seen)) is not None:
            return move
    return None


def open_again(seen: Seen) -> Move | None:
    """The move that opens a half-open circuit for another hold, by what a probe said after the hold's end."""
    over = seen.circuit.open_until
    assert over is not None
    if (move := throttled(seen)) is not None and move.answers[-1].at >= over:
        return move
    if not seen.probes or seen.probes[-1].at < over:
        return None
    newest = seen.probes[-1]
    if weigh(newest, seen.policy) is Weight.REFUSED:
        return refused(seen)
    if weigh(newest, seen.policy).bad:
        return by_row(seen, [newest], alone=True)
    return in_a_slump(seen)
