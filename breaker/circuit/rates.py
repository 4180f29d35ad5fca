"""Too large a share of bad answers, of all that came lately or of the last probes."""

from breaker.circuit import told
from breaker.circuit.opened import opened
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Measure, Move
from breaker.log import Entry, weigh
from breaker.policy import Policy


def at_a_rate(seen: Seen) -> Move | None:
    """Too large a share is bad, of all answers within the window or of the last probes."""
    newest = max([*seen.reports[-1:], *seen.probes[-1:]], key=lambda entry: entry.at, default=None)
    if newest is None or not weigh(newest, seen.policy).bad or not seen.fresh(newest):
        return None
    return _rate_of_all(seen) or _rate_of_probes(seen)


def _rate_of_all(seen: Seen) -> Move | None:
    policy = seen.policy
    since = seen.now - policy.rate_window_s
    probes = [entry for entry in seen.probes if entry.at >= since]
    bad, told_of = seen.counted
    told_of += len(probes)
    bad += sum(weigh(entry, policy).bad for entry in probes)
    if not _too_many(bad, told_of, policy):
        return None  # before any is named, which takes longer than all the rest
    named = [e for e in (*seen.reports, *probes) if e.at >= since and weigh(e, policy).bad]
    return _by_rate(seen, bad, told_of, f"{told_of} answers within {policy.rate_window_s:g} s", named)


def _rate_of_probes(seen: Seen) -> Move | None:
    """Probes are rare: the last so many count, if they came within as many intervals."""
    policy = seen.policy
    since = seen.now - policy.rate_answers * policy.interval_s
    probes = [entry for entry in seen.probes[-policy.rate_answers :] if entry.at >= since]
    bad = [entry for entry in probes if weigh(entry, policy).bad]
    if not _too_many(len(bad), len(probes), policy):
        return None
    return _by_rate(seen, len(bad), len(probes), f"the last {len(probes)} probes", bad)


def _too_many(bad: int, told_of: int, policy: Policy) -> bool:
    return told_of >= policy.rate_answers and bad / told_of >= policy.rate_share


def _by_rate(seen: Seen, bad: int, told_of: int, which: str, named: list[Entry]) -> Move:
    policy = seen.policy
    newest = sorted(named, key=lambda entry: entry.at)[-told.NAMED :]
    why = f"{bad} of {which} {'was' if bad == 1 else 'were'} bad, the newest: {told.each(newest)}"
    measures = (
        Measure("rate_share", round(bad / told_of, 4), policy.rate_share),
        Measure("rate_answers", told_of, policy.rate_answers),
    )
    return opened(seen, Cause.ERROR_RATE, why, tuple(newest), measures)
