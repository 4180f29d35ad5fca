"""Reports that are only counted are told in short, which changes nothing of what is kept."""

import itertools
import random
from dataclasses import replace

import pytest

from breaker.answer import Answer
from breaker.history import Keep
from breaker.log import Log
from breaker.store.keeping import Keeping
from breaker.store.redis import RedisStore
from tests.store.answers import NOW, failed, good, late, names, refused, weighed
from tests.store_server import StoreServer

KEEP = Keep(10**9, None)  # a slot in which all of a test falls
KINDS = (good, failed, refused, late)


class Blunt(RedisStore):
    """A store that tells everything in full."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type] # whatever a store takes
        self._keeping = Forgetful()


class Forgetful(dict[str, Keeping]):
    """Keeps nothing."""

    def __setitem__(self, _: str, __: Keeping) -> None:
        """Forget it."""


def flood(chance: random.Random) -> list[list[Answer]]:
    """Batches of reports, most of them good; some come twice, some are old, some had a late part before."""
    weights, made = chance.choice([(1, 0, 0, 0), (60, 1, 0, 1), (10, 3, 1, 1)]), []
    for number in range(240):
        kind, name = chance.choices(KINDS, weights)[0], str(chance.choices([number, chance.randrange(240)], [9, 1])[0])
        old = chance.choice([0.0] * 30 + [10.0, 400.0])  # so that those of one batch part at the same moments
        answer = kind(name)
        made.append(answer if kind is late else replace(answer, seconds=0.0, age_s=old))
    sizes = [chance.choice([1, 3, 30, 100]) for _ in made]
    ends = [0, *(sum(sizes[: i + 1]) for i in range(len(sizes)))]
    return [made[begin:end] for begin, end in itertools.pairwise(ends) if begin < len(made)]


def alike(log: Log, target: str) -> list[object]:
    """What a log's entries are, of whichever target and whenever they counted."""
    return [(retold(entry.answer, target), entry.verdict, entry.late) for entry in (*log.probes, *log.reports)]


@pytest.mark.parametrize("keep", [KEEP, Keep(10**9, 0.01)], ids=["probed", "not probed"])
@pytest.mark.parametrize("seed", range(8))
async def test_what_was_told_in_short_is_kept_as_what_was_told_in_full(
    store: RedisStore, server: StoreServer, seed: int, keep: Keep
) -> None:
    blunt = Blunt(store._servers, store._limit_s)
    batches = flood(random.Random(seed))
    for attempt in range(5):
        short, full = f"short/{attempt}", f"full/{attempt}"
        began = (await store.look(short)).now
        counted = []
        for teller, target in ((store, short), (blunt, full)):
            answers = [[weighed(retold(answer, target)) for answer in batch] for batch in batches]
            readings = [await teller.record(batch, NOW, keep) for batch in answers]
            counted.append([reading.counted for reading in readings])
        if readings[-1].now // 10 == began // 10:  # else not all were counted in the same bins
            break

    assert counted[0] == counted[1]
    found = [(await store.look(target)).log for target in (short, full)]
    assert alike(found[0], full) == alike(found[1], full)
    with server.raw() as raw:
        for kind in ("bins", "ids"):
            read = raw.lrange if kind == "bins" else raw.zrange
            kept = [read(f"firstbyte:{{{target}}}:{kind}", 0, -1) for target in (short, full)]
            assert kept[0] == kept[1]
    histories = await store.histories([short, full])
    assert histories[short].slots == histories[full].slots
    assert [one.first_byte_s for one in histories[short].samples[:1]] == [
        one.first_byte_s for one in histories[full].samples[:1]
    ]


def retold(answer: Answer, target: str) -> Answer:
    return replace(answer, target=target)


async def test_of_a_flood_most_is_told_in_short(store: RedisStore, server: StoreServer) -> None:
    async def sent(first: int) -> int:
        with server.raw() as raw:
            before = raw.info("stats")["total_net_input_bytes"]
            await store.record([weighed(good(str(first + i), seconds=0.0)) for i in range(100)], NOW, KEEP)
            return int(raw.info("stats")["total_net_input_bytes"]) - int(before)

    told = [await sent(100 * number) for number in range(4)]

    assert min(told[1:]) < told[0] / 3


async def test_what_others_have_changed_meanwhile_is_asked_for(store: RedisStore, server: StoreServer) -> None:
    await store.record([weighed(good(str(i), seconds=0.0)) for i in range(100)], NOW, KEEP)
    with server.raw() as raw:
        raw.flushall()

    reading = await store.record([weighed(good(f"more-{i}", seconds=0.0)) for i in range(30)], NOW, KEEP)

    assert reading.counted == (True,) * 30
    assert names(reading.log.reports) == [f"more-{i}" for i in range(20)]
    assert [entry.answer.text_chars for entry in reading.log.reports] == [9] * 20
