"""Probes each target at its turns and besides, never two at once, and survives whatever goes wrong in one."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from breaker.api.notices import Notice, Spent
from breaker.errors import StoreError
from breaker.logged import STORE_CLOCK, TURNS_MISSED
from breaker.store.claim import Need, Wish
from breaker.store.contract import Reading
from breaker.switchboard import Judged, Switchboard
from monitor.metrics import Metrics, Skip
from monitor.schedule.asking import Asker
from monitor.schedule.claims import Claim, Claiming, Claims, lease_s
from monitor.schedule.misfits import Misfits
from monitor.schedule.seat import Extra, Now, Seat
from monitor.schedule.spreading import part, shares, wait_s
from monitor.schedule.tasks import Tasks
from monitor.schedule.till import Spending, Till
from monitor.schedule.timetable import Missed, Phase, Timetable
from monitor.settings import Settings

_log = logging.getLogger(__name__)

# At the start the first probes are spread over this, or over an interval where that is shorter.
FIRST_S = 10.0
# What other replicas did, and a wall clock that was set, are noticed within this.
LOOK_S = 0.25
# What is under way when we stop gets this long to close its connections.
STOP_S = 2.0
# Turns that we missed ourselves are logged at most this often.
SAY_S = 60.0
_MISSED = {Missed.LATE: Skip.MISFIRE, Missed.RUNNING: Skip.OVERLAP}


class ProbeStore(Spending, Claiming, Protocol):
    """What is asked of a store besides the switchboard's part."""

    async def look(self, target: str) -> Reading:
        """What is known of a target."""
        ...


class Errand(NamedTuple):
    """A probe that is about to be sent: when it was due (monotonic), what for, and the turn's number if it is one."""

    extra: Extra
    wish: Wish
    turn: int | None = None


