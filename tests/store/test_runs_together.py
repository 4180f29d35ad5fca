"""A run that several tell of at once: whoever dies, whatever comes twice, the store holds the same in the end."""

import asyncio
import random

import pytest

from breaker.done import DEFAULT_BOUNDS, decide
from breaker.run import Fact, Outcome, State, fold
from breaker.store.redis import RedisStore
from breaker.switchboard.listeners import Concluded, Listeners, Staged
from breaker.switchboard.runs import Runs
from breaker.verdict import Blame, Verdict
from tests.run.made import answer, bad, check, read, wrote

FACTS: list[Fact] = [
    answer(1, calls="aa"),
    wrote("a", 2, State.EXECUTING),
    wrote("a", 3, State.UNKNOWN),
    answer(4, calls="bb"),
    read("look", 5),
    wrote("a", 6, State.SUCCEEDED),
    wrote("mail", 7, State.EXECUTING, needs=("a",)),
    wrote("mail", 8, State.SUCCEEDED, needs=("a",)),
    bad(9, Verdict.EMPTY, Blame.PROVIDER_FAILURE),
    check(10, Outcome.PASSED),
    answer(11),
]


@pytest.mark.parametrize("seed", range(6))
async def test_many_who_tell_at_once_come_to_what_one_comes_to(store: RedisStore, seed: int) -> None:
    chance = random.Random(seed)
    staged: list[Staged] = []
    concluded: list[Concluded] = []
    listeners = Listeners(staged=(staged.append,), concluded=(concluded.append,))
    replicas = [Runs(store.runs, listeners) for _ in range(3)]

    async def tell(facts: list[Fact]) -> None:
        """A process of the agent's; it tells all that it knows again wherever it isn't sure."""
        for fact in chance.sample(facts, len(facts)):
            await chance.choice(replicas).add("goal-17", [fact])

    seen = []
    halves = chance.sample(FACTS, len(FACTS))
    for some in (halves[:4], halves[:8], halves):
        await asyncio.gather(*(tell(some) for _ in range(3)))
        decisions = await asyncio.gather(*(one.done("goal-17", DEFAULT_BOUNDS) for one in replicas * 2))
        seen.append({one is not None and one.decision == decide(fold(some)) for one in decisions})

    assert seen == [{True}] * 3
    assert len(staged) == 6
    assert len(concluded) <= 6
    assert concluded[-1].decision.completion_allowed
