"""One of several processes that report of many targets; says at its end what it was told of each answer, as JSON."""

import asyncio
import json
import random
import sys
import time

from breaker.answer import Source
from breaker.circuit import Move
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.redis import RedisStore
from breaker.switchboard import Judged, Listeners, Switchboard
from breaker.target import Provider, Target
from tests.flows.replica import kept
from tests.store.answers import failed, good

# Short holds, so that circuits open and close many times; no slumps, since what is usual is learnt in no fixed order.
SHORT = {"hold_s": 0.3, "interval_s": 0.5, "jitter_s": 0.0, "half_open_s": 0.1, "wary_s": 0.2, "slump": False}
POLICIES = (
    Policy(**SHORT),  # type: ignore[arg-type] # numbers and a flag
    Policy(**SHORT, errors_row=3, recover_row=1, hold_growth=2.0, hold_max_s=0.6),  # type: ignore[arg-type]
    Policy(**SHORT, rate_answers=6, throttled_row=2),  # type: ignore[arg-type]
    Policy(**SHORT, errors_row=1, probing=False, silence_s=0.2),  # type: ignore[arg-type]
)
TARGETS = tuple(
    Target(provider=Provider(name=f"p{i}", base_url="http://x/v1", wire="openai-chat"), model="m") for i in range(20)
)
POLICY_OF = {target.name: POLICIES[i % len(POLICIES)] for i, target in enumerate(TARGETS)}
AGENTS = 4


class Crowd:
    """Agents and probers of one process, and what they were told."""

    def __init__(self, url: str, name: str, answers: int) -> None:
        self.name = name
        self.chance = random.Random(name)
        self.todo = iter(range(answers))
        self.judged: list[list[object]] = []
        self.moved: list[list[object]] = []
        self.store = RedisStore.from_url(url, limit_s=20)
        routes = [Route(name="coder", targets=TARGETS)]
        listeners = Listeners(judged=(self._judged,), moved=(self._moved,))
        self.board = Switchboard(self.store, routes, POLICY_OF, listeners)

    def _judged(self, judged: Judged) -> None:
        reading = judged.reading
        circuit = reading.circuit
        stood = (circuit.epoch, circuit.generation)
        self.judged.append([judged.answer.facts(), reading.now, judged.waited_s, *stood])

    def _moved(self, target: str, move: Move) -> None:
        self.moved.append([target, move.circuit.generation])

    async def work(self) -> None:
        """Report until nothing is left to do, for every target good times and bad times."""
        for number in self.todo:
            target = self.chance.choice(TARGETS).name
            bad = self.chance.random() < (0.6 if number // 300 % 2 else 0.05)
            facts: dict[str, object] = {"status": self.chance.choice([500, 500, 500, 402, 429])} if bad else {}
            source = Source.PROBE if self.chance.random() < 0.4 else Source.REPORT
            make = failed if bad else good
            await self.board.report(make(f"{self.name}-{number}", target=target, source=source, seconds=0.0, **facts))


async def main(url: str, name: str, answers: str) -> None:
    """A process's whole life; begins when it is told to."""
    crowd = Crowd(url, name, int(answers))
    print("ready", flush=True)  # noqa: T201 # whoever started this process reads it
    await asyncio.to_thread(sys.stdin.readline)
    began = time.monotonic()
    async with kept(crowd.board, every_s=0.2):
        await asyncio.gather(*(crowd.work() for _ in range(AGENTS)))
        took_s = time.monotonic() - began
    await crowd.board.refresh()
    await crowd.store.close()
    print(json.dumps({"judged": crowd.judged, "moved": crowd.moved, "took_s": took_s}))  # noqa: T201 # as above


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
