"""What of a log counts for a circuit at a moment."""

from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from breaker import usual
from breaker.circuit.clock import CLOCK_SLACK_S
from breaker.circuit.words import Cause, Circuit
from breaker.log import BIN_S, Entry, Log, Weight, stands, telling, wait_s, weigh
from breaker.policy import Policy


@dataclass(frozen=True)
class Seen:
    """A target's answers to requests that began after its circuit's last move, each group in the order in which they
    counted; entries that a clock, set back since, has put into the future are left out.
    """

    circuit: Circuit
    log: Log
    policy: Policy
    now: float

    @cached_property
    def probes(self) -> list[Entry]:
        """The probes that stand in a row."""
        return [entry for entry, weight in self._weighed if stands(entry, weight)]

    @cached_property
    def reports(self) -> list[Entry]:
        """The agents' reports that stand in a row."""
        return self._telling(self.log.reports)

    @cached_property
    def asked(self) -> list[Entry]:
        """All probes that say anything, those too of which too much was asked."""
        nothing = Weight.NOTHING
        return [entry for entry, weight in self._weighed if weight is not nothing]

    @cached_property
    def heard(self) -> list[Entry]:
        """All reports that say anything, those too of which too much was asked."""
        reports = sorted(self._since(self.log.reports), key=attrgetter("at"))
        return [entry for entry in reports if weigh(entry, self.policy) is not Weight.NOTHING]

    @property
    def calm(self) -> bool:
        """Whether the newest probe and the newest report are good and not sluggish: then no rule need look further."""
        groups = (self._since(self.log.probes), self._since(self.log.reports))
        # Of two that counted at the same moment the later one in the log is the newest, as in a row.
        newest = [max(reversed(group), key=attrgetter("at")) for group in groups if group]
        return all(weigh(e, self.policy) is Weight.GOOD and not self.sluggish(e) for e in newest)

    @cached_property
    def counted(self) -> tuple[int, int]:
        """How many reports within the window and after the last move were bad, and how many told anything.

        The bin in which the circuit moved holds others too: of its reports those count that were kept one by one.
        """
        since = max(self.now - self.policy.rate_window_s, self.circuit.moved_at)
        bins = [b for b in self.log.bins if since <= b.start <= self.now + CLOCK_SLACK_S]
        split_at = self.circuit.moved_at // BIN_S * BIN_S
        split = [e for e in self.reports if split_at < since <= e.at < split_at + BIN_S]
        bad = sum(b.bad for b in bins) + sum(weigh(e, self.policy).bad for e in split)
        return bad, sum(b.told for b in bins) + len(split)

    @property
    def last_told(self) -> float:
        """When a probe last said anything; the last move where none has since."""
        return self.asked[-1].at if self.asked else self.circuit.moved_at

    @cached_property
    def evidence(self) -> float:
        """How much the probes speak for a slump, 0.0 to `usual.ENOUGH`; at first all where one opened the circuit.

        0.0 where too little is known of what is usual.
        """
        if not self.policy.slump or usual.limit_s(self.log.usual, self.policy) is None:
            return 0.0  # nothing could ever speak against it either
        return usual.evidence(self.log.usual, self.waits, self.policy, start=self._evidence_before)

    @cached_property
    def waits(self) -> list[float]:
        """The first bytes of the probes that count, or how long each was silent."""
        good, slow = Weight.GOOD, Weight.SLOW
        found = [wait_s(e) for e, weight in self._weighed if weight is good or weight is slow]
        return [wait for wait in found if wait is not None]

    def sluggish(self, entry: Entry) -> bool:
        """Whether an answer's first byte came much later than this target's usually do."""
        wait = wait_s(entry)
        return self.policy.slump and wait is not None and usual.sluggish(self.log.usual, wait, self.policy)

    def fresh(self, entry: Entry) -> bool:
        """Whether an entry counted so lately that it may still open a circuit."""
        return self.now - entry.at <= self.policy.row_gap_s

    @cached_property
    def _weighed(self) -> list[tuple[Entry, Weight]]:
        """Each probe with its weight: weighing is most of what a look at a circuit costs, and every rule looks."""
        probes = sorted(self._since(self.log.probes), key=attrgetter("at"))
        return [(entry, weigh(entry, self.policy)) for entry in probes]

    @property
    def _evidence_before(self) -> float:
        slumped = self.circuit.open_until is not None and self.circuit.cause is Cause.SLUMP
        return usual.ENOUGH if slumped else 0.0

    def _since(self, entries: tuple[Entry, ...]) -> list[Entry]:
        latest = self.now + CLOCK_SLACK_S
        return [e for e in entries if e.began > self.circuit.moved_at and e.at <= latest]

    def _telling(self, entries: tuple[Entry, ...]) -> list[Entry]:
        return telling(self._since(entries), self.policy, self.circuit.moved_at) if entries else []
