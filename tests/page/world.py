"""A door over a real store in the situations that its page is looked at in."""

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx

from breaker.answer import Answer, Ended, Finish, Source
from breaker.api import Access, Besides, create_app
from breaker.api.notices import Spent
from breaker.api.route.desk import Desk
from breaker.history import Keep
from breaker.log import Entry, weigh
from breaker.policy import Policy
from breaker.route import Route
from breaker.store.contract import Weighed
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from breaker.target import Provider, Target
from breaker.verdict import judge
from monitor.listening import bind, serving
from monitor.settings import Door
from tests.boards import kept_fresh
from tests.store_server import StoreServer

POLICY = Policy()


def _target(provider: str, model: str) -> Target:
    account = Provider(name=provider, base_url=f"https://{provider}.example/v1", wire="openai-chat", api_key_env="KEY")
    return Target(provider=account, model=model)


FIRST = _target("aurora", "swift-1")
SECOND = _target("borealis", "swift-1")
THIRD = _target("cirrus", "steady-2")
FOURTH = _target("dorado", "steady-2")
# As in the demonstration.
TARGETS = (FIRST, SECOND, THIRD, FOURTH)
ROUTES = (
    Route(name="coder", targets=TARGETS[:3]),
    Route(name="writer", targets=TARGETS[2:]),
)
SPENT = [
    Spent(provider="aurora", tokens=8_412_000, usd=3.78, share=0.76),
    Spent(provider="borealis", tokens=7_920_300, usd=2.1, share=0.21),
    Spent(provider="cirrus", tokens=6_105_120, usd=None, share=None),
    Spent(provider="dorado", tokens=6_240_700, usd=None, share=None),
]


async def spent() -> list[Spent]:
    """What probes have cost."""
    return SPENT


@dataclass(frozen=True)
class World:
    """A door at `url`, its board and its store."""

    url: str
    board: Switchboard
    store: RedisStore
    server: StoreServer
    _numbers: Iterator[int]

    async def answers(self, target: Target, *, good: bool, times: int = 1) -> None:
        """A target's probes answer well, or with an error; the road of every answer."""
        for _ in range(times):
            await self.board.report(probe(target, f"now-{next(self._numbers)}", status=200 if good else 500))

    async def gone(self) -> None:
        """The store dies, and the door has noticed."""
        self.server.kill()
        async with asyncio.timeout(120):
            while not self.board.stale():  # noqa: ASYNC110 # it is noticed by the clock
                await asyncio.sleep(0.02)


def probe(
    target: Target, name: str, *, first_byte_s: float = 1.2, age_s: float | None = None, status: int = 200
) -> Answer:
    """A probe's answer; one that failed had no first byte."""
    good = status == 200
    return Answer(
        target=target.name,
        id=name,
        source=Source.PROBE,
        ended=Ended.COMPLETE,
        finish=Finish.STOP if good else None,
        seconds=first_byte_s + 2.0 if good else 0.4,
        first_byte_s=first_byte_s if good else None,
        age_s=age_s,
        status=status,
        text_chars=200 if good else None,
        end_mark=True if good else None,
    )


async def play_a_day(store: RedisStore, target: Target, usual_s: float, seed: int) -> None:
    """Let the store hear of a day of probes that have waited for so long: some slow, some failed, most good."""
    chance = random.Random(seed)
    troubles = {chance.randrange(200, 1300): chance.choice(["slow", "failed"]) for _ in range(3)}
    for ago in range(1439, 1, -1):
        trouble = next((kind for at, kind in troubles.items() if at - 12 < ago <= at and chance.random() < 0.8), "")
        first_byte_s = 40 + 30 * chance.random() if trouble == "slow" else usual_s * chance.lognormvariate(0, 0.3)
        answer = probe(
            target,
            f"then-{ago}",
            first_byte_s=first_byte_s,
            age_s=60.0 * ago + first_byte_s + 2,
            status=500 if trouble == "failed" else 200,
        )
        await store.record([_weighed(answer)], 0.0, Keep.of(POLICY, Source.PROBE))


def _weighed(answer: Answer) -> Weighed:
    judgement = judge(answer)
    entry = Entry(answer=answer, verdict=judgement.verdict, blame=judgement.blame, at=0.0, began=0.0)
    return Weighed(answer=answer, judgement=judgement, weight=weigh(entry, POLICY), since=0.0)


@contextlib.asynccontextmanager
async def world(server: StoreServer, *, a_day: bool = False) -> AsyncIterator[World]:
    """A door over this server's store, in which all targets are well; `a_day` plays a day of theirs before."""
    server.fresh()
    store = RedisStore.from_url(server.url, limit_s=2.0)
    try:
        if a_day:
            for number, target in enumerate(TARGETS):
                await play_a_day(store, target, usual_s=(0.9, 1.6, 2.4, 1.9)[number], seed=number)
        board = Switchboard(store, ROUTES, {target.name: POLICY for target in TARGETS})
        await board.refresh()
        desk = Desk.over(board)
        app = create_app(board, access=Access(), desk=desk, besides=Besides(spent=spent))
        listening = bind(Door(port=0))
        async with kept_fresh(board), serving(app, listening) as url:
            made = World(url, board, store, server, itertools.count())
            for target in TARGETS:
                await made.answers(target, good=True)
            try:
                yield made
            finally:
                desk.close()
    finally:
        await store.close()


async def tasks(made: World) -> None:
    """Agents tell of three tasks, of which one would have been called done though its last answer was none."""
    async with httpx.AsyncClient(base_url=made.url, trust_env=False, timeout=60) as door:
        for run, text in (("goal-1", 812), ("goal-2", 0), ("goal-3", 431)):
            step = probe(TARGETS[1], f"{run}-a").facts() | {"text_chars": text, "seq": 1, "tool_calls": 0}
            step.pop("source")
            taken = await door.post(f"/runs/{run}/steps", json=[step])
            assert (taken.status_code, taken.json()["problems"]) == (202, []), taken.text
            assert (await door.get(f"/runs/{run}/done")).status_code == 200


SITUATIONS = {
    "well": "All is well: 2 routes on their primaries.",
    "backup": "coder is on its backup: aurora/swift-1 fails",
    "no target": "coder has no working target and goes to aurora/swift-1 as a last resort.",
    "store gone": "The store hasn't answered for",
}


async def come_to(made: World, situation: str) -> None:
    """Let a situation come about."""
    out = {"backup": TARGETS[:1], "no target": TARGETS, "store gone": TARGETS[:1]}.get(situation, ())
    for target in out:
        await made.answers(target, good=False, times=2)
    if situation == "store gone":
        await made.gone()
