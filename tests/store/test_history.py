"""What the store keeps of a target's last day: counts in slots, and first bytes."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from breaker import history
from breaker.answer import Answer, Ended, Source
from breaker.circuit import hold
from breaker.errors import StoreGoneError
from breaker.history import NOTHING, RANKS, History, Keep, Slot
from breaker.log import Weight
from breaker.policy import Policy
from breaker.store import codec
from breaker.store.redis import RedisStore
from breaker.switchboard import Switchboard
from tests.fixtures import PATIENT_S
from tests.scenarios.boards import board_over
from tests.store.answers import KEEP, NOW, TARGET, failed, good, late, probe, record, refused, weighed
from tests.store.conftest import Kind

AGENTS = Keep(960, 10.0)
WIDE = Keep(10**9, 0.0)  # a slot in which all of a test falls


def counts(**numbers: int) -> tuple[int, ...]:
    return tuple(numbers.get(weight.value, 0) for weight in RANKS)


async def kept(store: RedisStore, *answers: Answer, keep: Keep = WIDE) -> History:
    """What is kept after these, handed in one by one."""
    for answer in answers:
        await store.record([weighed(answer)], NOW, keep)
    return (await store.histories([TARGET]))[TARGET]


async def only_slot(store: RedisStore, *answers: Answer) -> Slot:
    (slot,) = (await kept(store, *answers)).slots
    return slot


async def test_of_a_target_that_was_never_asked_nothing_is_kept(store: RedisStore) -> None:
    assert await store.histories([TARGET, "another/one"]) == {TARGET: NOTHING, "another/one": NOTHING}


async def test_answers_are_counted_by_who_asked_and_what_they_mean(store: RedisStore) -> None:
    slot = await only_slot(
        store,
        probe("a"),
        probe("b", status=500, first_byte_s=None),
        probe("c", status=429, first_byte_s=None),
        probe("d", status=401, first_byte_s=None),
        probe("e", first_byte_s=43.0, seconds=44.0),
        good("f"),
        failed("g"),
        refused("h"),
    )

    assert slot.probes == counts(good=1, failed=1, throttled=1, refused=1, slow=1)
    assert slot.reports == counts(good=1, failed=1, nothing=1)
    assert (slot.worst, slot.verdict, slot.out) == (Weight.REFUSED, "auth", 0)


async def test_a_slot_is_as_long_as_it_is_told_and_begins_with_the_clock(store: RedisStore) -> None:
    reading = await record(store, probe("a"))
    (slot,) = (await store.histories([TARGET]))[TARGET].slots

    assert slot.length_s == KEEP.slot_s == 960
    assert slot.start % 960 == 0
    assert slot.start <= reading.now


async def test_an_answer_that_waited_is_counted_when_it_counted(store: RedisStore) -> None:
    await store.record([weighed(good("a")), weighed(good("b", age_s=3002.0))], NOW, KEEP)

    found = (await store.histories([TARGET]))[TARGET]
    first, second = sorted(slot.start for slot in found.slots)
    assert 2 * 960 <= second - first <= 4 * 960
    assert [round(found.samples[1].at - found.samples[0].at, 3)] == [3000.0]


async def test_an_answer_that_comes_again_is_counted_once(store: RedisStore) -> None:
    found = await kept(store, probe("a"), probe("a"))

    assert (found.slots[0].answers, len(found.samples)) == (1, 1)


async def test_an_answer_in_two_parts_is_counted_once_and_its_first_byte_is_the_one_that_came(
    store: RedisStore,
) -> None:
    found = await kept(
        store,
        late("a", source=Source.PROBE),
        probe("a", first_byte_s=52.0, seconds=60.0),
        late("a", source=Source.PROBE),
    )

    assert found.slots[0].probes == counts(slow=1)
    assert [(sample.first_byte_s, sample.weight) for sample in found.samples] == [(52.0, Weight.SLOW)]


async def test_a_sample_without_a_first_byte_is_one_too(store: RedisStore) -> None:
    silent = probe("a", status=None, first_byte_s=None, seconds=120.0)
    found = await kept(store, replace(silent, ended=Ended.SILENCE, finish=None), probe("b", first_byte_s=1e-05))

    assert [(sample.first_byte_s, sample.weight) for sample in found.samples] == [
        (None, Weight.FAILED),
        (1e-05, Weight.GOOD),
    ]


async def test_every_report_is_counted_also_where_few_are_kept_one_by_one(store: RedisStore) -> None:
    for first in range(0, 300, 100):
        await store.record([weighed(good(str(first + i))) for i in range(100)], NOW, WIDE)

    (slot,) = (await store.histories([TARGET]))[TARGET].slots
    assert slot.reports == counts(good=300)


async def test_reports_give_a_sample_only_as_often_as_they_are_asked_to(store: RedisStore) -> None:
    ages = [60.0, 55.0, 49.0, 41.0, 38.0, 0.0]
    answers = [good(f"{age_s}", seconds=0.0, age_s=age_s) for age_s in ages]

    thinned = await kept(store, *answers, keep=AGENTS)
    newest = thinned.samples[-1].at

    assert [round(newest - sample.at) for sample in thinned.samples] == [60, 49, 38, 0]


async def test_a_clock_that_was_set_back_stops_no_sample(store: RedisStore) -> None:
    found = await kept(store, good("a", seconds=0.0), good("b", seconds=0.0, age_s=86_400.0), keep=AGENTS)

    assert len(found.samples) == 2
    assert found.samples[0].at < found.samples[1].at


async def test_without_being_asked_to_none_is_kept(store: RedisStore) -> None:
    assert (await kept(store, good("a"), keep=Keep(960, None))).samples == ()


async def test_what_comes_while_the_circuit_is_out_is_counted_as_that(store: RedisStore) -> None:
    before = await record(store, probe("a"))
    opened = replace(before.circuit, generation=1, open_until=before.now + 600, moved_at=before.now)
    await store.apply(
        TARGET, hold(before.circuit, before.now, opened=True, who="a", why="b", until=1e11), before.circuit
    )
    held = await record(store, probe("b"))
    closed = hold(held.circuit, held.now, opened=False, who="a", why="b", until=1e11)
    await store.apply(TARGET, replace(closed, circuit=replace(closed.circuit, open_until=1e11)), held.circuit)
    kept_in_use = await record(store, probe("c"))
    by_itself = replace(closed, circuit=replace(opened, generation=kept_in_use.circuit.generation + 1))
    await store.apply(TARGET, by_itself, kept_in_use.circuit)
    await record(store, probe("d"))

    found = (await store.histories([TARGET]))[TARGET]
    assert sum(slot.out for slot in found.slots) == 2
    assert sum(slot.answers for slot in found.slots) == 4


async def test_slots_and_samples_are_bounded_the_newest_stay(store: RedisStore) -> None:
    lasts_s = 960.0
    for number in range(history.SLOTS + 10, -1, -1):
        await store.record([weighed(probe(f"{number}", seconds=0.0, age_s=number * lasts_s))], NOW, KEEP)
    for first in range(0, history.SAMPLES, 64):
        await store.record([weighed(good(f"r{first + i}", first_byte_s=float(i))) for i in range(64)], NOW, KEEP)

    found = (await store.histories([TARGET]))[TARGET]
    assert len(found.slots) == history.SLOTS
    assert max(slot.start for slot in found.slots) - min(slot.start for slot in found.slots) == 960 * (
        history.SLOTS - 1
    )
    assert len(found.samples) == history.SAMPLES
    assert {sample.first_byte_s for sample in found.samples} == {float(i) for i in range(64)}


async def test_it_is_garbage_after_a_month(store: RedisStore, server: Kind) -> None:
    await record(store, probe("a"))

    with server.raw() as raw:
        lives = [raw.ttl(f"firstbyte:{{{TARGET}}}:{name}") for name in ("slots", "samples")]
    assert all(29 * 86_400 < ttl <= 30 * 86_400 for ttl in lives)


async def test_what_another_version_wrote_is_left_out_and_counted_anew(store: RedisStore, server: Kind) -> None:
    await record(store, probe("a"))
    slots, samples = (f"firstbyte:{{{TARGET}}}:{name}" for name in ("slots", "samples"))
    with server.raw() as raw:
        (start,) = raw.hkeys(slots)
        raw.hset(slots, start, "960 0 what")
        raw.hset(slots, "yesterday", "960 0 0 ok " + "0 " * 11 + "0")
        raw.rpush(samples, "1 2", "soon\0- 0", "1796040000 nan 0", "1796040000 1.0 7")

    found = await kept(store, probe("b"))

    assert sorted(slot.answers for slot in found.slots) == [1] * len(found.slots)
    assert [sample.first_byte_s for sample in found.samples] == [1.0, 1.0]


async def test_keys_of_another_kind_leave_out_their_target_alone(store: RedisStore, server: Kind) -> None:
    await record(store, probe("a"))
    with server.raw() as raw:
        raw.set("firstbyte:{p/m}:slots", "no hash")

    found = await store.histories(["p/m", TARGET])

    assert list(found) == [TARGET]


async def test_it_survives_whoever_wrote_it(store: RedisStore, server: Kind) -> None:
    written = await kept(store, probe("a"), good("b"))
    another = RedisStore.from_url(server.url, limit_s=PATIENT_S)
    try:
        assert (await another.histories([TARGET]))[TARGET] == written
    finally:
        await another.close()


async def test_many_at_once_lose_no_count(store: RedisStore) -> None:
    await asyncio.gather(*(store.record([weighed(good(f"{i}"))], NOW, WIDE) for i in range(50)))

    (slot,) = (await store.histories([TARGET]))[TARGET].slots
    assert slot.answers == 50


async def test_who_looks_back_sees_what_was_recorded_by_whomever(store: RedisStore) -> None:
    here, there = board_over(store), board_over(store)
    name = here.standings()[0].target.name
    await here.refresh()
    await here.report(good("a", target=name))
    await there.look_back()

    assert sum(slot.answers for slot in there.history(name).slots) == 1


async def test_while_the_store_is_gone_the_last_day_stays_as_it_was_known(store: RedisStore) -> None:
    class Gone(RedisStore):
        async def histories(self, targets: object) -> dict[str, History]:
            raise StoreGoneError("the store doesn't answer")

    board = board_over(store)
    name = board.standings()[0].target.name
    await board.refresh()
    await board.report(good("a", target=name))
    await board.look_back()
    known = board.history(name)
    board._looked_back_at = None
    board._store = object.__new__(Gone)
    await board.look_back()

    assert board.history(name) == known != NOTHING


def test_the_script_counts_in_the_same_numbers() -> None:
    text = (Path(codec.__file__).parent / "history.lua").read_text()
    (numbers,) = re.findall(r"^local SLOTS, SAMPLES, RANKS = (\d+), (\d+), (\d+)$", text, re.MULTILINE)

    assert tuple(map(int, numbers)) == (history.SLOTS, history.SAMPLES, len(RANKS))


@pytest.mark.parametrize("policy", [Policy(), Policy(interval_s=0.05)])
def test_a_slots_length_is_a_whole_number_of_seconds(policy: Policy) -> None:
    assert isinstance(Keep.of(policy, Source.PROBE).slot_s, int)


def test_a_board_without_a_store_knows_nothing_of_the_last_day(store: RedisStore) -> None:
    board: Switchboard = board_over(store)

    assert board.history(board.standings()[0].target.name) is NOTHING
