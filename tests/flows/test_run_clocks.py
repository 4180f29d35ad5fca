"""Agents' tasks while the store's clock is set, as `tests.store.machine.clock` does that."""

import asyncio
from typing import Any

import pytest

from breaker.done import DEFAULT_BOUNDS, Ground, Ruling
from breaker.run import Outcome, State
from breaker.run.digests import key_of
from breaker.store.redis import RedisStore
from breaker.store.runs import KEPT_S
from breaker.switchboard.listeners import Concluded, Listeners
from breaker.switchboard.runs import Runs
from tests.fixtures import _worker_server, folder, server, store, store_url
from tests.run.made import answer, check, wrote
from tests.store.machine.clock import set_clock_of_runs, shifted_stamp
from tests.store_server import StoreServer

__all__ = ["_worker_server", "folder", "server", "store", "store_url"]

HOUR_S, DAY_S = 3600, 86_400
NAME = key_of("goal")
FACTS, ABOUT = (f"firstbyte:{{run:{NAME}}}:{kind}" for kind in ("facts", "about"))
# What a day ahead leaves of a run is nothing, as the day is over for which it is kept.
JUMPS = [-DAY_S, -HOUR_S, HOUR_S]


class Place:
    """Two replicas on one store, of which one knows what was told, and what they told of decisions."""

    def __init__(self, store: RedisStore, raw: Any) -> None:
        self.told: list[Concluded] = []
        self.raw = raw
        self.warm, self.cold = (Runs(store.runs, Listeners(concluded=(self.told.append,))) for _ in range(2))

    def set_clock(self, by_s: int) -> None:
        """Set the store's clock; what is known in memory is of the old times, as it would be."""
        set_clock_of_runs(self.raw, NAME, by_s)
        folded: Any = self.warm._folded
        if (known := folded.get(NAME, None)) is not None:
            folded.keep(NAME, known._replace(stamp=shifted_stamp(known.stamp, by_s)), known.bytes)

    async def ruling(self, runs: Runs) -> Ruling:
        """What a replica says of the task."""
        made = await runs.done("goal", DEFAULT_BOUNDS)
        assert made is not None
        await runs.drain(60)
        return made.ruling


@pytest.fixture
def place(store: RedisStore, server: StoreServer) -> Any:
    with server.raw() as raw:
        yield Place(store, raw)


@pytest.mark.parametrize("by_s", JUMPS)
async def test_a_task_goes_on_with_all_that_was_told_before_and_after(place: Place, by_s: int) -> None:
    await place.warm.add("goal", [answer(1, calls="refund"), wrote("refund", 2, State.FAILED)])
    before = await place.ruling(place.warm)
    place.set_clock(by_s)
    await place.warm.add("goal", [check(3, Outcome.FAILED), answer(4)])

    after = [await place.ruling(runs) for runs in (place.warm, place.cold)]

    assert Ground.OPERATION_FAILED in before.reasons
    assert after[0] == after[1]
    assert [one.id for one in after[0].failed] == ["refund"]
    assert after[0].last is not None
    assert after[0].last.seq == 4
    assert not after[0].completion_allowed


@pytest.mark.parametrize("by_s", JUMPS)
async def test_a_decision_is_counted_once_however_the_clock_is_set(place: Place, by_s: int) -> None:
    await place.warm.add("goal", [answer(1)])
    await place.ruling(place.warm)
    for jump in (by_s, -by_s):
        place.set_clock(jump)
        for runs in (place.warm, place.cold):
            await place.ruling(runs)

    assert len(place.told) == 1
    assert dict((await place.cold.last(9)).claimed) == {"zai": 1}


@pytest.mark.parametrize("by_s", JUMPS)
async def test_a_task_is_kept_for_a_day_after_what_is_told_of_it_last(place: Place, by_s: int) -> None:
    await place.warm.add("goal", [answer(1)])
    place.set_clock(by_s)
    await place.warm.add("goal", [answer(2)])

    assert all(KEPT_S - 60 < place.raw.ttl(key) <= KEPT_S for key in (FACTS, ABOUT))


async def test_a_clock_set_ahead_by_a_day_forgets_a_task_as_a_whole(place: Place) -> None:
    await place.warm.add("goal", [wrote("refund", 1, State.FAILED), answer(2)])
    await place.ruling(place.warm)
    place.set_clock(DAY_S)

    for runs in (place.warm, place.cold):
        assert (await runs.read("goal")).began is None
        assert (await place.ruling(runs)).reason is Ground.NO_ANSWER


@pytest.mark.parametrize("by_s", [-DAY_S, -HOUR_S, HOUR_S, DAY_S])
async def test_no_decision_seems_to_be_younger_than_one_that_came_later(place: Place, by_s: int) -> None:
    await place.warm.add("goal", [answer(1)])
    await place.ruling(place.warm)
    place.set_clock(by_s)
    await place.warm.add("other", [answer(1)])
    await asyncio.gather(*(place.warm.done("other", DEFAULT_BOUNDS) for _ in range(2)))
    await place.warm.drain(60)
    place.raw.lset("firstbyte:{runs}:last", 0, _earlier(place.raw.lindex("firstbyte:{runs}:last", 0), 30))

    newest, oldest = (await place.cold.last(9)).runs

    assert newest.ago_s >= 30
    assert oldest.ago_s >= max(newest.ago_s, by_s)


def _earlier(line: str, by_s: int) -> str:
    at, _, rest = line.partition(" ")
    return f"{float(at) - by_s} {rest}"
