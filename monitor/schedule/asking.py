"""Sends one probe with all that belongs to it: key, connection, permit, report, payment."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from breaker.answer import Answer
from breaker.logged import PROBE_ENDED
from breaker.switchboard import Switchboard
from breaker.verdict import judge
from monitor.lag import LoopLag
from monitor.metrics import Metrics
from monitor.probe import probe
from monitor.probe.connections import Connections
from monitor.schedule.gate import Gate
from monitor.schedule.till import Till
from monitor.settings import TargetPlan

_log = logging.getLogger(__name__)

# Names are looked up in threads, of which asyncio has six on two cores: six names that nobody answers for would make
# every other target unreachable. Threads are made when they are needed.
LOOKUPS = 128


class Asker:
    """Asks targets and reports their answers to a switchboard. Call `start` in the loop and `stop` at the end.

    `keys` maps providers to keys; one that isn't there has none.
    """

    def __init__(self, keys: Mapping[str, str], till: Till, metrics: Metrics, chance: random.Random) -> None:
        self._keys = dict(keys)
        self._till = till
        self._metrics = metrics
        self._chance = chance
        self._lag = LoopLag()
        self._gate = Gate()
        self._connections = Connections()

    def start(self) -> None:
        """Begin to watch our own lag, and make room for names to be looked up."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(LOOKUPS, thread_name_prefix="lookup"))
        self._lag.start()
        self._metrics.watch_lag(self._lag)

    async def stop(self) -> None:
        """Close what is open. May be called twice."""
        await self._lag.stop()
        await self._connections.aclose()

    def renew(self, keys: Mapping[str, str]) -> None:
        """Use other keys from the next probe on."""
        self._keys = dict(keys)

    async def ask(
        self,
        board: Switchboard,
        plan: TargetPlan,
        *,
        planned_at: float,
        confirms: str | None = None,
        silent: Callable[[], Awaitable[None]],
    ) -> None:
        """One probe from its start to its payment.

        `planned_at` (monotonic) is when it should have begun; `silent` is awaited when its first byte is late, after
        that has been reported.
        """
        permit = await self._gate.enter()

        async def late(answer: Answer) -> None:
            permit.leave()
            try:
                await _report(board, answer)
            finally:
                await silent()  # last: before this answer has moved a half-open circuit, another probe would seem due

        self._metrics.started(plan.name, max(0.0, time.monotonic() - planned_at))
        try:
            answer = await self._probe(plan, confirms, late)
        finally:
            permit.leave()
            self._metrics.stopped()
        self._metrics.probed(answer)
        _tell(answer)
        await _report(board, answer)
        await self._till.pay(answer, plan)

    async def _probe(self, plan: TargetPlan, confirms: str | None, late: Callable[[Answer], Awaitable[None]]) -> Answer:
        return await probe(
            plan,
            self._keys.get(plan.target.provider.name),
            chance=self._chance,
            lag=self._lag,
            late=late,
            confirms=confirms,
            connections=self._connections,
            timed=partial(self._metrics.phases, plan.name),
        )


async def _report(board: Switchboard, answer: Answer) -> None:
    """Report an answer, unless its target went while it was under way."""
    if answer.target in board.targets():
        await board.report(answer)


def _tell(answer: Answer) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        judgement = judge(answer)
        about = PROBE_ENDED(
            target=answer.target,
            probe_id=answer.id,
            verdict=judgement.verdict.value,
            first_byte_s=_rounded(answer.first_byte_s),
            headers_s=_rounded(answer.headers_s),
            seconds=_rounded(answer.seconds),
        )
        _log.debug("probe of %s: %s after %.2f s", answer.target, judgement.verdict, answer.seconds, extra=about)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