class Prober:
    """Probes each target at its turns, and besides: soon after the start, to confirm, and while half-open.

    The turns of targets with the same interval are spread evenly over it, at the same moments of the store's clock
    after every restart and on every replica; each is put off by a part of the policy's jitter that is as good as random
    but the same on every replica, and doesn't move the next. `judged` is a listener for the switchboard. `store` sums
    up what is spent and keeps claims, `keys` maps providers to keys. Of several processes on one store one sends each
    probe, and never is a target probed twice at once (see `Claims`).
    """

    def __init__(
        self,
        settings: Settings,
        keys: Mapping[str, str],
        store: ProbeStore,
        metrics: Metrics,
        chance: random.Random | None = None,
    ) -> None:
        self._plans = [plan for plan in settings.targets if plan.policy.probing]
        self._metrics = metrics
        self._chance = chance or random.SystemRandom()
        self._till = Till(settings.targets, store, metrics)
        self._misfits = Misfits()
        self._store = store
        self._claims = Claims(store)
        self._asker = Asker(keys, self._till, metrics, self._chance)
        self._timetable: Timetable | None = None
        self._phases: dict[str, Phase] = {}
        self._seats: dict[str, Seat] = {}
        self._tasks = Tasks(metrics)
        self._nudge = asyncio.Event()
        self._said_at = float("-inf")
        self._board: Switchboard | None = None

    async def start(self, board: Switchboard) -> None:
        """Begin to probe and to report to this switchboard; targets that it doesn't know are left alone."""
        self._board = board
        self._asker.start()
        self._seat(board)
        self._tasks.spawn("looking for due probes", self._look_forever())

    def renew(self, settings: Settings, keys: Mapping[str, str]) -> None:
        """Probe the targets of other settings from now on. What is under way goes on as it began, and tells something
        if its target is still there.
        """
        self._plans = [plan for plan in settings.targets if plan.policy.probing]
        self._till.renew(settings.targets)
        self._misfits.forget_all_but(settings.plans)
        self._asker.renew(keys)
        if self._board is not None:
            self._seat(self._board)
            self._nudge.set()

    async def overhear(self) -> None:
        """Hear of the reports that other processes took in; a process without a door calls this again and again."""
        assert self._board is not None
        await self._board.look_again()
        for name, seat in list(self._seats.items()):
            seat.overhear(self._board.standing(name).log, self._now(seat))
        self._nudge.set()

    async def stop(self) -> None:
        """End everything, also what is under way, within `STOP_S`. May be called twice."""
        if self._timetable is not None:
            self._timetable.stop()
        await self._tasks.stop(STOP_S)
        await self._claims.close()
        await self._asker.stop()

    def judged(self, judged: Judged) -> None:
        """Hear of an answer that counted, whoever saw it."""
        self._misfits.hear(judged)
        if (seat := self._seats.get(judged.answer.target)) is not None:
            seat.hear(judged, time.monotonic())
            self._nudge.set()

    def notices(self) -> Sequence[Notice]:
        """What people should know of the budgets, and of targets that refuse our probes by our own fault."""
        return [*self._till.notices(), *self._misfits.notices()]

    async def spent(self) -> list[Spent]:
        """What probes have cost today, of each provider."""
        return await self._till.spent()

    # The seats

    def _seat(self, board: Switchboard) -> None:
        """Give each target its seat and its turns; those that had a seat keep it."""
        spread = list(shares([plan for plan in self._plans if plan.name in board.targets()]))
        phases, seats, now = dict[str, Phase](), dict[str, Seat](), time.monotonic()
        for place, (plan, share) in enumerate(spread):
            interval_s, known = plan.policy.interval_s, self._seats.get(plan.name)
            phases[plan.name] = phase = Phase(share * interval_s, interval_s)
            if known is None:
                seats[plan.name] = Seat(plan, now + share * min(interval_s, FIRST_S), phase, place / len(spread))
            else:
                known.renew(plan, phase, place / len(spread))
                seats[plan.name] = known
        self._seats = seats
        if self._timetable is None or phases != self._phases:
            self._call_turns(phases, board)

    def _call_turns(self, phases: dict[str, Phase], board: Switchboard) -> None:
        if self._timetable is not None:
            self._timetable.stop()
        self._phases = phases
        self._timetable = Timetable(phases, self._turn, lambda why: self._miss(_MISSED[why]), clock=board.now)
        self._timetable.start(dict.fromkeys(phases, 0.0))

    # The turns

    def _turn(self, name: str, number: int, late_s: float) -> None:
        seat = self._seats[name]
        policy = seat.plan.policy
        put_off_s = part(name, number) * policy.jitter_s + wait_s(self._chance, policy.interval_s)
        work = self._take_turn(seat, number, time.monotonic() - late_s + put_off_s)
        self._tasks.spawn(f"a turn of {name}", work)

    async def _take_turn(self, seat: Seat, number: int, planned_at: float) -> None:
        await asyncio.sleep(max(0.0, planned_at - time.monotonic()))
        if self._seats.get(seat.plan.name) is not seat:
            return  # it went meanwhile
        cause = seat.skip(number, self._now(seat))
        if cause is None:
            self._begin(seat, Errand(Extra(planned_at, None), seat.turn(number), number))
        else:
            self._metrics.skipped(cause)

    def _miss(self, cause: Skip) -> None:
        """A turn that our own lateness has cost."""
        self._metrics.skipped(cause)
        if time.monotonic() - self._said_at >= SAY_S:
            self._said_at = time.monotonic()
            _log.warning(
                "turns were left out (%s): this process is too busy to probe in time",
                cause.value,
                extra=TURNS_MISSED(cause=cause.value),
            )

    # Besides the turns

    async def _look_forever(self) -> None:
        while True:
            self._nudge.clear()
            try:
                wait_s = self._start_due()
            except Exception as error:  # noqa: BLE001 # a fault of ours must not end all probing
                self._tasks.crashed("looking for due probes", error)
                wait_s = LOOK_S
            try:
                async with asyncio.timeout(wait_s):
                    await self._nudge.wait()
            except TimeoutError:
                pass

    def _start_due(self) -> float:
        """Start what is due besides the turns; gives the seconds until the next look."""
        if self._timetable is not None and self._timetable.check_clock():
            _log.warning("the store's clock or this machine's was set; the turns follow it", extra=STORE_CLOCK())
        next_s = LOOK_S
        for seat in self._seats.values():
            now = self._now(seat)
            if (extra := seat.besides(now)) is None:
                continue
            if extra.at > now.here:
                next_s = min(next_s, extra.at - now.here)
            else:
                seat.start(extra)
                self._begin(seat, Errand(extra, seat.wish(extra, now)))
        return next_s

    # One probe

    def _begin(self, seat: Seat, errand: Errand) -> None:
        """Take the place at once, so that nobody else does before the probe has its first turn."""
        holder = seat.take(time.monotonic())
        self._tasks.spawn(f"a probe of {seat.plan.name}", self._probe(seat, errand, holder))

    async def _probe(self, seat: Seat, errand: Errand, holder: object) -> None:
        """Probe, unless another process does: its probe may do as well, or this one waits for it."""
        try:
            claim = await self._claim(seat, errand, holder)
        except BaseException:
            seat.free(holder)
            raise
        if claim is None:
            self._nudge.set()
            return

        async def free(*, told: bool = True) -> None:
            try:
                await claim.give_back(told=told)  # before our own next probe wants it
            finally:
                seat.free(holder)
                self._nudge.set()

        try:
            await self._ask(seat, errand, claim, free)
        except asyncio.CancelledError:
            await free(told=False)
            raise
        finally:
            await free()

    async def _claim(self, seat: Seat, errand: Errand, holder: object) -> Claim | None:
        """The claim for a probe; None where it isn't given: then the place is free again."""
        policy = seat.plan.policy
        if errand.wish.need is Need.PACE:
            await asyncio.sleep(wait_s(self._chance, policy.half_open_s))
        claim = await self._claims.take(seat.plan.name, lease_s(policy), errand.wish)
        if isinstance(claim, Claim):
            return claim
        self._metrics.lost(seat.plan.name)
        seat.refused(holder, errand.extra, errand.wish, claim, time.monotonic())
        if errand.turn is not None:
            self._metrics.skipped(Skip.CLAIMED)
        return None

    async def _ask(self, seat: Seat, errand: Errand, claim: Claim, free: Callable[[], Awaitable[None]]) -> None:
        assert self._board is not None
        if errand.turn is not None and claim.shared and (cause := await self._heard(seat, errand.turn)) is not None:
            self._metrics.skipped(cause)
            return
        at, confirms = errand.extra
        await self._asker.ask(self._board, seat.plan, planned_at=at, confirms=confirms, silent=free)

    async def _heard(self, seat: Seat, turn: int) -> Skip | None:
        """Why a turn is left out by what other processes heard of the target."""
        try:
            reading = await self._store.look(seat.plan.name)
        except StoreError:
            return None
        if self._seats.get(seat.plan.name) is not seat:
            return None  # it went meanwhile; what has begun goes on
        seat.overhear(reading.log, self._now(seat))
        return seat.needless(turn, self._now(seat))

    def _now(self, seat: Seat) -> Now:
        assert self._board is not None
        standing = self._board.standing(seat.plan.name)
        level = self._till.level(seat.plan.target.provider.name)
        return Now(here=time.monotonic(), store=self._board.now(), circuit=standing.circuit, level=level)
