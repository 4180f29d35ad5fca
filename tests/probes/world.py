"""A prober at work: simulated providers, a store, a switchboard that is kept fresh, all answers and moves."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from breaker.answer import Answer, Ended, Part, Source
from breaker.circuit import Move
from breaker.errors import StoreGoneError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Listeners, Network, Switchboard
from breaker.target import Provider, Target
from breaker.verdict import Blame
from monitor.metrics import Metrics, Skip
from monitor.schedule import Prober
from monitor.settings import ProbeShape, Settings, TargetPlan
from monitor.simulator import Simulator

# A minute is a second; a first byte at once, so that nothing on a busy machine looks slow.
POLICY = Policy(
    slow_s=0.7,
    hold_s=2.0,
    interval_s=1.0,
    jitter_s=0.0,
    confirm_s=0.1,
    half_open_s=0.25,
    silence_s=2.0,
    row_gap_intervals=4.0,
    fresh_intervals=4.0,
    silent_intervals=8.0,
)
HEALTHY = "healthy,first_byte_s=0.01,spread=0,headers_s=0.01,tokens_per_s=2000"
_ids = itertools.count()


def plan(simulator: Simulator, name: str, policy: Policy = POLICY, **more: object) -> TargetPlan:
    """A simulated target's plan, with small probes."""
    provider, _, model = name.partition("/")
    account = Provider(name=provider, base_url=simulator.base_url(provider), wire="openai-chat")
    told = {"probe": ProbeShape(prompt_tokens=1_500)} | more
    return TargetPlan(target=Target(provider=account, model=model), policy=policy, **told)  # type: ignore[arg-type]


def settings(plans: Iterable[TargetPlan]) -> Settings:
    """One route over all plans."""
    chosen = tuple(plans)
    route = Route(name="coder", targets=tuple(plan.target for plan in chosen))
    return Settings(targets=chosen, routes=(route,), data=Path("/nowhere"))


def report(target: str, *, good: bool) -> Answer:
    """An agent's report of an answer that came just now."""
    return Answer(
        target=target,
        id=f"report-{next(_ids)}",
        ended=Ended.COMPLETE,
        seconds=0.1,
        status=200 if good else 500,
        first_byte_s=0.05 if good else None,
        end_mark=True if good else None,
        text_chars=5 if good else None,
    )


@dataclass
class World:
    """All that happened, in its order."""

    board: Switchboard
    prober: Prober
    metrics: Metrics
    judged: list[Judged] = field(default_factory=list)
    moves: list[tuple[str, Move]] = field(default_factory=list)
    happened: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, met: Callable[[], object], within_s: float = 60.0) -> None:
        """Wait until a condition is met; it is looked at after each answer and move, and now and then besides."""
        async with asyncio.timeout(within_s):
            while not met():
                self.happened.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await self.happened.wait()

    async def until_awaited(self, look: Callable[[], Awaitable[None]], met: Callable[[], object]) -> None:
        """Look again and again until a condition is met."""
        async with asyncio.timeout(60):
            await look()
            while not met():
                await asyncio.sleep(0.05)
                await look()

    def probes(self, target: str) -> list[Answer]:
        """The probes that counted, each once, in the order of their ends."""
        return [a for a in self._answers(target) if a.source is Source.PROBE and a.part is Part.FINAL]

    def good(self, target: str) -> list[Answer]:
        """The probes that were well."""
        return [j.answer for j in self.judged if j.answer.target == target and j.judgement.blame is Blame.OK]

    def heard(self, target: str) -> list[Answer]:
        """All that counted or could have counted, both parts of an answer."""
        return self._answers(target)

    def lates(self, target: str) -> list[Answer]:
        """The late parts that counted."""
        return [answer for answer in self._answers(target) if answer.part is Part.LATE]

    def skipped(self, cause: Skip) -> float:
        """How often a probe was left out."""
        return self.metrics.registry.get_sample_value("firstbyte_probes_skipped_total", {"cause": cause.value}) or 0.0

    def _answers(self, target: str) -> list[Answer]:
        return [judged.answer for judged in self.judged if judged.answer.target == target]


@contextlib.asynccontextmanager
async def world(
    chosen: Settings, store: RedisStore, network: Network | None = None, *, refresh_s: float = 0.02
) -> AsyncIterator[World]:
    """A prober that runs until the block ends."""
    metrics = Metrics(chosen)
    prober = Prober(chosen, {}, store, metrics)
    judged: list[Judged] = []
    moves: list[tuple[str, Move]] = []
    happened = asyncio.Event()

    def hear(answer: Judged) -> None:
        judged.append(answer)
        happened.set()

    def see(target: str, move: Move) -> None:
        moves.append((target, move))
        happened.set()

    board = Switchboard(
        store,
        chosen.routes,
        {plan.name: plan.policy for plan in chosen.targets},
        Listeners(judged=(metrics.judged, prober.judged, hear), moved=(metrics.moved, see)),
        network,
    )
    metrics.watch(board)
    await board.refresh()
    keeping = asyncio.create_task(_keep(board, refresh_s))
    await prober.start(board)
    try:
        yield World(board, prober, metrics, judged, moves, happened)
    finally:
        await prober.stop()
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def _keep(board: Switchboard, refresh_s: float) -> None:
    while True:
        with contextlib.suppress(StoreGoneError):
            await board.refresh()
            await board.settle()
        await asyncio.sleep(refresh_s)
