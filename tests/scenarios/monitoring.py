"""A seat of the prober, and what it looks at, on a clock of the test's own."""

from breaker.answer import Answer
from breaker.circuit import Cause, Circuit, Move, State
from breaker.log import Log
from breaker.policy import Policy
from breaker.store.contract import Reading
from breaker.switchboard import Judged
from breaker.verdict import judge
from monitor.budget import Level
from monitor.schedule.seat import Now, Seat
from monitor.settings import TargetPlan
from tests.scenarios.story import PRIMARY, START

CLOSED = Circuit(epoch="e")


def seat(policy: Policy | None = None) -> Seat:
    """A seat whose first probe began at 0 s and has ended."""
    made = Seat(TargetPlan(target=PRIMARY, policy=policy or Policy()), first_at=0.0)
    made.free(made.take(0.0))
    return made


def open_until(moment: float) -> Circuit:
    """A circuit that is open until a moment of the story."""
    return Circuit(epoch="e", generation=1, cause=Cause.SLOW, moved_at=START, open_until=START + moment)


def now(here: float, circuit: Circuit = CLOSED, level: Level = Level.FREE) -> Now:
    """A moment at which the store's clock agrees with the story."""
    return Now(here=here, store=START + here, circuit=circuit, level=level)


def judged(answer: Answer, at: float, circuit: Circuit = CLOSED, after: Circuit | None = None) -> Judged:
    """An answer that counted at a moment; `after` is what it made of the circuit."""
    move = None
    if after is not None:
        move = Move(at=START + at, before=State.CLOSED, after=State.OPEN, cause=Cause.ERRORS, why="", circuit=after)
    reading = Reading(circuit=circuit, log=Log(), now=START + at)
    return Judged(answer=answer, judgement=judge(answer), reading=reading, move=move)
