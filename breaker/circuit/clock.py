"""What a store's clock that was set back, or a store that has forgotten, does to a circuit."""

from dataclasses import replace

from breaker.circuit.moving import moved
from breaker.circuit.words import Cause, Circuit, Move

# A store's clock that stands further behind the last move than this has been set back.
CLOCK_SLACK_S = 1.0


def shifted(circuit: Circuit, now: float) -> Circuit:
    """The circuit with its last move put at now, where a clock set back has left it in the future.

    All its times move by as much, so no hold gets longer than it was made.
    """
    back = ahead_s(circuit, now)
    if back <= CLOCK_SLACK_S:
        return circuit
    held = circuit.held
    return replace(
        circuit,
        moved_at=max(circuit.moved_at - back, 0.0),
        open_until=None if circuit.open_until is None else circuit.open_until - back,
        held=held and replace(held, since=held.since - back, until=held.until - back),
    )


def set_anew(circuit: Circuit, now: float) -> Move:
    """The move that makes the shift of a circuit's times known to all."""
    anew = shifted(circuit, now)
    return moved(
        circuit,
        now,
        Cause.CLOCK,
        f"the store's clock went back by at least {ahead_s(circuit, now):.0f} s",
        moved_at=anew.moved_at,
        open_until=anew.open_until,
        held=anew.held,
        kept=circuit.cause,
    )


def ahead_s(circuit: Circuit, now: float) -> float:
    """How far in the future a circuit's last move lies; negative where it lies in the past, as it should."""
    return max(circuit.moved_at, circuit.held.since if circuit.held else 0.0) - now


def restored(known: Circuit, found: Circuit, now: float) -> Circuit | None:
    """What to put into a store that has forgotten a circuit's last moves; None where nothing is lost.

    `found` is what the store says now. The old end stays: a loss never lengthens a hold. One that has moved more often
    than is known here was put back by somebody who knew more, and has gone on since. Where both have moved, the later
    move wins: so what a store brings back from before a circuit closed doesn't open it again, and answers from before
    it closed don't either.
    """
    anew = found.epoch != known.epoch
    older = found.generation <= known.generation if anew else found.generation < known.generation
    comparable = ahead_s(known, now) <= CLOCK_SLACK_S  # else a store has taken another's place, with a clock behind
    known = shifted(known, now)
    held = known.held if known.held and now < known.held.until else None
    still_open = known.open_until is not None and now < known.open_until
    later = comparable and known.moved_at > found.moved_at
    forgotten = found.open_until is None and found.held is None and (held is not None or still_open)
    if not older or not (later or forgotten):
        return None
    automatic = known if later or still_open else found
    return replace(
        automatic,
        epoch=found.epoch,
        generation=max(found.generation, known.generation) + 1,
        moved_at=min(automatic.moved_at, now),
        held=held or found.held,
        hold_s=known.hold_s,
    )
