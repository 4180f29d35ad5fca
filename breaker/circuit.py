"""A target's circuit: when it opens, when it closes, and who may hold it.

    closed ──(a row of bad answers)──> open ──(the hold is over)──> half-open
       ^                                ^                             │  │
       └──(good probes, or no monitor)──┼─────────────────────────────┘  │
                                        └──────(a bad probe)─────────────┘

Half-open is never stored: it is open whose hold is over. A hold by hand lies over all of this; the automatic
part goes on underneath and is what remains when the hold ends. Everything that moves a circuit is in this file.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from breaker.log import Entry, Log, Weight, row, telling, weigh
from breaker.policy import Policy

# A store's clock that stands further behind the last move than this has been set back.
CLOCK_SLACK_S = 1.0


class State(StrEnum):
    """What a circuit is at a moment."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    HELD_OPEN = "held-open"
    HELD_CLOSED = "held-closed"

    @property
    def passes(self) -> bool:
        """Whether agents may be sent there."""
        return self in (State.CLOSED, State.HELD_CLOSED)


class Cause(StrEnum):
    """Why a circuit moved."""

    SLOW = "slow"
    ERRORS = "errors"
    MANUAL = "manual"
    RECOVERED = "recovered"
    UNVERIFIED = "unverified"  # closed because nobody was there to look
    HOLD_OVER = "hold_over"  # a hold by hand came to its end
    CLOCK = "clock"  # the store's clock was set back; times were set anew
    RESTORED = "restored"  # the store had lost an open or held circuit; it was put back


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A hold by hand: `opened` says which way, `until` when it ends by itself (store's time)."""

    opened: bool
    who: str
    why: str
    since: float
    until: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Circuit:
    """What the store keeps of a target's circuit; times are the store's, in seconds since 1970.

    `generation` rises by one with every move; `epoch` is a nonce made with the key, so a store that lost
    everything is noticed. `moved_at` is the last automatic move (0.0: none yet), `cause` its cause.
    `open_until` is None while closed.
    """

    epoch: str = ""
    generation: int = 0
    cause: Cause | None = None
    moved_at: float = 0.0
    open_until: float | None = None
    held: Held | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """A change of a circuit: what it was, what it is now, why, and the answers that caused it."""

    at: float
    before: State
    after: State
    cause: Cause
    why: str
    circuit: Circuit
    answers: tuple[Entry, ...] = ()


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


def due(circuit: Circuit, log: Log, policy: Policy, now: float) -> Move | None:
    """The move that a circuit has to make now, or None.

    Called after each answer, and whenever `next_due` says so; calling it more often changes nothing.
    """
    if _latest(circuit) > now + CLOCK_SLACK_S:
        return _set_anew(circuit, now)
    log = _until(log, now + CLOCK_SLACK_S)
    return _by_itself(circuit, log, policy, now) or _hold_over(circuit, now)


def next_due(circuit: Circuit, log: Log, policy: Policy, now: float) -> float | None:
    """The next moment at which the clock alone may move a circuit; None where only an answer can."""
    moments = [circuit.held.until] if circuit.held else []
    if circuit.open_until is not None:
        moments += [circuit.open_until, _last_told(circuit, log, policy) + policy.silent_s]
    return min((m for m in moments if m > now), default=None)


def hold(circuit: Circuit, now: float, *, opened: bool, who: str, why: str, until: float) -> Move:
    """The move that holds a circuit open or closed by hand until a moment."""
    circuit = _shifted(circuit, now)  # else it would be done later, and shorten this hold
    held = Held(opened=opened, who=who, why=why, since=now, until=until)
    return _move(circuit, now, Cause.MANUAL, f"by hand, {who}: {why}", held=held)


def release(circuit: Circuit, now: float, *, who: str, why: str) -> Move | None:
    """The move that ends a hold by hand; None where there is none."""
    if circuit.held is None:
        return None
    return _move(circuit, now, Cause.MANUAL, f"released by hand, {who}: {why}", held=None)


def restored(known: Circuit, found: Circuit, now: float) -> Circuit | None:
    """What to put into a store that has forgotten a circuit that is still open or held; None where nothing is lost.

    `found` is what the store says now. The old end stays: a loss never lengthens a hold.
    """
    older = found.epoch != known.epoch or found.generation < known.generation
    known = _shifted(known, now)  # a store that takes another's place may have a clock further behind
    forgotten = older and found.open_until is None and found.held is None
    held = known.held if known.held and now < known.held.until else None
    still_open = known.open_until is not None and now < known.open_until
    if not forgotten or not (held or still_open):
        return None
    return replace(
        found,
        generation=max(found.generation, known.generation) + 1,
        cause=known.cause if still_open else found.cause,
        moved_at=min(known.moved_at, now) if still_open else found.moved_at,
        open_until=known.open_until if still_open else None,
        held=held,
    )


def _by_itself(circuit: Circuit, log: Log, policy: Policy, now: float) -> Move | None:
    if circuit.open_until is None:
        return _open_if_bad(circuit, log, policy, now)
    return _close_or_open_again(circuit, log, policy, now) if now >= circuit.open_until else None


def _hold_over(circuit: Circuit, now: float) -> Move | None:
    """Comes after what answers demand, since the clock asks again and they don't."""
    if circuit.held is None or now < circuit.held.until:
        return None
    return _move(circuit, now, Cause.HOLD_OVER, "the hold by hand is over", held=None)


def _open_if_bad(circuit: Circuit, log: Log, policy: Policy, now: float) -> Move | None:
    wary = circuit.cause is Cause.UNVERIFIED and now - circuit.moved_at <= policy.wary_s
    for run in _bad_rows(circuit, log, policy):
        fresh = now - run[-1].at <= policy.row_gap_s
        if fresh and (wary or _tips(run, policy)):
            return _opened(circuit, run, policy, now)
    return None


def _bad_rows(circuit: Circuit, log: Log, policy: Policy) -> list[list[Entry]]:
    """The rows of bad answers that stand: of probes, of reports, and of reports with a confirming probe."""
    probes = telling(log.probes, policy, circuit.moved_at)
    reports = telling(log.reports, policy, circuit.moved_at)
    rows = [row(probes, policy, bad=True), row(reports, policy, bad=True)]
    if rows[0] and (asked := rows[0][-1].answer.confirms):
        before = [i for i, entry in enumerate(reports) if entry.answer.id == asked]
        if before:
            rows.append(row([*reports[: before[0] + 1], rows[0][-1]], policy, bad=True))
    return [run for run in rows if run]


def _tips(run: list[Entry], policy: Policy) -> bool:
    """Whether a row is long enough: of one kind by that kind's number, mixed by the larger of both."""
    weights = [weigh(entry, policy) for entry in run]
    return (
        _tail(weights, Weight.FAILED) >= policy.errors_row
        or _tail(weights, Weight.SLOW) >= policy.slow_row
        or len(weights) >= max(policy.errors_row, policy.slow_row)
    )


def _tail(weights: list[Weight], kind: Weight) -> int:
    others = [i for i, weight in enumerate(weights) if weight is not kind]
    return len(weights) - (others[-1] + 1 if others else 0)


def _close_or_open_again(circuit: Circuit, log: Log, policy: Policy, now: float) -> Move | None:
    """Half-open: probes that began after the move decide; only those that counted after the hold can open again."""
    assert circuit.open_until is not None
    probes = telling(log.probes, policy, circuit.moved_at)
    good = row(probes, policy, bad=False)
    if len(good) >= policy.recover_row and now - good[-1].at <= policy.fresh_s:
        why = f"{len(good)} good probes in a row, the newest {now - good[-1].at:.0f} s old"
        return _closed(circuit, now, Cause.RECOVERED, why, tuple(good[-policy.recover_row :]))
    silent_s = now - _last_told(circuit, log, policy)
    if not policy.probing or silent_s >= policy.silent_s:
        return _closed(circuit, now, Cause.UNVERIFIED, f"no telling probe for {silent_s:.0f} s: closed unverified")
    if probes and weigh(probes[-1], policy).bad and probes[-1].at >= circuit.open_until:
        return _opened(circuit, [probes[-1]], policy, now)
    return None


def _last_told(circuit: Circuit, log: Log, policy: Policy) -> float:
    probes = telling(log.probes, policy, circuit.moved_at)
    return probes[-1].at if probes else circuit.moved_at


def _opened(circuit: Circuit, run: list[Entry], policy: Policy, now: float) -> Move:
    all_slow = all(weigh(entry, policy) is Weight.SLOW for entry in run)
    cause = Cause.SLOW if all_slow else Cause.ERRORS
    return _move(
        circuit,
        now,
        cause,
        _told(run, policy, all_slow=all_slow),
        answers=tuple(run),
        moved_at=now,
        open_until=now + policy.hold_s,
    )


def _closed(circuit: Circuit, now: float, cause: Cause, why: str, answers: tuple[Entry, ...] = ()) -> Move:
    return _move(circuit, now, cause, why, answers=answers, moved_at=now, open_until=None)


def _until(log: Log, moment: float) -> Log:
    """The log without entries that a clock, set back since, has put into the future."""
    return Log(
        probes=tuple(entry for entry in log.probes if entry.at <= moment),
        reports=tuple(entry for entry in log.reports if entry.at <= moment),
    )


def _latest(circuit: Circuit) -> float:
    return max(circuit.moved_at, circuit.held.since if circuit.held else 0.0)


def _shifted(circuit: Circuit, now: float) -> Circuit:
    """The circuit with its last move put at now, where a clock set back has left it in the future.

    All its times move by as much, so no hold gets longer than it was made.
    """
    back = _latest(circuit) - now
    if back <= CLOCK_SLACK_S:
        return circuit
    held = circuit.held
    return replace(
        circuit,
        moved_at=max(circuit.moved_at - back, 0.0),
        open_until=None if circuit.open_until is None else circuit.open_until - back,
        held=held and replace(held, since=held.since - back, until=held.until - back),
    )


def _set_anew(circuit: Circuit, now: float) -> Move:
    """Make the shift of a circuit's times known to all."""
    back, anew = _latest(circuit) - now, _shifted(circuit, now)
    return _move(
        circuit,
        now,
        Cause.CLOCK,
        f"the store's clock went back by at least {back:.0f} s",
        moved_at=anew.moved_at,
        open_until=anew.open_until,
        held=anew.held,
        cause_kept=circuit.cause,
    )


def _move(
    circuit: Circuit,
    now: float,
    cause: Cause,
    why: str,
    *,
    answers: tuple[Entry, ...] = (),
    cause_kept: Cause | None = None,
    **changes: object,
) -> Move:
    """The move with these changes; a hold by hand leaves the automatic part's cause as it is."""
    by_hand = cause in (Cause.MANUAL, Cause.HOLD_OVER)
    kept = circuit.cause if by_hand else cause_kept or cause
    after = replace(circuit, generation=circuit.generation + 1, cause=kept, **changes)  # type: ignore[arg-type] # fields
    return Move(
        at=now,
        before=state(circuit, now),
        after=state(after, now),
        cause=cause,
        why=why,
        circuit=after,
        answers=answers,
    )


def _told(run: list[Entry], policy: Policy, *, all_slow: bool) -> str:
    """What a row was, in plain words."""
    each = ", ".join(_told_one(entry) for entry in run)
    if all_slow:
        row_of = f"{len(run)} in a row with " if len(run) > 1 else ""
        return f"{row_of}no first byte within {policy.slow_s:g} s: {each}"
    return f"{len(run)} bad answers in a row: {each}" if len(run) > 1 else f"a bad answer: {each}"


def _told_one(entry: Entry) -> str:
    answer = entry.answer
    if answer.first_byte_s is not None and entry.blame.value != "provider_failure":
        said = f"first byte after {answer.first_byte_s:.1f} s"
    elif entry.late:
        said = f"{answer.seconds:.1f} s and still silent"
    else:
        said = entry.verdict.value if answer.status in (None, 200) else f"{entry.verdict.value} ({answer.status})"
    return f"{said} ({answer.source.value})"
