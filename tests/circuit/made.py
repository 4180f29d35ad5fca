"""What a circuit's tests make: answers of every weight, logs, and the move that is due."""

from dataclasses import replace

from breaker.answer import Ended, Fault, Source
from breaker.circuit import Cause, Circuit, Move, due
from breaker.log import BIN_S, Bin, Entry, Log
from breaker.policy import Policy
from breaker.usual import UNKNOWN, Usual, learn
from tests.entries import entry, good

POLICY = Policy()
CLOSED = Circuit(epoch="e", generation=3, moved_at=-10_000.0)


def opened(cause: Cause, **changes: object) -> Circuit:
    """A circuit that was opened at 1000 for ten minutes."""
    made = Circuit(epoch="e", generation=4, cause=cause, moved_at=1000.0, open_until=1600.0, hold_s=600.0)
    return replace(made, **changes)  # type: ignore[arg-type] # fields


def said(at: float, status: int, *, retry_after_s: float | None = None, **facts: object) -> Entry:
    """An HTTP error."""
    made = entry(at, **{"status": status, "first_byte_s": None, **facts})  # type: ignore[arg-type] # facts of entry()
    return replace(made, answer=replace(made.answer, retry_after_s=retry_after_s))


def in_band(at: float, fault: Fault) -> Entry:
    """A 200 whose stream says that something is wrong."""
    from breaker.verdict import judge

    made = entry(at)
    answer = replace(made.answer, fault=fault, first_byte_s=None)
    return replace(made, answer=answer, verdict=judge(answer).verdict, blame=judge(answer).blame)


def waited(at: float, first_byte_s: float, **facts: object) -> Entry:
    """A good answer with this first byte."""
    return good(at, first_byte_s=first_byte_s, seconds=first_byte_s + 1.0, **facts)


def cut_off(at: float, **facts: object) -> Entry:
    """No connection."""
    return entry(at, **{"status": None, "first_byte_s": None, "ended": Ended.UNREACHABLE, **facts})  # type: ignore[arg-type]


def usual_of(first_byte_s: float, answers: int = 200) -> Usual:
    """A target that has always answered like this."""
    usual = UNKNOWN
    for i in range(answers):
        usual = learn(usual, first_byte_s, -60.0 * (answers - i), out=False)
    return usual


def counted(now: float, *, ok: int = 0, failure: int = 0, late: int = 0) -> Log:
    """A log in which the current bin holds so many reports."""
    return Log(bins=(Bin(now // BIN_S * BIN_S, ok=ok, failure=failure, late=late),))


def moved(circuit: Circuit, log: Log, now: float, policy: Policy = POLICY) -> Move:
    """The move that is due; there must be one."""
    move = due(circuit, log, policy, now)
    assert move is not None
    return move


def agents(*entries: Entry) -> tuple[Entry, ...]:
    """The same answers, seen by agents."""
    return tuple(replace(e, answer=replace(e.answer, source=Source.REPORT)) for e in entries)
