"""The rules that open a closed circuit; the first that applies gives the cause."""

from breaker import usual
from breaker.circuit import told
from breaker.circuit.moving import moved
from breaker.circuit.seen import Seen
from breaker.circuit.words import Cause, Circuit, Measure, Move
from breaker.log import Entry, Weight, failure, row, weigh
from breaker.policy import Policy


def open_if_bad(seen: Seen) -> Move | None:
    """The move that opens a closed circuit, or None. No good answer ever opens one."""
    for rule in (_refused, _throttled, _in_a_row, _at_a_rate, _in_a_slump):
        if (move := rule(seen)) is not None:
            return move
    return None


def open_again(seen: Seen) -> Move | None:
    """The move that opens a half-open circuit for another hold, by what a probe said after the hold's end."""
    over = seen.circuit.open_until
    assert over is not None
    if (move := _throttled(seen)) is not None and move.answers[-1].at >= over:
        return move
    if not seen.probes or seen.probes[-1].at < over:
        return None
    newest = seen.probes[-1]
    if weigh(newest, seen.policy) is Weight.REFUSED:
        return _refused(seen)
    if weigh(newest, seen.policy).bad:
        return _by_row(seen, [newest])
    return _in_a_slump(seen)


def _refused(seen: Seen) -> Move | None:
    """The newest probe says that asking again can't help."""
    if not seen.probes or not seen.fresh(newest := seen.probes[-1]):
        return None
    if weigh(newest, seen.policy) is not Weight.REFUSED:
        return None
    cause = Cause(failure(newest).value)
    return _opened(seen, cause, told.refused(cause, newest), (newest,), (Measure("errors_row", 1, 1),))


def _throttled(seen: Seen) -> Move | None:
    """Too much was asked: until the moment that the provider names, or where it names none, the third in a row."""
    policy = seen.policy
    if not seen.asked or not seen.fresh(newest := seen.asked[-1]):
        return None
    if weigh(newest, policy) is not Weight.THROTTLED:
        return None
    if (asks_s := newest.answer.retry_after_s) is not None:
        wait_s = min(max(asks_s, policy.retry_after_min_s), policy.hold_s)
        why = f"too much was asked of it, and it asks to wait {told.seconds(asks_s)}: {told.each([newest])}"
        measures = (Measure("retry_after_s", asks_s, policy.hold_s),)
        return _opened(seen, Cause.RATE_LIMITED, why, (newest,), measures, until=newest.at + wait_s)
    run = _throttled_run(seen)
    if len(run) < policy.throttled_row:
        return None
    why = f"{told.spelled(len(run))} probes in a row were told that too much is asked: {told.each(run)}"
    measures = (Measure("throttled_row", len(run), policy.throttled_row),)
    return _opened(seen, Cause.RATE_LIMITED, why, tuple(run), measures)


def _throttled_run(seen: Seen) -> list[Entry]:
    run: list[Entry] = []
    for entry in reversed(seen.asked):
        apart_s = run[-1].began - entry.at if run else 0.0
        if weigh(entry, seen.policy) is not Weight.THROTTLED or apart_s > seen.policy.row_gap_s:
            break
        run.append(entry)
    return run[::-1]


def _in_a_row(seen: Seen) -> Move | None:
    circuit, policy = seen.circuit, seen.policy
    wary = circuit.cause is Cause.UNVERIFIED and seen.now - circuit.moved_at <= policy.wary_s
    for run in _bad_rows(seen):
        if seen.fresh(run[-1]) and (wary or _tips(run, policy)):
            return _by_row(seen, run)
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
    if sum(b.told for b in seen.bins) < policy.rate_answers:
        rows.append(row(reports, policy, bad=True))
    return [run for run in rows if run]


def _tips(run: list[Entry], policy: Policy) -> bool:
    """Whether a row is long enough: of one kind by that kind's number, mixed by the larger of both."""
    slow = [weigh(entry, policy) is Weight.SLOW for entry in run]
    return (
        _tail(slow, of=False) >= policy.errors_row
        or _tail(slow, of=True) >= policy.slow_row
        or len(run) >= max(policy.errors_row, policy.slow_row)
    )


def _tail(flags: list[bool], *, of: bool) -> int:
    others = [i for i, flag in enumerate(flags) if flag is not of]
    return len(flags) - (others[-1] + 1 if others else 0)


def _by_row(seen: Seen, run: list[Entry]) -> Move:
    policy = seen.policy
    slow = [entry for entry in run if weigh(entry, policy) is Weight.SLOW]
    all_slow = len(slow) == len(run)
    length = policy.slow_row if all_slow else max(policy.slow_row, policy.errors_row) if slow else policy.errors_row
    measures = (
        Measure("slow_row" if all_slow else "errors_row", len(run), length),
        *(Measure("slow_s", _slow_s(entry), policy.slow_s) for entry in slow),
    )
    return _opened(seen, Cause.SLOW if all_slow else Cause.ERRORS, told.row(run, policy), tuple(run), measures)


