"""A target that refuses us, or says that too much was asked of it: a probe's word is enough."""

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
    """Too much was asked: until the moment that the provider names, or where it names none, the third in a row."""
    if not seen.asked or not seen.fresh(newest := seen.asked[-1]):
        return None
    if weigh(newest, seen.policy) is not Weight.THROTTLED:
        return None
    return _told_to_wait(seen, newest) or _throttled_in_a_row(seen)


def _told_to_wait(seen: Seen, newest: Entry) -> Move | None:
    policy = seen.policy
    if (asks_s := newest.answer.retry_after_s) is None:
        return None
    until = newest.at + min(max(asks_s, policy.retry_after_min_s), policy.hold_s)
    if until <= seen.now:
        return None
    why = f"too much was asked of it, and it asks to wait {told.seconds(asks_s)}: {told.each([newest])}"
    measures = (Measure("retry_after_s", asks_s, policy.hold_s),)
    return opened(seen, Cause.RATE_LIMITED, why, (newest,), measures, until=until)


def _throttled_in_a_row(seen: Seen) -> Move | None:
    policy = seen.policy
    run = unbroken(seen.asked, policy, lambda weight: weight is Weight.THROTTLED)
    if len(run) < policy.throttled_row:
        return None
    who = "a probe was" if len(run) == 1 else f"{told.spelled(len(run))} probes in a row were"
    why = f"{who} told that too much is asked: {told.each(run)}"
    measures = (Measure("throttled_row", len(run), policy.throttled_row),)
    return opened(seen, Cause.RATE_LIMITED, why, tuple(run), measures)
