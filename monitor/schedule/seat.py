"""One target's place among the probes: what is under way, what is due besides its turns, which turns are left out."""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from breaker.answer import Part, Source
from breaker.circuit import Circuit
from breaker.log import Entry, Weight, weigh
from breaker.switchboard import Judged
from monitor.budget import SLOWED, Level
from monitor.metrics import Skip
from monitor.settings import TargetPlan

# After a hold's end the circuit may close at once, on the probes of the hold; a half-open probe waits for that.
SETTLING_S = 0.1
# Ids of answers that were heard; the log holds fewer.
HEARD = 256
_LONG_AGO = float("-inf")


class Now(NamedTuple):
    """A moment on our monotonic clock and on the store's, with all that a decision looks at."""

    here: float
    store: float
    circuit: Circuit
    level: Level


class Extra(NamedTuple):
    """A probe besides the regular turns: when (monotonic), and the answer that it confirms."""

    at: float
    confirms: str | None


class Seat:
    """At most one probe waits for its first byte here; moments are monotonic seconds."""

    def __init__(self, plan: TargetPlan, first_at: float) -> None:
        self.plan = plan
        self._first_at: float | None = first_at
        self._holder: object | None = None
        self._began_at = _LONG_AGO
        self._confirm: Extra | None = None
        self._confirmed: deque[str] = deque(maxlen=32)
        self._heard: deque[str] = deque(maxlen=HEARD)
        self._good_report_at = _LONG_AGO
        self._bad_at = _LONG_AGO

    # The place

    @property
    def taken(self) -> bool:
        """Whether a probe waits for its first byte."""
        return self._holder is not None

    def take(self, now: float) -> object:
        """Take the place for a probe that begins now; gives what `free` wants back."""
        self._holder, self._began_at, self._first_at = object(), now, None
        return self._holder

    def free(self, holder: object) -> None:
        """Give the place free, if this holder still has it. May be called twice."""
        if self._holder is holder:
            self._holder = None

    # What was heard

    def hear(self, judged: Judged, now: float) -> None:
        """Take note of an answer, whoever saw it; a bad one of a closed circuit asks for a confirming probe."""
        answer, reading = judged.answer, judged.reading
        circuit = judged.move.circuit if judged.move else reading.circuit
        entry = Entry(
            answer=answer,
            verdict=judged.judgement.verdict,
            blame=judged.judgement.blame,
            at=reading.now,
            began=reading.now - answer.began_ago_s,
            late=answer.part is Part.LATE,
        )
        self._heard.append(answer.id)
        self._note(entry, circuit, now)

    def overhear(self, reports: Iterable[Entry], now: Now) -> None:
        """Take note of agents' reports that another process took in, from the log; each counts here once."""
        for entry in reports:
            ago_s = now.store - entry.at
            if entry.answer.id not in self._heard and ago_s <= self.plan.policy.row_gap_s:
                self._heard.append(entry.answer.id)
                self._note(entry, now.circuit, now.here - max(ago_s, 0.0))

    def _note(self, entry: Entry, circuit: Circuit, at: float) -> None:
        weight = weigh(entry, self.plan.policy)
        if weight.bad:
            self._bad_at = max(self._bad_at, at)
            if entry.began > circuit.moved_at:
                self._ask(entry.answer.id, circuit, at)
        elif weight is Weight.GOOD and entry.answer.source is Source.REPORT:
            self._good_report_at = max(self._good_report_at, at)

    def _ask(self, answer: str, circuit: Circuit, now: float) -> None:
        """Ask for the confirmation of an answer, unless one is pending; both parts of an answer ask once."""
        if circuit.open_until is None and self._confirm is None and answer not in self._confirmed:
            self._confirm = Extra(now + self.plan.policy.confirm_s, answer)
            self._confirmed.append(answer)

    # What is due

    def besides(self, now: Now) -> Extra | None:
        """The next probe besides the turns; None for none, and while the place is taken."""
        if now.circuit.open_until is not None:
            self._confirm = None
        if self.taken:
            return None
        found = [self._half_open(now), self._confirm, None if self._first_at is None else Extra(self._first_at, None)]
        due = min((extra for extra in found if extra is not None), key=lambda extra: extra.at, default=None)
        if due is None or now.level is not Level.SPENT:
            return due
        return due._replace(at=max(due.at, self._began_at + self.plan.policy.interval_s))

    def start(self, extra: Extra) -> None:
        """An extra probe begins; its confirmation isn't pending any more."""
        if extra.confirms is not None:
            self._confirm = None

    def _half_open(self, now: Now) -> Extra | None:
        if now.circuit.open_until is None:
            return None
        over_at = now.here + now.circuit.open_until - now.store
        if self._began_at < over_at:
            return Extra(over_at + SETTLING_S, None)
        return Extra(self._began_at + self.plan.policy.half_open_s, None)

    def skip(self, turn: int, now: Now) -> Skip | None:
        """Why the regular turn with this number is left out now; None if it isn't."""
        if now.circuit.open_until is not None and now.store >= now.circuit.open_until:
            return Skip.HALF_OPEN
        if self.taken:
            return Skip.OVERLAP
        if self._confirm is not None and self._confirm.at < now.here + self.plan.policy.interval_s:
            return Skip.CONFIRMING
        if now.level is Level.SPENT and turn % SLOWED:
            return Skip.BUDGET
        return Skip.FRESH if self._is_fresh(now) else None

    def _is_fresh(self, now: Now) -> bool:
        """Whether agents have said that all is well within this interval, and nobody anything else."""
        if not self.plan.probe.skip_when_fresh or now.circuit.open_until is not None:
            return False
        since = now.here - self.plan.policy.interval_s
        return self._good_report_at > since and self._bad_at <= since
