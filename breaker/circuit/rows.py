"""Bad answers in a row: slow ones, failed ones, or both."""

from breaker.circuit import told
from breaker.circuit.opened import opened
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Measure, Move
from breaker.log import Entry, Weight, row, wait_s, weigh
from breaker.policy import Policy


def in_a_row(seen: Seen) -> Move | None:
    """A row of bad answers is long enough, or any where nobody has verified that the target is back."""
    circuit, policy = seen.circuit, seen.policy
    wary = circuit.cause is Cause.UNVERIFIED and seen.now - circuit.moved_at <= policy.wary_s
    for run in _bad_rows(seen):
        if seen.fresh(run[-1]) and (enough := _enough(run, policy) or (run if wary else [])):
            return by_row(seen, enough, alone=wary)
    return None


def _bad_rows(seen: Seen) -> list[list[Entry]]:
    """The rows of bad answers that stand: of probes, of reports with a confirming probe, and of reports.

    Where agents report much, two bad reports in a row may be chance: these need the confirming probe.
    """
    policy, reports = seen.policy, seen.reports
    probes = row(seen.probes, policy, bad=True)
    rows = [probes]
    if probes and (asked := probes[-1].answer.confirms):
        before = [i for i, entry in enumerate(reports) if entry.answer.id == asked]
        if before:
            rows.append(row([*reports[: before[0] + 1], probes[-1]], policy, bad=True))
    _, told_of = seen.counted
    if told_of < policy.rate_answers:
        rows.append(row(reports, policy, bad=True))
    return [run for run in rows if run]


def _enough(run: list[Entry], policy: Policy) -> list[Entry]:
    """What of a row is long enough: its newest ones of one kind by that kind's number, or all of it by the larger of
    both; empty where nothing is.
    """
    slow = weigh(run[-1], policy) is Weight.SLOW
    others = [i for i, entry in enumerate(run) if (weigh(entry, policy) is Weight.SLOW) is not slow]
    of_kind = run[others[-1] + 1 :] if others else run
    if len(of_kind) >= (policy.slow_row if slow else policy.errors_row):
        return of_kind
    return run if len(run) >= max(policy.errors_row, policy.slow_row) else []


def by_row(seen: Seen, run: list[Entry], *, alone: bool) -> Move:
    """The move that a row of bad answers makes; `alone` where one of them would have been enough."""
    policy = seen.policy
    slow = [entry for entry in run if weigh(entry, policy) is Weight.SLOW]
    all_slow = len(slow) == len(run)
    of_kind = policy.slow_row if all_slow else max(policy.slow_row, policy.errors_row) if slow else policy.errors_row
    measures = (
        Measure("slow_row" if all_slow else "errors_row", len(run), 1 if alone else of_kind),
        *(Measure("slow_s", wait_s(entry) or 0.0, policy.slow_s) for entry in slow),
    )
    cause = _cause_of_slow(seen) if all_slow else Cause.ERRORS
    return opened(seen, cause, told.row(run, policy), tuple(run), measures)


def _cause_of_slow(seen: Seen) -> Cause:
    """A slow answer in a slump belongs to it, and leaves its evidence standing."""
    return Cause.SLUMP if seen.circuit.cause is Cause.SLUMP else Cause.SLOW
