"""What is known of each route, and what its next step is told."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from breaker.client.said import Decision, Fallback, Needs, Source, primary, spots
from breaker.client.step import Step
from breaker.errors import DoorError, DoorRefusedError

if TYPE_CHECKING:
    from breaker.client.alone import Alone
    from breaker.client.plan import Plan

# No step waits longer for the service: what is left to 50 ms is for everything else.
WAIT_S = 0.025
# Where nothing at all is known, not even that the service doesn't answer, the first step waits for so long. A process
# that has just begun, on a busy machine and with a service far away, may need some of it.
PATIENCE_S = 5.0
# A route that nobody has asked for so long isn't followed any more.
IDLE_S = 600.0
# The most routes that are kept; those asked for longest ago are forgotten.
MOST_ROUTES = 256
# How many of the newest steps are remembered for the time without the service.
MOST_STEPS = 256
# Without the service a decision is looked at again after this.
ALONE_S = 1.0


class Kept:
    """One route as this client knows it. What `Book` guards isn't to be written by others."""

    __slots__ = (
        "asked_at",
        "began",
        "decision",
        "followed",
        "handed",
        "name",
        "refused",
        "said",
        "said_at",
        "settled",
        "until",
        "valid_until",
        "waiting",
    )

    def __init__(self, name: str | None) -> None:
        self.name = name
        # What a step is told without another look, until a monotonic moment.
        self.decision: Decision | None = None
        self.until = 0.0
        self.asked_at = 0.0
        self.handed: str | None = None  # the target that a step was told last
        # What the service said last, when, and until when that holds.
        self.said: Decision | None = None
        self.said_at = 0.0
        self.valid_until = 0.0
        self.refused: DoorError | None = None  # why it said nothing the last time
        # Whether somebody asks the service, since when, and whether the first of these questions has had its end.
        self.followed = False
        self.began = 0.0
        self.settled = False
        self.waiting: list[Callable[[], None]] = []


