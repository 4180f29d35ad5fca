"""One target's place among the probes: what is under way, what is due besides its turns, which turns are left out."""

from collections import deque
from typing import NamedTuple

from breaker.answer import Source
from breaker.circuit import Cause, Circuit
from breaker.log import Log, Told, Weight, asks, weigh
from breaker.store.claim import Grant, Need, Wish
from breaker.switchboard import Judged
from monitor.budget import SLOWED, Level
from monitor.metrics import Skip
from monitor.schedule.timetable import Phase
from monitor.settings import TargetPlan

# After a hold's end the circuit may close at once, on the probes of the hold; a half-open probe waits for that.
SETTLING_S = 0.1
# A probe besides the turns that another process's claim keeps back is tried again after this, or after half the pace of
# half-open probes where that is shorter.
AGAIN_S = 1.0
# Half-open probes of two processes may come closer than their pace by this share of it: clocks are compared with the
# store's over a network.
PACE_SLACK = 0.05
# Of a group of targets that opened at once, the last one's half-open probes come later by this share of their pace.
APART = 0.5
# Ids of answers that were heard; the log holds fewer.
HEARD = 256
_LONG_AGO = float("-inf")
# Looking up a member of an enumeration costs more than comparing it.
_GOOD, _REPORT = Weight.GOOD, Source.REPORT


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


class Once(NamedTuple):
    """One probe besides: when (monotonic), and since when (store) another's does as well; None: it is the first."""

    at: float
    since: float | None


