"""A target that refuses us, or says that too much was asked of it: a probe's word is enough, where there are any."""

from breaker.answer import Source
from breaker.circuit import told
from breaker.circuit.opened import opened
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Measure, Move
from breaker.log import Entry, Weight, failure, unbroken, weigh


def refused(seen: Seen) -> Move | None:
    """The newest probe says that asking again can't help."""
    if not seen.probes or not seen.fresh(newest := seen.probes[-1]):
        return None
    if weigh(newest, seen.policy) is not Weight.REFUSED:
        return None
    cause = Cause(failure(newest).value)
    return opened(seen, cause, told.refused(cause, newest), (newest,), ())


def throttled(seen: Seen) -> Move | None:
    """Too much was asked: until the moment that the provider names, or where it names none, the third in a row.

    A probe's word is enough. Where nothing is probed agents' words are all there is: of them a row is needed, as of
    failures, and where many report, it may be chance.
    """
    policy = seen.policy
    if (move := _by(seen, seen.asked, 1)) is not None or policy.probing:
        return move
    _, told_of = seen.counted
    return _by(seen, seen.heard, policy.errors_row) if told_of < policy.rate_answers else None


def _by(seen: Seen, entries: list[Entry], least: int) -> Move | None:
    run = unbroken(entries, seen.policy, lambda weight: weight is Weight.THROTTLED)
    if len(run) < least or not run or not seen.fresh(run[-1]):
        return None
    return _told_to_wait(seen, run[-least:]) or _throttled_in_a_row(seen, run)


def _told_to_wait(seen: Seen, run: list[Entry]) -> Move | None:
    policy, newest = seen.policy, run[-1]
    if (asks_s := newest.answer.retry_after_s) is None:
        return None
    until = newest.at + min(max(asks_s, policy.retry_after_min_s), policy.hold_s)
    if until <= seen.now:
        return None
    why = f"too much was asked of it, and it asks to wait {told.seconds(asks_s)}: {told.each(run)}"
    measures = (Measure("retry_after_s", asks_s, policy.hold_s),)
    return opened(seen, Cause.RATE_LIMITED, why, tuple(run), measures, until=until)


def _throttled_in_a_row(seen: Seen, run: list[Entry]) -> Move | None:
    policy = seen.policy
    if len(run) < policy.throttled_row:
        return None
    who = "probe" if run[-1].answer.source is Source.PROBE else "agent"
    who = f"a {who} was" if len(run) == 1 else f"{told.spelled(len(run))} {who}s in a row were"
    why = f"{who} told that too much is asked: {told.each(run)}"
    measures = (Measure("throttled_row", len(run), policy.throttled_row),)
    return opened(seen, Cause.RATE_LIMITED, why, tuple(run), measures)
