"""The rules that close an open circuit: probes prove that its target is back, or nobody is there to look."""

from breaker import usual
from breaker.circuit import told
from breaker.circuit.moving import moved
from breaker.circuit.opening import open_again
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Measure, Move
from breaker.log import Entry, Weight, row, weigh


def close_or_open_again(seen: Seen, blind_until: float) -> Move | None:
    """The move of an open circuit, or None.

    During the hold nothing moves it, but what opened it for a refusal: that is over with the first good probe. After
    it, probes that began after the move decide; only those that counted after the hold can open it again.
    """
    over = seen.circuit.open_until
    assert over is not None
    cause = seen.circuit.cause
    if cause is not None and cause.refusal and (move := _accepted(seen)) is not None:
        return move
    if seen.now < over:
        return None
    return _waited(seen) or _recovered(seen) or _unverified(seen, blind_until) or open_again(seen)


def _accepted(seen: Seen) -> Move | None:
    """Key, account and model are in order again."""
    if not seen.probes or weigh(newest := seen.probes[-1], seen.policy) is not Weight.GOOD:
        return None
    return _closed(seen, Cause.RECOVERED, "a probe was answered well again", (newest,), ())


def _waited(seen: Seen) -> Move | None:
    """The time for which it was left alone is over, and nothing since says that it isn't enough."""
    if seen.circuit.cause is not Cause.RATE_LIMITED:
        return None
    if seen.asked and weigh(seen.asked[-1], seen.policy) is not Weight.GOOD:
        return None
    why = "the wait is over" + (", and the newest probe was good" if seen.asked else "")
    return _closed(seen, Cause.WAITED, why, tuple(seen.asked[-1:]), ())


def _recovered(seen: Seen) -> Move | None:
    policy = seen.policy
    run = row(seen.probes, policy, bad=False)
    good = run[-policy.recover_row :]
    if len(good) < policy.recover_row or any(seen.sluggish(entry) for entry in good):
        return None
    age_s = seen.now - good[-1].at
    if age_s > policy.fresh_s or _still_slumped(seen):
        return None
    came = f"{told.spelled(len(run))} good probes came in a row" if len(run) > 1 else "a good probe came"
    why = f"{came}, the newest {age_s:.0f} s ago"
    measures = (Measure("recover_row", len(run), policy.recover_row), Measure("fresh_s", age_s, policy.fresh_s))
    return _closed(seen, Cause.RECOVERED, why, tuple(good), measures)


def _still_slumped(seen: Seen) -> bool:
    """A slump must be gone for certain; where something else opened the circuit, none must be suspected."""
    slumped = seen.circuit.cause is Cause.SLUMP
    return not usual.over(seen.evidence) if slumped else usual.suspect(seen.evidence)


def _unverified(seen: Seen, blind_until: float) -> Move | None:
    """Nobody looks; for as long as we couldn't, that says nothing."""
    policy = seen.policy
    silent_s = seen.now - max(seen.last_told, blind_until)
    if policy.probing and silent_s < policy.silent_s:
        return None
    why = f"no probe has told anything for {silent_s:.0f} s"
    return _closed(seen, Cause.UNVERIFIED, why, (), (Measure("silent_s", silent_s, policy.silent_s),))


def _closed(seen: Seen, cause: Cause, why: str, answers: tuple[Entry, ...], measures: tuple[Measure, ...]) -> Move:
    circuit, now = seen.circuit, seen.now
    return moved(circuit, now, cause, why, answers=answers, measures=measures, moved_at=now, open_until=None)