def _slow_s(entry: Entry) -> float:
    return entry.answer.seconds if entry.answer.first_byte_s is None else entry.answer.first_byte_s


def _at_a_rate(seen: Seen) -> Move | None:
    """Too large a share is bad, of all answers within the window or of the last probes."""
    newest = max([*seen.reports[-1:], *seen.probes[-1:]], key=lambda entry: entry.at, default=None)
    if newest is None or not weigh(newest, seen.policy).bad or not seen.fresh(newest):
        return None
    return _rate_of_all(seen) or _rate_of_probes(seen)


def _rate_of_all(seen: Seen) -> Move | None:
    policy = seen.policy
    probes = [entry for entry in seen.probes if seen.now - entry.at <= policy.rate_window_s]
    bad_ones = [entry for entry in probes if weigh(entry, policy).bad]
    told_of = len(probes) + sum(b.told for b in seen.bins)
    bad = len(bad_ones) + sum(b.bad for b in seen.bins)
    answers = [*(e for e in seen.reports if weigh(e, policy).bad), *bad_ones]
    return _by_rate(seen, bad, told_of, f"within {policy.rate_window_s:g} s", answers)


def _rate_of_probes(seen: Seen) -> Move | None:
    """Probes are rare: the last so many count, if they came within as many intervals."""
    policy = seen.policy
    since = seen.now - policy.rate_answers * policy.interval_s
    probes = [entry for entry in seen.probes[-policy.rate_answers :] if entry.at >= since]
    bad = [entry for entry in probes if weigh(entry, policy).bad]
    return _by_rate(seen, len(bad), len(probes), "probes", bad)


def _by_rate(seen: Seen, bad: int, told_of: int, which: str, answers: list[Entry]) -> Move | None:
    policy = seen.policy
    if told_of < policy.rate_answers or bad / told_of < policy.rate_share:
        return None
    newest = sorted(answers, key=lambda entry: entry.at)[-told.NAMED :]
    why = f"{bad} of {told_of} answers {which} were bad, the newest: {told.each(newest)}"
    if which == "probes":
        why = f"{bad} of the last {told_of} probes were bad: {told.each(newest)}"
    measures = (
        Measure("rate_share", round(bad / told_of, 4), policy.rate_share),
        Measure("rate_answers", told_of, policy.rate_answers),
    )
    return _opened(seen, Cause.ERROR_RATE, why, tuple(newest), measures)


def _in_a_slump(seen: Seen) -> Move | None:
    if not seen.probes or not seen.fresh(newest := seen.probes[-1]) or not seen.sluggish(newest):
        return None
    return _slumped(seen) if seen.evidence >= usual.ENOUGH else None


def _slumped(seen: Seen) -> Move:
    typical_s = usual.typical_s(seen.log.usual) or 0.0
    sluggish = tuple(entry for entry in seen.probes if seen.sluggish(entry))
    waits = sorted(seen.waits[-2 * told.NAMED :])
    middle = waits[len(waits) // 2]
    why = (
        f"first bytes come far later than this target's usual {told.seconds(typical_s)}, now {told.seconds(middle)} in "
        f"the median: {told.each(sluggish)}"
    )
    measures = (
        Measure("slump_factor", round(middle / max(typical_s, 0.001), 2), seen.policy.slump_factor),
        Measure("evidence", round(seen.evidence, 2), usual.ENOUGH),
    )
    return _opened(seen, Cause.SLUMP, why, sluggish[-told.NAMED :], measures)


def _opened(
    seen: Seen,
    cause: Cause,
    why: str,
    answers: tuple[Entry, ...],
    measures: tuple[Measure, ...],
    *,
    until: float | None = None,
) -> Move:
    """`until` None means for a hold."""
    circuit, now = seen.circuit, seen.now
    hold_s = circuit.hold_s if until is not None else _hold_s(circuit, seen.policy, now)
    return moved(
        circuit,
        now,
        cause,
        why,
        answers=answers,
        measures=measures,
        moved_at=now,
        open_until=max(until, now) if until is not None else now + hold_s,
        hold_s=hold_s,
    )


def _hold_s(circuit: Circuit, policy: Policy, now: float) -> float:
    """How long the next hold is: longer than the last where that is only just over."""
    forgotten = circuit.open_until is None and now - circuit.moved_at >= policy.hold_forget_s
    if policy.hold_growth <= 1 or circuit.hold_s == 0 or forgotten:
        return policy.hold_s
    return min(max(circuit.hold_s * policy.hold_growth, policy.hold_s), policy.hold_max_s)