class Book:
    """All that a client knows. Every method may be called by any thread; none waits for anything.

    With `strict` no step is told again what isn't the service's own word.
    """

    def __init__(self, fallback: Fallback, *, strict: bool) -> None:
        self.kept: dict[str | None, Kept] = {}
        self._lock = threading.RLock()  # a collected object may report, whatever its thread is doing
        self._fallback = fallback
        self._alone_s = 0.0 if strict else ALONE_S
        self._silent = False  # the service was asked in vain, and somebody asks on
        self._steps: deque[Step] = deque(maxlen=MOST_STEPS)
        self._alone: Alone | None = None

    def forked(self) -> None:
        """In a new process: nobody holds the lock, nobody asks or waits."""
        self._lock = threading.RLock()
        self._silent = False
        for kept in self.kept.values():
            kept.followed = kept.settled = False
            kept.waiting.clear()

    # The agents' side

    def ask(self, name: str | None, now: float) -> tuple[Kept, bool]:
        """A route, and whether somebody has to begin to follow it."""
        with self._lock:
            kept = self.kept.get(name)
            if kept is None:
                kept = self.kept[name] = Kept(name)
            kept.asked_at = now
            self._bound()
            begins = not kept.followed
            if begins:
                kept.followed, kept.settled, kept.began = True, False, now
            return kept, begins

    def wait_s(self, kept: Kept, now: float, *, patient: bool, ready: bool) -> float:
        """For how long a step should wait for the service; 0.0 where there is nothing to wait for.

        `ready` says whether who asks the service is: before that, no word of its comes as soon as a step has to go on.
        """
        if kept.settled or now < kept.valid_until:
            return 0.0
        nothing = kept.said is None and not spots(self._fallback, kept.name)
        wait_s = PATIENCE_S if nothing and patient and not self._is_silent(now) else WAIT_S if ready else 0.0
        return max(kept.began + wait_s - now, 0.0)

    def wait(self, kept: Kept, wake: Callable[[], None]) -> bool:
        """Have this called once when the service has said something, or can't; False where it has already."""
        with self._lock:
            if not kept.settled:
                kept.waiting.append(wake)
            return not kept.settled

    def decide(self, kept: Kept, now: float) -> Decision | None:
        """What a step is told; None where nothing is known."""
        with self._lock:
            if kept.said is not None and now < kept.valid_until:
                return _hand(kept, kept.said.aged(now - kept.said_at), kept.valid_until)
            decision = self._without(kept, now)
            return None if decision is None else _hand(kept, decision, now + self._alone_s)

    def fit(self, kept: Kept, decision: Decision, needs: Needs, now: float) -> Decision:
        """The decision for a step with needs: the same where its target can take it."""
        with self._lock:
            found = self._alone and self._alone.fitting(kept.name, needs, kept.said, kept.said_at, now)
            if not found or (found.target == decision.target and found.able):
                return decision
            return _hand(kept, found, 0.0)  # the next step may have other needs

    def besides(self, name: str | None, tried: Collection[str], now: float) -> Decision | None:
        """The best target of a route besides those that were tried; None where none is known."""
        with self._lock:
            kept = self.kept.get(name)
            said, said_at = (None, 0.0) if kept is None else (kept.said, kept.said_at)
            if self._alone is None:
                return self._besides(name, tried, said and said.aged(now - said_at))
            return self._alone.besides(name, tried, said, said_at, now)

    def stepped(self, step: Step) -> None:
        """Remember how a step went; while the service is away, it may change what the next one is told."""
        with self._lock:
            self._steps.append(step)
            for name in self._alone.take(step) if self._alone else ():
                if (kept := self.kept.get(name)) is not None:
                    kept.until = 0.0

    # The side of those who ask the service

    def take(self, kept: Kept, said: Decision, now: float, valid_for_s: float) -> None:
        """The service has said where to."""
        with self._lock:
            said, self._silent = self._with_limits(said), False
            kept.said, kept.said_at, kept.valid_until, kept.refused = said, now, now + valid_for_s, None
            if self._alone:
                self._alone.back(kept.name)
            kept.until = 0.0
            if kept.handed == said.target:  # else the next step is told of the switch
                kept.decision = said
                kept.until = kept.valid_until
            self._settle(kept)

    def lost(self, kept: Kept, why: DoorError) -> None:
        """The service can't be asked, or doesn't say; who waits for what it says of other routes waits in vain, too."""
        with self._lock:
            kept.refused = why
            self._silent = not isinstance(why, DoorRefusedError)
            self._settle(kept)
            if self._silent:
                for other in self.kept.values():
                    _wake(other)

    def leave(self, kept: Kept) -> None:
        """Nobody asks for this route any more."""
        with self._lock:
            kept.followed = False
            self._silent = self._silent and any(other.followed for other in self.kept.values())
            self._settle(kept)

    def end(self) -> None:
        """Nobody asks any more."""
        with self._lock:
            for kept in self.kept.values():
                self.leave(kept)

    def idle(self, kept: Kept, now: float) -> bool:
        """Whether no agent has asked for a route for long."""
        return now - kept.asked_at > IDLE_S or self.kept.get(kept.name) is not kept

    def learn(self, alone: Alone) -> None:
        """The rules are loaded, by which this client can go on by itself."""
        with self._lock:
            self._alone = alone

    def told(self, plan: Plan) -> None:
        """The service has told what decides."""
        with self._lock:
            if self._alone:
                self._alone.told(plan)

    # Inside

    def _is_silent(self, now: float) -> bool:
        """Whether the service is known not to answer: it was asked in vain, or is silent for as long as one waits."""
        with self._lock:
            waited = (k for k in self.kept.values() if k.followed and not k.settled)
            return self._silent or any(now >= k.began + PATIENCE_S for k in waited)

    # Inside, with the lock held

    def _without(self, kept: Kept, now: float) -> Decision | None:
        """What a step is told without the service: its last word, where nothing that is known speaks against it."""
        said = kept.said
        alone = self._alone and self._alone.decide(kept.name, said, kept.said_at, self._steps, now)
        if alone and not (said and alone.source is Source.KEPT and alone.target == said.target):
            return alone
        if said is not None:
            return replace(said.aged(now - kept.said_at), stale=True, source=Source.KEPT)
        known = spots(self._fallback, kept.name)
        return primary(kept.name, known[0]) if known else None

    def _besides(self, name: str | None, tried: Collection[str], said: Decision | None) -> Decision | None:
        """The same while the rules aren't loaded: the service's last word, or the caller's first other target."""
        if said is not None and said.target not in tried:
            return said
        known = spots(self._fallback, name)
        other = next((spot for spot in known if spot["target"] not in tried), None)
        if other is None:
            return None
        role = "primary" if other is known[0] else "backup"
        return replace(primary(name, other), role=role, primary=known[0]["target"])

    def _with_limits(self, said: Decision) -> Decision:
        policy = self._alone and self._alone.policy(said.target)
        return replace(said, slow_s=policy.slow_s, silence_s=policy.silence_s) if policy else said

    def _settle(self, kept: Kept) -> None:
        kept.settled = True
        _wake(kept)

    def _bound(self) -> None:
        while len(self.kept) > MOST_ROUTES:
            oldest = min(self.kept.values(), key=lambda kept: kept.asked_at)
            del self.kept[oldest.name]
            if self._alone:
                self._alone.back(oldest.name)


def _wake(kept: Kept) -> None:
    """Let nobody wait any longer."""
    waiting, kept.waiting = kept.waiting, []
    for wake in waiting:
        wake()


def _hand(kept: Kept, decision: Decision, until: float) -> Decision:
    """Tell a step where to; what the next ones are told is the same, but for the switch."""
    switched = kept.handed is not None and kept.handed != decision.target
    kept.handed, kept.decision, kept.until = decision.target, decision, until
    return replace(decision, switched=True) if switched else decision
