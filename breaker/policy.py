"""The numbers by which answers are judged and circuits open and close."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Every number of the rules; each can be set for all, for a provider and for a target.

    Names that end in `_s` are seconds, in `_row` answers in a row, in `_intervals` probe intervals.
    """

    slow_s: float = 40.0  # a first byte later than this is slow
    slow_row: int = 2  # this many slow ones in a row open the circuit
    errors_row: int = 2  # this many failed ones in a row open the circuit
    hold_s: float = 600.0  # open lasts this long, exactly
    recover_row: int = 2  # this many good, quick probes in a row close it again
    interval_s: float = 60.0  # between two probes
    jitter_s: float = 3.0  # each probe starts this much later at most
    confirm_s: float = 5.0  # a bad answer is confirmed by a probe after this long
    half_open_s: float = 15.0  # between two probes while half-open
    silence_s: float = 120.0  # an answer that says nothing for this long is given up
    row_gap_intervals: float = 2.5  # from the end of one to the begin of the next in a row it is at most this far
    fresh_intervals: float = 2.5  # a probe older than this is no proof of recovery
    silent_intervals: float = 3.0  # without a telling probe for this long (and silence_s), the hold closes unverified
    wary_s: float = 60.0  # for this long after an unverified close, one bad answer opens again
    rate_share: float = 0.5  # this share of bad answers opens the circuit ...
    rate_answers: int = 10  # ... where there are at least so many: the last so many probes, or ...
    rate_window_s: float = 120.0  # ... all answers within this long, counted in bins of ten seconds
    slump: bool = True  # whether a target that has become much slower than its usual is left
    slump_factor: float = 3.0  # so many times slower than usual is much slower
    throttled_row: int = 3  # this many probes in a row of which too much was asked open the circuit
    retry_after_min_s: float = 5.0  # shorter waits than this aren't believed, nor longer ones than the hold
    hold_growth: float = 1.0  # a circuit that opens again soon is held so many times longer than before
    hold_max_s: float = 3600.0  # but never longer than this
    hold_forget_s: float = 3600.0  # closed for this long, it is held for hold_s again
    probing: bool = True  # whether probes are sent at all

    @property
    def row_gap_s(self) -> float:
        """How long after the end of one answer the next in a row may begin, in seconds."""
        return self.row_gap_intervals * self.interval_s

    @property
    def fresh_s(self) -> float:
        """How old a probe may be to prove recovery, in seconds."""
        return self.fresh_intervals * self.interval_s

    @property
    def silent_s(self) -> float:
        """How long without a telling probe means that the monitor is silent, in seconds.

        A probe under way is no silence, so what one may take before it tells anything comes on top.
        """
        return self.silent_intervals * self.interval_s + self.silence_s


@dataclass(frozen=True, slots=True)
class Flaw:
    """A number, or a pair of numbers, that can't work: which field to look at, what is wrong, what to do."""

    field: str
    wrong: str
    hint: str


# Bounds of single numbers; what a rule needs of several at once is in `_joint_flaws`.
_BOUNDS: dict[str, tuple[float, float]] = {
    "slow_s": (0.01, 3600),
    "slow_row": (1, 16),
    "errors_row": (1, 16),
    "hold_s": (0.1, 86_400),
    "recover_row": (1, 16),
    "interval_s": (0.05, 86_400),
    "jitter_s": (0, 3600),
    "confirm_s": (0, 3600),
    "half_open_s": (0.05, 3600),
    "silence_s": (0.05, 7200),
    "row_gap_intervals": (1, 1000),
    "fresh_intervals": (1, 1000),
    "silent_intervals": (1, 1000),
    "wary_s": (0, 3600),
    "rate_share": (0.01, 1),
    "rate_answers": (2, 32),
    "rate_window_s": (20, 540),
    "slump_factor": (1.2, 100),
    "throttled_row": (1, 16),
    "retry_after_min_s": (0, 3600),
    "hold_growth": (1, 10),
    "hold_max_s": (0.1, 604_800),
    "hold_forget_s": (0, 604_800),
}


def flaws(policy: Policy) -> list[Flaw]:
    """All that is wrong with a policy, among it rules that could never trip; an empty list means it can work."""
    return _bound_flaws(policy) or _joint_flaws(policy) or (_unprovable(policy) if policy.probing else [])


def _bound_flaws(policy: Policy) -> list[Flaw]:
    found = []
    for field in fields(policy):
        if field.name not in _BOUNDS:
            continue
        low, high = _BOUNDS[field.name]
        value = getattr(policy, field.name)
        if not low <= value <= high:
            found.append(Flaw(field.name, f"is {value:g}", f"choose a number from {low:g} to {high:g}"))
    return found


def _joint_flaws(policy: Policy) -> list[Flaw]:
    p = policy
    found = []
    if p.slow_s >= p.silence_s:
        found.append(
            Flaw(
                "slow_s",
                f"is {p.slow_s:g} and could never trip: silence is given up after silence_s = {p.silence_s:g}",
                "make silence_s larger than slow_s",
            )
        )
    if p.probing and p.recover_row > 1 and p.half_open_s > p.fresh_s:
        found.append(
            Flaw(
                "half_open_s",
                f"is {p.half_open_s:g}: a good probe would be stale before the next one "
                f"(fresh_intervals x interval_s = {p.fresh_s:g} s)",
                "lower half_open_s or raise fresh_intervals",
            )
        )
    if p.hold_growth > 1 and p.hold_max_s < p.hold_s:
        found.append(
            Flaw(
                "hold_max_s",
                f"is {p.hold_max_s:g}, less than hold_s = {p.hold_s:g}: a hold could never grow",
                "raise hold_max_s, or set hold_growth to 1",
            )
        )
    if p.jitter_s >= p.interval_s:
        found.append(
            Flaw("jitter_s", f"is {p.jitter_s:g}, not less than interval_s = {p.interval_s:g}", "lower jitter_s")
        )
    return found


def _unprovable(p: Policy) -> list[Flaw]:
    """Rules that wait for probes which can't come in time."""
    found = []
    if max(p.errors_row, p.slow_row) > 1 and p.confirm_s > p.row_gap_s:
        found.append(
            Flaw(
                "confirm_s",
                f"is {p.confirm_s:g}: a row could never be confirmed, its neighbours stand at most {p.row_gap_s:g} s "
                "apart (row_gap_intervals x interval_s)",
                "lower confirm_s, or raise row_gap_intervals or interval_s",
            )
        )
    if p.recover_row > 1 and p.half_open_s > p.row_gap_s:
        found.append(
            Flaw(
                "recover_row",
                f"could never be reached: half-open probes stand half_open_s = {p.half_open_s:g} s apart, neighbours "
                f"in a row at most {p.row_gap_s:g} s (row_gap_intervals x interval_s)",
                "lower half_open_s, or raise row_gap_intervals or interval_s",
            )
        )
    told_s = max(p.interval_s + p.jitter_s, p.half_open_s) + p.slow_s
    if told_s > p.silent_s:
        found.append(
            Flaw(
                "silent_intervals",
                f"is {p.silent_intervals:g}: after {p.silent_s:g} s a circuit would close unverified, while a probe of "
                f"a silent target tells after up to {told_s:g} s (interval_s + jitter_s or half_open_s, and slow_s)",
                "raise silent_intervals, or lower slow_s",
            )
        )
    return found
