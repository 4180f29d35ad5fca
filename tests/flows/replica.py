"""One of several replicas on one store, as a process of its own; says at its end what it did and heard, as JSON."""

import asyncio
import contextlib
import json
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

from breaker.answer import Source
from breaker.circuit import Move
from breaker.errors import StoreError
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Listeners, Switchboard
from breaker.target import Provider, Target
from tests.store.answers import failed, good

TARGET = Target(provider=Provider(name="first", base_url="http://x/v1", wire="openai-chat"), model="m")
POLICY = Policy(hold_s=0.2, interval_s=0.5, half_open_s=0.05, wary_s=0.1)
AGENTS, ANSWERS = 3, 120


class Replica:
    """A switchboard that is kept fresh, with agents that report to it."""

    def __init__(self, url: str, name: str) -> None:
        self.chance = random.Random(name)
        self.name = name
        self.sent: list[str] = []
        self.told: list[str] = []
        self.moved: list[int] = []
        self.store = RedisStore.from_url(url)
        listeners = Listeners(judged=(self._judged,), moved=(self._moved,))
        route = Route(name="coder", targets=(TARGET,))
        self.board = Switchboard(self.store, [route], {TARGET.name: POLICY}, listeners)

    def _judged(self, judged: Judged) -> None:
        self.told.append(judged.answer.id)

    def _moved(self, _: str, move: Move) -> None:
        self.moved.append(move.circuit.generation)

    async def work(self) -> None:
        """Report good times and bad times, and wait until all of it was told."""
        await asyncio.gather(*(self._report(agent) for agent in range(AGENTS)))
        async with asyncio.timeout(60):
            while len(self.told) < len(self.sent):  # noqa: ASYNC110 # what is waited for has no event
                await asyncio.sleep(0.01)

    async def _report(self, agent: int) -> None:
        for number in range(ANSWERS):
            bad = self.chance.random() < (0.6 if number // 30 % 2 else 0.05)
            source = Source.PROBE if self.chance.random() < 0.7 else Source.REPORT
            name = f"{self.name}-{agent}-{number}"
            self.sent.append(name)
            await self.board.report((failed if bad else good)(name, target=TARGET.name, source=source, seconds=0.001))
            await asyncio.sleep(self.chance.random() * 0.02)


@contextlib.asynccontextmanager
async def kept(board: Switchboard, *, every_s: float = 0.02) -> AsyncIterator[None]:
    """A board that hears of moves, reads and settles, as the daemon has it, but quicker."""

    async def forever(once: Callable[[], Awaitable[object]]) -> None:
        while True:
            with contextlib.suppress(StoreError):
                await once()
            await asyncio.sleep(every_s)

    tasks = [asyncio.create_task(forever(once)) for once in (board.refresh, board.follow, board.settle)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def main(url: str, name: str) -> None:
    """A replica's whole life."""
    replica = Replica(url, name)
    async with kept(replica.board):
        await replica.work()
    await replica.board.refresh()  # by now the server stands still no more, so what it made without a reply is told
    await replica.store.close()
    print(json.dumps({"sent": replica.sent, "told": replica.told, "moved": replica.moved}))  # noqa: T201 # whoever started this process reads it


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
