"""One step of an agent: attempts at one or more targets until an answer may be shown, or nothing more can be tried."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from breaker.answer import Ended
from breaker.attempt.again import Next, Tried, next_try
from breaker.attempt.asked import Asked
from breaker.attempt.attempt import Attempt
from breaker.attempt.calm import calmer
from breaker.attempt.limits import Limits
from breaker.attempt.place import Place
from breaker.attempt.words import Stand
from breaker.verdict import Verdict

_NEVER = float("inf")


class Begin(NamedTuple):
    """Send this attempt, and feed it."""

    attempt: Attempt


class Wait(NamedTuple):
    """Wait until an attempt under way stands otherwise than held, or until the moment has come."""

    until: float


class Drop(NamedTuple):
    """Close the connection of this attempt; it has lost."""

    attempt: Attempt


class Show(NamedTuple):
    """Show this attempt: what was held back, and what still comes. Where it is bad, it is the provider's own error."""

    attempt: Attempt


class Refuse(NamedTuple):
    """No answer came: tell the caller so."""

    tried: Sequence[Tried]


Act = Begin | Wait | Drop | Show | Refuse


class Step:
    """What to do next, asked again whenever something may have changed.

    `first` is where the first attempt goes, `besides` gives the best other target than those named, None for none.
    `began` and all `now` are seconds on one monotonic clock. `hedge_s` is how long after the first attempt's begin a
    second one is sent beside it to another target; None for never. `new_id` makes ids of attempts, `chance` random
    numbers from 0 to 1. `tried` are the attempts that failed; one that had been shown can fail still, and who asks what
    to do then gets the next. What had no end is asked once more with the least of reasoning; `calm` asks for that from
    the first.
    """

    def __init__(
        self,
        asked: Asked,
        first: Place,
        besides: Callable[[Collection[str]], Place | None],
        limits: Limits,
        *,
        began: float,
        new_id: Callable[[], str],
        chance: Callable[[], float],
        hedge_s: float | None = None,
        calm: bool = False,
    ) -> None:
        self.tried: list[Tried] = []
        self.running: list[Attempt] = []
        self.dropped: list[Attempt] = []
        self._asked = asked
        self._besides = besides
        self._limits = limits
        self._began = began
        self._new_id = new_id
        self._chance = chance
        self._calm = calm
        self._hedge_s = hedge_s
        self._first = first
        self._next: Next | None = Next(first, began)
        self._last: Attempt | None = None
        self._winner: Attempt | None = None

    @property
    def made(self) -> int:
        """How many attempts were made so far, with those that lost to another."""
        return len(self.tried) + len(self.running) + len(self.dropped)

    def next(self, now: float) -> Act:
        """What to do now."""
        self._sort_out(now)
        if self._winner is not None:
            return self._end(self._winner, now)
        if self.running:
            return self._beside(now)
        if self._next is None or self.made >= self._limits.attempts:
            return self._give_up()
        return Wait(self._next.at) if now < self._next.at else self._begin(self._next.place, now)

    # Inside

    def _sort_out(self, now: float) -> None:
        """Look at what runs: the first good one wins, bad ones are noted."""
        for attempt in list(self.running):
            if attempt.stand is Stand.GOOD and self._winner is None:
                self._winner = attempt
            elif attempt.stand is Stand.BAD:
                self._note(attempt, now)

    def _note(self, attempt: Attempt, now: float) -> None:
        self.running.remove(attempt)
        if attempt is self._winner:
            self._winner = None
        if self._last is None or not attempt.refused_ours:
            self._last = attempt
        answer, _ = attempt.ended
        self.tried.append(Tried(attempt.place, attempt.verdict, attempt.began + answer.seconds, answer.retry_after_s))
        self._next = next_try(
            self._besides(self._met),
            self.tried,
            self._limits,
            began=self._began,
            now=now,
            chance=self._chance(),
            calm=self._calm,
        )

    def _end(self, winner: Attempt, now: float) -> Act:
        for attempt in self.running:
            if attempt is not winner:
                self.running.remove(attempt)
                self.dropped.append(attempt)
                attempt.end(Ended.CANCELLED, now)
                return Drop(attempt)
        return Show(winner)

    @property
    def _met(self) -> set[str]:
        """The targets that were asked."""
        return {one.place.target for one in self.tried} | {one.place.target for one in self.running}

    def _beside(self, now: float) -> Act:
        """While one runs: wait for it, or send another beside it when its time has come."""
        if self._hedge_s is None or len(self.running) > 1 or self.made >= self._limits.attempts:
            return Wait(_NEVER)
        at = self.running[0].began + self._hedge_s
        if now < at:
            return Wait(at)
        self._hedge_s = None
        place = self._besides(self._met)
        return Wait(_NEVER) if place is None else self._begin(place, now)

    def _begin(self, place: Place, now: float) -> Begin:
        left = self.made + 1 < self._limits.attempts
        met = {one.verdict for one in self.tried}
        attempt = Attempt(
            self._asked,
            place,
            self._limits,
            id=self._new_id(),
            began=now,
            leaves=left and self._hedge_s is None,
            doubts=left and Verdict.GATEWAY_TEXT not in met,
            stands_in=place.target != self._first.target,
            more=calmer(self._asked, place.base_url) if self._calm or Verdict.LOOP in met else {},
        )
        self.running.append(attempt)
        return Begin(attempt)

    def _give_up(self) -> Act:
        """The provider's own error says more than we could."""
        last = self._last
        if last is not None and (last.ended.answer.status or 0) >= 300:
            return Show(last)
        return Refuse(tuple(self.tried))
