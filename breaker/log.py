"""A target's judged answers, in the order in which they counted."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from breaker.answer import Answer
from breaker.policy import Policy
from breaker.verdict import Blame, Verdict


class Weight(Enum):
    """What an answer means to its target's circuit."""

    GOOD = "good"
    SLOW = "slow"
    FAILED = "failed"
    NOTHING = "nothing"

    @property
    def bad(self) -> bool:
        """Slow and failed ones stand in one row."""
        return self in (Weight.SLOW, Weight.FAILED)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """The newest entries of a target, oldest first; probes and agents' reports keep rows of their own."""

    probes: tuple[Entry, ...] = ()
    reports: tuple[Entry, ...] = ()


def weigh(entry: Entry, policy: Policy) -> Weight:
    """What an entry means to the circuit: nothing that the caller did wrong counts, and nothing that we did."""
    if entry.answer.suspect_timing:
        return Weight.NOTHING
    if entry.blame is Blame.PROVIDER_FAILURE:
        return Weight.FAILED
    if _slow(entry.answer, policy.slow_s):
        return Weight.SLOW
    return Weight.GOOD if entry.blame is Blame.OK else Weight.NOTHING


def _slow(answer: Answer, slow_s: float) -> bool:
    """A first byte later than the limit, whatever the asker's own limit was; a plain answer has none."""
    if not answer.streamed:
        return False
    if answer.first_byte_s is None:
        return answer.seconds >= slow_s
    return answer.first_byte_s > slow_s


def telling(entries: Iterable[Entry], policy: Policy, since: float) -> list[Entry]:
    """The entries that count, of requests that began after `since`, in the order in which they counted.

    An answer that had to wait for the store comes later than it counted.
    """
    told = (e for e in entries if e.began > since and weigh(e, policy) is not Weight.NOTHING)
    return sorted(told, key=lambda entry: entry.at)


def row(entries: Iterable[Entry], policy: Policy, *, bad: bool) -> list[Entry]:
    """The longest unbroken run of bad (or good) entries at the end, neighbours no further apart than the policy's gap.

    The gap runs from the end of one to the begin of the next: answers that take long are no further apart for that.
    Give it telling entries only.
    """
    run: list[Entry] = []
    for entry in reversed(list(entries)):
        if weigh(entry, policy).bad is not bad or (run and run[-1].began - entry.at > policy.row_gap_s):
            break
        run.append(entry)
    return run[::-1]
