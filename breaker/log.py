"""A target's judged answers, in the order in which they counted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from breaker.answer import Answer, Fault, Source
from breaker.policy import Policy
from breaker.usual import UNKNOWN, Usual
from breaker.verdict import Blame, Verdict


class Weight(Enum):
    """What an answer means to its target's circuit."""

    GOOD = "good"
    SLOW = "slow"
    FAILED = "failed"
    REFUSED = "refused"  # key, account or model: asking again can't help
    THROTTLED = "throttled"  # too much was asked of it; says nothing of how well it answers
    NOTHING = "nothing"

    @property
    def bad(self) -> bool:
        """Slow, failed and refused ones stand in one row."""
        return self in (Weight.SLOW, Weight.FAILED, Weight.REFUSED)


class Told(Protocol):
    """An answer and what it was."""

    @property
    def answer(self) -> Answer:
        """The answer."""
        ...

    @property
    def verdict(self) -> Verdict:
        """What it was."""
        ...

    @property
    def blame(self) -> Blame:
        """The verdict's class."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A judged answer as the store keeps it.

    `at` is the store's time when the answer counted (came to its end, or to the slow limit in silence), `began` the
    store's time when its request began; both in seconds since 1970. `late` says that the asker's own slow limit passed
    in silence.
    """

    answer: Answer
    verdict: Verdict
    blame: Blame
    at: float
    began: float
    late: bool = False


@dataclass(frozen=True, slots=True)
class Bin:
    """How many reports of each kind counted in the `BIN_S` seconds from `start` (store's time) on."""

    start: float
    ok: int = 0
    failure: int = 0
    nothing: int = 0
    late: int = 0

    @property
    def bad(self) -> int:
        """Slow and failed ones."""
        return self.failure + self.late

    @property
    def told(self) -> int:
        """Those that say how well the target answers."""
        return self.ok + self.bad


# The width of a bin; the store's script counts in the same.
BIN_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """What is known of a target: its newest answers, how many agents reported, and its usual speed.

    `probes` and `reports` are the newest entries, oldest first; each keeps a row of its own. Where agents report much,
    not each report is kept, but each is counted in `bins` (oldest first).
    """

    probes: tuple[Entry, ...] = ()
    reports: tuple[Entry, ...] = ()
    bins: tuple[Bin, ...] = ()
    usual: Usual = UNKNOWN


_REFUSALS = frozenset({Verdict.QUOTA, Verdict.AUTH, Verdict.NOT_FOUND})
_IN_BAND = {
    Fault.RATE_LIMITED: Verdict.RATE_LIMITED,
    Fault.QUOTA: Verdict.QUOTA,
    Fault.AUTH: Verdict.AUTH,
    Fault.NOT_FOUND: Verdict.NOT_FOUND,
}


# Looking up a member of an enumeration costs more than all the rest of weighing.
_OK, _FAILURE = Blame.OK, Blame.PROVIDER_FAILURE
_GOOD, _SLOW, _REFUSED, _THROTTLED, _NOTHING = (
    Weight.GOOD,
    Weight.SLOW,
    Weight.REFUSED,
    Weight.THROTTLED,
    Weight.NOTHING,
)


def weigh(entry: Told, policy: Policy) -> Weight:
    """What an entry means to the circuit: nothing that the caller did wrong counts, and nothing that we did."""
    answer = entry.answer
    if answer.suspect_timing or answer.self_suspect:
        return _NOTHING
    if entry.blame is _FAILURE:
        return _weigh_failure(entry, policy)
    first_byte_s = answer.first_byte_s
    if answer.streamed and (answer.seconds >= policy.slow_s if first_byte_s is None else first_byte_s > policy.slow_s):
        return _SLOW  # whatever the asker's own limit was; a plain answer has none
    return _GOOD if entry.blame is _OK else _NOTHING


def _weigh_failure(entry: Told, policy: Policy) -> Weight:
    said = failure(entry)
    if said is Verdict.RATE_LIMITED:
        return Weight.THROTTLED
    if said not in _REFUSALS:
        return Weight.FAILED
    # Where nothing is probed, nobody else can find out whether the fault is the target's or one agent's.
    asked_by_agent = entry.answer.source is Source.REPORT
    return Weight.FAILED if asked_by_agent and not policy.probing else Weight.REFUSED


def failure(entry: Told) -> Verdict:
    """What an entry was, where its provider said so also inside a 200."""
    if entry.verdict is Verdict.ERROR_EVENT and entry.answer.fault in _IN_BAND:
        return _IN_BAND[entry.answer.fault]
    return entry.verdict


def tells(entry: Entry, policy: Policy) -> bool:
    """Whether an entry stands in a row: what an agent was refused may be its own fault, and asks for a probe only."""
    return stands(entry, weigh(entry, policy))


def stands(entry: Entry, weight: Weight) -> bool:
    """The same, of an entry that has been weighed."""
    if weight is _REFUSED:
        return entry.answer.source is Source.PROBE
    return weight is not _NOTHING and weight is not _THROTTLED


def asks(answer: Answer, weight: Weight) -> bool:
    """Whether an answer of this weight asks for a probe that confirms it."""
    return weight is not _GOOD and (weight.bad or (weight is _THROTTLED and answer.source is Source.REPORT))


def telling(entries: Iterable[Entry], policy: Policy, since: float) -> list[Entry]:
    """The entries that count, of requests that began after `since`, in the order in which they counted.

    An answer that had to wait for the store comes later than it counted.
    """
    told = (e for e in entries if e.began > since and tells(e, policy))
    return sorted(told, key=lambda entry: entry.at)


def wait_s(entry: Entry) -> float | None:
    """An entry's first byte, or how long it was silent in vain; None for a plain answer, which has none."""
    answer = entry.answer
    if not answer.streamed:
        return None
    return answer.seconds if answer.first_byte_s is None else answer.first_byte_s


def row(entries: Iterable[Entry], policy: Policy, *, bad: bool) -> list[Entry]:
    """The longest unbroken run of bad (or good) entries at the end. Give it telling entries only."""
    return unbroken(entries, policy, lambda weight: weight.bad is bad)


def unbroken(entries: Iterable[Entry], policy: Policy, belongs: Callable[[Weight], bool]) -> list[Entry]:
    """The longest run of entries at the end whose weights belong to it, none further apart than the policy's gap.

    The gap runs from the end of one to the begin of the next: answers that take long are no further apart for that.
    """
    run: list[Entry] = []
    for entry in reversed(list(entries)):
        if not belongs(weigh(entry, policy)) or (run and run[-1].began - entry.at > policy.row_gap_s):
            break
        run.append(entry)
    return run[::-1]
