"""What a circuit is at a moment, and how a move of it is put down."""

from dataclasses import replace

from breaker.circuit.words import CLOSES, Cause, Circuit, Measure, Move, State
from breaker.log import Entry


def state(circuit: Circuit, now: float) -> State:
    """What a circuit is at a moment; reading it changes nothing."""
    if circuit.held and now < circuit.held.until:
        return State.HELD_OPEN if circuit.held.opened else State.HELD_CLOSED
    if circuit.open_until is None:
        return State.CLOSED
    return State.OPEN if now < circuit.open_until else State.HALF_OPEN


def until(circuit: Circuit, now: float) -> float | None:
    """When the state that a circuit is in ends by itself; None where no clock ends it."""
    if circuit.held and now < circuit.held.until:
        return circuit.held.until
    return circuit.open_until if circuit.open_until is not None and now < circuit.open_until else None


def closed_at(circuit: Circuit, now: float) -> float | None:
    """When a circuit that is closed has closed by itself; None where it isn't, was never open, or is held by hand."""
    closed = state(circuit, now) is State.CLOSED and circuit.cause in CLOSES
    return circuit.moved_at if closed else None


def moved(
    circuit: Circuit,
    now: float,
    cause: Cause,
    why: str,
    *,
    answers: tuple[Entry, ...] = (),
    measures: tuple[Measure, ...] = (),
    kept: Cause | None = None,
    **changes: object,
) -> Move:
    """The move with these changes; `kept` is what the automatic part's cause is afterwards, None means `cause`."""
    after = replace(circuit, generation=circuit.generation + 1, cause=kept or cause, **changes)  # type: ignore[arg-type] # fields
    return Move(
        at=now,
        before=state(circuit, now),
        after=state(after, now),
        cause=cause,
        why=why,
        circuit=after,
        answers=answers,
        measures=measures,
    )


def laid_over(circuit: Circuit, now: float, cause: Cause, why: str, **changes: object) -> Move:
    """A move of the hold by hand alone; the automatic part stays as it is, its cause too."""
    move = moved(circuit, now, cause, why, **changes)  # type: ignore[arg-type] # fields
    return replace(move, circuit=replace(move.circuit, cause=circuit.cause))