class Seat:
    """At most one probe waits for its first byte here; moments are monotonic seconds.

    `phase` is that of the target's turns on the store's clock; `place` (0 to less than 1) is the target's among all, so
    that not all half-open probes come at once.
    """

    def __init__(self, plan: TargetPlan, first_at: float, phase: Phase | None = None, place: float = 0.0) -> None:
        self.renew(plan, phase or Phase(0.0, plan.policy.interval_s), place)
        self._once: Once | None = Once(first_at, None)
        self._holder: object | None = None
        self._began_at = _LONG_AGO  # the newest probe that is known, whoever sent it
        self._before: tuple[float, Once | None] = (_LONG_AGO, None)  # what the last take has changed
        self._not_before = _LONG_AGO
        self._confirm: Extra | None = None
        self._asked_at = 0.0  # when the answer counted that is to be confirmed, by the store's clock
        self._confirmed: deque[str] = deque(maxlen=32)
        self._heard: deque[str] = deque(maxlen=HEARD)
        self._good_report_at = _LONG_AGO
        self._bad_at = _LONG_AGO

    def renew(self, plan: TargetPlan, phase: Phase, place: float) -> None:
        """Go by another plan; a probe that is under way keeps its own."""
        self.plan = plan
        self._phase = phase
        self._apart_s = place * APART * plan.policy.half_open_s

    # The place

    @property
    def taken(self) -> bool:
        """Whether a probe waits for its first byte."""
        return self._holder is not None

    def take(self, now: float) -> object:
        """Take the place for a probe that begins now; gives what `free` wants back."""
        self._before = self._began_at, self._once
        self._holder, self._began_at, self._once = object(), now, None
        return self._holder

    def free(self, holder: object) -> None:
        """Give the place free, if this holder still has it. May be called twice."""
        if self._holder is holder:
            self._holder = None

    def refused(self, holder: object, extra: Extra, wish: Wish, grant: Grant, now: float) -> None:
        """Give the place back unused: another process's probe does as well, or keeps this one back until later."""
        self.free(holder)
        self._began_at, once = self._before
        if grant.began_ago_s is not None:
            self._began_at = max(self._began_at, now - grant.began_ago_s)
        if wish.need is Need.TURN:
            if grant.again_in_s is not None:
                self._once = Once(now + grant.again_in_s, wish.since)
            elif once is not None and once.at > now:
                self._once = once  # a turn was needless, the first probe is another matter
            return
        if wish.need is Need.CONFIRM:
            self._once = once
        self._not_before = now + min(AGAIN_S, self.plan.policy.half_open_s / 2)
        if wish.need is Need.CONFIRM and not grant.needless and self._confirm is None:
            self._confirm = extra

    # What another's probe may do as well

    def turn(self, number: int) -> Wish:
        """The wish for the turn with this number."""
        return self._wish(Need.TURN, self._phase.moment(number))

    def wish(self, extra: Extra, now: Now) -> Wish:
        """The wish for a probe besides the turns; asked before its place is taken."""
        if extra.confirms is not None:
            return self._wish(Need.CONFIRM, self._asked_at)
        over = now.circuit.open_until
        if over is not None and now.store >= over:
            pace_s = self._pace_s(now) * (1 - PACE_SLACK)
            return self._wish(Need.PACE, max(over, now.store - pace_s))
        if self._once is not None and self._once.since is not None:
            return self._wish(Need.TURN, self._once.since)
        return self._first(now)

    def _first(self, now: Now) -> Wish:
        """A first probe is the newest turn, late; and the next one in advance, where that is nearer."""
        number, _ = self._phase.newest(now.store)
        following = self._phase.moment(number + 1)
        near = following - now.store < self.plan.policy.interval_s / 2
        return self._wish(Need.TURN, self._phase.moment(number))._replace(covers=following if near else 0.0)

    def _wish(self, need: Need, since: float) -> Wish:
        return Wish(need, since, within_s=self.plan.policy.interval_s)

    def _pace_s(self, now: Now) -> float:
        policy = self.plan.policy
        return policy.interval_s if now.level is Level.SPENT else policy.half_open_s

    # What was heard

    def hear(self, judged: Judged, now: float) -> None:
        """Take note of an answer, whoever saw it; a bad one of a closed circuit asks for a confirming probe."""
        answer, reading = judged.answer, judged.reading
        circuit = judged.move.circuit if judged.move else reading.circuit
        self._heard.append(answer.id)
        weight = self._note(judged, now)
        if asks(answer, weight) and reading.now - answer.began_ago_s - judged.waited_s > circuit.moved_at:
            self._ask(answer.id, reading.now, circuit, now)

    def overhear(self, log: Log, now: Now) -> None:
        """Take note of what other processes heard, from the log; each agent's report counts here once."""
        # What somebody has begun to confirm since is confirmed, though under the first one's id.
        confirmed = max((entry.began for entry in log.probes if entry.answer.confirms is not None), default=0.0)
        for entry in log.reports:
            ago_s = now.store - entry.at
            if entry.answer.id not in self._heard and ago_s <= self.plan.policy.row_gap_s:
                self._heard.append(entry.answer.id)
                at = now.here - max(ago_s, 0.0)
                weight = self._note(entry, at)
                if asks(entry.answer, weight) and entry.at > confirmed and entry.began > now.circuit.moved_at:
                    self._ask(entry.answer.id, entry.at, now.circuit, at)
        pending = self._confirm
        if pending is not None and any(entry.answer.confirms == pending.confirms for entry in log.probes):
            self._confirm = None

    def _note(self, told: Told, at: float) -> Weight:
        """Remember when an answer of its weight was last heard of; gives the weight."""
        weight = weigh(told, self.plan.policy)
        if weight is _GOOD:
            if told.answer.source is _REPORT:
                self._good_report_at = max(self._good_report_at, at)
        elif weight.bad or weight is Weight.THROTTLED:
            self._bad_at = max(self._bad_at, at)
        return weight

    def _ask(self, answer: str, counted_at: float, circuit: Circuit, now: float) -> None:
        """Ask for the confirmation of an answer, unless one is pending; both parts of an answer ask once."""
        if circuit.open_until is None and self._confirm is None and answer not in self._confirmed:
            self._confirm = Extra(now + self.plan.policy.confirm_s, answer)
            self._confirmed.append(answer)
            self._asked_at = counted_at

    # What is due

    def besides(self, now: Now) -> Extra | None:
        """The next probe besides the turns; None for none, and while the place is taken."""
        if now.circuit.open_until is not None:
            self._confirm = None
        if self.taken:
            return None
        if (over_at := self._paused_until(now)) is not None:
            self._once = Once(over_at + SETTLING_S, now.circuit.open_until)
        found = [self._half_open(now), self._confirm, None if self._once is None else Extra(self._once.at, None)]
        due = min((extra for extra in found if extra is not None), key=lambda extra: extra.at, default=None)
        if due is None:
            return None
        earliest = self._not_before
        if now.level is Level.SPENT:
            earliest = max(earliest, self._began_at + self.plan.policy.interval_s)
        return due._replace(at=max(due.at, earliest))

    def start(self, extra: Extra) -> None:
        """An extra probe begins; its confirmation isn't pending any more."""
        if extra.confirms is not None:
            self._confirm = None

    def _paused_until(self, now: Now) -> float | None:
        """The end of a pause for which the provider has asked (our own clock): probes would only keep it alive.

        Where it has named none and too much was asked, the circuit is open for a whole hold, and is probed in it.
        """
        circuit = now.circuit
        if circuit.cause is not Cause.RATE_LIMITED or circuit.open_until is None or now.store >= circuit.open_until:
            return None
        named = circuit.open_until < circuit.moved_at + self.plan.policy.hold_s
        return now.here + circuit.open_until - now.store if named else None

    def _half_open(self, now: Now) -> Extra | None:
        if now.circuit.open_until is None:
            return None
        over_at = now.here + now.circuit.open_until - now.store
        if self._began_at < over_at:
            return Extra(over_at + SETTLING_S + self._apart_s, None)
        return Extra(self._began_at + self.plan.policy.half_open_s, None)

    def skip(self, turn: int, now: Now) -> Skip | None:
        """Why the regular turn with this number is left out now; None if it isn't."""
        if now.circuit.open_until is not None and now.store >= now.circuit.open_until:
            return Skip.HALF_OPEN
        if self._paused_until(now) is not None:
            return Skip.RATE_LIMITED
        return Skip.OVERLAP if self.taken else self.needless(turn, now)

    def needless(self, turn: int, now: Now) -> Skip | None:
        """Why the turn with this number is left out by what has been heard; None if it isn't."""
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
