"""What record.lua keeps, merges, drops and bounds."""

import asyncio
import logging
import math
from dataclasses import replace

import pytest

from breaker.answer import Answer, Source
from breaker.circuit import Circuit, due, hold
from breaker.errors import StoreError
from breaker.log import Log
from breaker.policy import Policy
from breaker.store.codec import CIRCUIT_FIELDS
from breaker.store.redis import RedisStore
from breaker.verdict import Verdict
from tests.store.answers import KEEP, NOW, TARGET, failed, good, late, names, probe, record, refused, weighed
from tests.store_server import StoreServer

DAY_S = 86_400


def key(name: str) -> str:
    return f"firstbyte:{{{TARGET}}}:{name}"


def bins(server: StoreServer, target: str = TARGET) -> list[list[int]]:
    """Start, kept, ok, failure, nothing, late of each bin."""
    with server.raw() as raw:
        lines = raw.lrange(f"firstbyte:{{{target}}}:bins", 0, -1)
    return [[int(word) for word in line.split()] for line in lines]


@pytest.mark.parametrize(("said", "age_s"), [(None, 2.0), (7.25, 7.25), (0.0, 0.0)])
async def test_a_request_began_as_long_ago_as_its_age_says_or_its_length(
    store: RedisStore, said: float | None, age_s: float
) -> None:
    reading = await record(store, good("a", age_s=said))

    (entry,) = reading.log.reports
    assert reading.now - entry.began == pytest.approx(age_s, abs=2e-6)
    assert reading.counted == (True,)
    assert not entry.late


@pytest.mark.parametrize(("age_s", "ago_s"), [(None, 0.0), (2.0, 0.0), (0.0, 0.0), (302.0, 300.0)])
async def test_an_answer_counted_when_it_ended_however_long_it_waited(
    store: RedisStore, age_s: float | None, ago_s: float
) -> None:
    reading = await record(store, good("a", age_s=age_s))

    assert reading.now - reading.log.reports[0].at == pytest.approx(ago_s, abs=2e-6)


async def test_an_absurd_age_is_older_than_everything(store: RedisStore) -> None:
    reading = await record(store, good("a", age_s=1e12))

    assert reading.log.reports[0].began == 0.0


async def test_an_answer_comes_back_as_it_was_handed_in(store: RedisStore) -> None:
    answer = probe("a", phrase="no-channel", squeeze=0.25, confirms="b", suspect_timing=True, tool_calls=0)

    reading = await record(store, answer)

    assert reading.log.probes[0].answer == answer


async def test_time_keeps_its_microseconds(store: RedisStore) -> None:
    readings = [await record(store, good(str(i))) for i in range(5)]

    assert any(reading.now * 1e4 % 1 > 0.001 for reading in readings)


async def test_probes_and_reports_keep_lists_of_their_own(store: RedisStore) -> None:
    reading = await record(store, probe("p1"), good("r1"), probe("p2"), good("r2"))

    assert names(reading.log.probes) == ["p1", "p2"]
    assert names(reading.log.reports) == ["r1", "r2"]


async def test_targets_know_nothing_of_each_other(store: RedisStore) -> None:
    await record(store, good("a"))

    reading = await record(store, good("a", target="other/model"))

    assert reading.counted == (True,)
    assert names(reading.log.reports) == ["a"]


@pytest.mark.parametrize(
    ("parts", "counted"),
    [
        ([good("a"), good("a")], [True, False]),
        ([late("a"), late("a")], [True, False]),
        ([good("a"), late("a")], [True, False]),
        ([late("a"), good("a"), good("a")], [True, True, False]),
        ([late("a"), good("a"), late("a")], [True, True, False]),
        ([good("a"), failed("a")], [True, False]),
    ],
    ids=["final twice", "late twice", "late after final", "both, final again", "both, late again", "another verdict"],
)
async def test_each_part_of_an_id_counts_once_and_makes_one_entry(
    store: RedisStore, parts: list[Answer], counted: list[bool]
) -> None:
    readings = [await record(store, part) for part in parts]

    assert [reading.counted[0] for reading in readings] == counted
    assert names(readings[-1].log.reports) == ["a"]


async def test_a_repeated_answer_changes_nothing(store: RedisStore, server: StoreServer) -> None:
    first = await record(store, good("a"))
    before = bins(server)

    again = await record(store, failed("a", age_s=99.0))

    assert again.log == first.log
    assert bins(server) == before


async def test_a_final_part_merges_into_its_late_part_where_that_stands(store: RedisStore) -> None:
    first = await record(store, late("slow", source=Source.PROBE), probe("quick"))

    reading = await record(store, probe("slow", first_byte_s=43.0, seconds=44.0))

    merged, other = reading.log.probes
    assert (merged.answer.id, merged.verdict, merged.late) == ("slow", Verdict.OK, True)
    assert (merged.at, merged.began) == (first.log.probes[0].at, first.log.probes[0].began)
    assert merged.answer.first_byte_s == 43.0
    assert other.answer.id == "quick"


async def test_a_final_part_finds_its_late_part_though_the_ids_are_forgotten(
    store: RedisStore, server: StoreServer
) -> None:
    await record(store, late("a", source=Source.PROBE))
    with server.raw() as raw:
        raw.delete(key("ids"))

    reading = await record(store, probe("a", seconds=44.0))

    assert [(entry.answer.id, entry.late) for entry in reading.log.probes] == [("a", True)]


@pytest.mark.parametrize(
    "name",
    ['","at":1,"began":2,"late":true,"kind":"late', "\n", "}{", "%d%1", "\ud800", "é€", "\\", '"', "late a", "'"],
)
async def test_an_id_may_be_any_text(store: RedisStore, name: str) -> None:
    reading = await record(store, late(name), good("x"), good(name), good(name), late(name))

    assert [(entry.answer.id, entry.late) for entry in reading.log.reports] == [(name, True), ("x", False)]
    assert reading.counted == (False,)


async def test_only_the_newest_32_probes_are_kept(store: RedisStore) -> None:
    reading = await record(store, *(probe(str(i)) for i in range(40)))

    assert names(reading.log.probes) == [str(i) for i in range(8, 40)]
    assert (await store.look(TARGET)).log == reading.log


async def test_only_the_newest_64_reports_are_kept(store: RedisStore) -> None:
    mixed = [failed(str(i)) if i % 2 else good(str(i)) for i in range(80)]

    reading = await record(store, *mixed)

    assert names(reading.log.reports) == [str(i) for i in range(16, 80)]
    assert (await store.look(TARGET)).log == reading.log


async def test_a_flood_of_one_kind_is_counted_rather_than_kept(store: RedisStore, server: StoreServer) -> None:
    reading = await record(store, *(good(str(i)) for i in range(100)))

    found = bins(server)
    assert sum(ok for _, _, ok, *_ in found) == 100
    assert all(kept <= 20 and start % 10 == 0 for start, kept, *_ in found)
    assert len(reading.log.reports) == sum(kept for _, kept, *_ in found)
    assert reading.counted == (True,)


async def test_a_flood_hides_no_row_of_another_kind(store: RedisStore) -> None:
    await record(store, *(good(str(i)) for i in range(60)))

    reading = await record(store, *(failed(f"bad{i}") for i in range(16)))

    assert names(reading.log.reports)[-16:] == [f"bad{i}" for i in range(16)]


async def test_each_kind_has_a_column_of_its_own(store: RedisStore, server: StoreServer) -> None:
    await record(store, good("a"), failed("b"), failed("c"), refused("d"), late("e"), probe("f"))

    assert [sum(column) for column in zip(*(row[1:] for row in bins(server)), strict=True)] == [5, 1, 2, 1, 1]


async def test_an_answer_that_was_only_counted_is_known_all_the_same(store: RedisStore, server: StoreServer) -> None:
    flood = [late(str(i)) for i in range(60)]
    await record(store, *flood)
    kept = names((await store.look(TARGET)).log.reports)
    counted_only = next(answer.id for answer in flood if answer.id not in kept)

    again = await record(store, late(counted_only))
    final = await record(store, good(counted_only))
    final_again = await record(store, good(counted_only))

    assert [reading.counted[0] for reading in (again, final, final_again)] == [False, True, False]
    assert counted_only not in names(final_again.log.reports)
    assert [sum(column) for column in zip(*(row[2:] for row in bins(server)), strict=True)] == [0, 0, 0, 60]


async def test_a_late_part_after_a_final_one_that_was_only_counted_is_dropped(store: RedisStore) -> None:
    kept = names((await record(store, *(good(str(i)) for i in range(60)))).log.reports)
    counted_only = next(str(i) for i in range(60) if str(i) not in kept)

    assert (await record(store, late(counted_only))).counted == (False,)


async def test_a_bin_of_another_version_stays_beside_ours(store: RedisStore, server: StoreServer) -> None:
    await record(store, probe("a"))
    with server.raw() as raw:
        ((seconds, _), places) = raw.time(), range(60)
        theirs = [f"{seconds // 10 * 10 + 10 * place} 1 1 0 0 0 of-a-later-version" for place in places]
        raw.rpush(key("bins"), *theirs)

        reading = await record(store, good("b"), failed("c"))

        left = raw.lrange(key("bins"), 0, -1)
    assert sum(one.ok for one in reading.log.bins) == sum(one.failure for one in reading.log.bins) == 1
    assert names(reading.log.reports) == ["b", "c"]
    assert len([line for line in left if line in theirs]) >= len(theirs) - 2


@pytest.mark.parametrize("name", ["probes", "reports", "bins"])
async def test_a_zero_byte_in_a_line_that_is_not_ours_parts_nothing(
    store: RedisStore, server: StoreServer, name: str
) -> None:
    await record(store, probe("a"), good("b"))
    with server.raw() as raw:
        raw.rpush(key(name), "not\0ours")

    reading = await record(store, good("c"))

    assert (names(reading.log.probes), names(reading.log.reports)) == (["a"], ["b", "c"])


async def test_bins_are_bounded_to_sixty(store: RedisStore, server: StoreServer) -> None:
    await record(store, probe("first"))
    with server.raw() as raw:
        raw.rpush(key("bins"), *(f"{start} 1 1 0 0 0" for start in range(0, 600, 10)))

    await record(store, good("a"))

    found = bins(server)
    assert len(found) == 60
    assert found[0][0] == 10
    assert found[-1][1:] == [1, 1, 0, 0, 0]


async def test_ids_are_bounded_and_the_newest_stay(store: RedisStore, server: StoreServer) -> None:
    with server.raw() as raw:
        raw.zadd(key("ids"), {f'final "{i}"': i for i in range(1, 4097)})

    await record(store, good("new"))

    with server.raw() as raw:
        assert raw.zcard(key("ids")) == 4096
        assert raw.zscore(key("ids"), 'final "new"') == 4097
    assert (await record(store, good("new"))).counted == (False,)


async def test_the_first_answer_makes_the_circuit_and_its_epoch_stays(store: RedisStore) -> None:
    first = await record(store, good("a"))
    second = await record(store, good("b"))

    assert first.circuit == Circuit(epoch=first.circuit.epoch)
    assert len(first.circuit.epoch) == 16
    assert second.circuit == first.circuit


DAMAGE: list[tuple[str, str | None]] = [
    *((name, None) for name in CIRCUIT_FIELDS),
    ("epoch", ""),
    ("generation", "007"),
    ("generation", "-1"),
    ("moved_at", "nan"),
    ("moved_at", "0x10"),
    ("open_until", "soon"),
    ("open_until", "1e999"),
    ("hold_s", ""),
    ("held", "{}"),
    ("held", '{"opened":1,"who":"a","why":"b","since":1.0,"until":2.0}'),
    ("held", '{"opened":true,"who":"a","why":"b","since":true,"until":2.0}'),
    ("held", '{"opened":true,"who":"a","why":"b","since":1.0,"until":NaN}'),
]


def damage(server: StoreServer, field: str, value: str | None) -> None:
    """Take a circuit's field away, or write nonsense there."""
    with server.raw() as raw:
        raw.hset(key("circuit"), field, value) if value is not None else raw.hdel(key("circuit"), field)


@pytest.mark.parametrize(("field", "value"), DAMAGE)
async def test_a_damaged_circuit_is_a_lost_one(
    store: RedisStore, server: StoreServer, field: str, value: str | None
) -> None:
    first = await record(store, good("a"))
    damage(server, field, value)

    assert (await store.circuits([TARGET]))[0] == {TARGET: Circuit()}
    assert (await store.look(TARGET)).circuit.epoch == ""
    anew = await record(store, good("b"))

    assert anew.circuit.epoch not in ("", first.circuit.epoch)


@pytest.mark.parametrize(("field", "value"), DAMAGE)
async def test_a_damaged_circuit_can_be_moved(
    store: RedisStore, server: StoreServer, field: str, value: str | None
) -> None:
    await record(store, good("a"))
    damage(server, field, value)
    found = await store.look(TARGET)

    wanted = hold(found.circuit, found.now, opened=True, who="ann", why="trial", until=found.now + 60)
    made = await store.apply(TARGET, wanted, found.circuit)

    assert made is not None
    assert (await store.look(TARGET)).circuit == made.circuit


@pytest.mark.parametrize("lost", [True, False], ids=["gone", "damaged"])
async def test_what_may_have_moved_a_lost_circuit_moves_no_new_one(
    store: RedisStore, server: StoreServer, lost: bool
) -> None:
    await record(store, failed("a"), failed("b"))
    with server.raw() as raw:
        raw.delete(key("circuit")) if lost else raw.hset(key("circuit"), "moved_at", "long ago")

    looked = await store.look(TARGET)
    told = await record(store, failed("c", seconds=0.0))

    for reading in (looked, told):
        assert reading.circuit.moved_at >= max(entry.at for entry in looked.log.reports)
    assert (looked.log.bins, sum(one.failure for one in told.log.bins)) == ((), 1)
    assert due(looked.circuit, looked.log, Policy(), looked.now) is None
    assert due(told.circuit, told.log, Policy(), told.now) is None
    again = await record(store, failed("d", seconds=0.0))
    assert due(again.circuit, again.log, Policy(), again.now) is not None
    assert sum(one.failure for one in again.log.bins) == 2


async def test_a_usual_speed_of_another_kind_refuses_an_answer_before_anything_of_it_is_written(
    store: RedisStore, server: StoreServer
) -> None:
    with server.raw() as raw:
        raw.rpush(key("usual"), "mine")

        with pytest.raises(StoreError):
            await record(store, good("a"))

        assert raw.keys() == [key("usual")]


async def test_garbage_goes_after_thirty_days(store: RedisStore, server: StoreServer) -> None:
    await record(store, probe("a"), good("b"))

    with server.raw() as raw:
        left = {name: raw.ttl(name) for name in raw.scan_iter()}
    assert set(left) == {key(name) for name in ("circuit", "probes", "reports", "ids", "bins", "slots", "samples")}
    assert all(29 * DAY_S < seconds <= 30 * DAY_S for seconds in left.values())


async def test_a_write_puts_the_end_of_garbage_off_and_never_nearer(store: RedisStore, server: StoreServer) -> None:
    await record(store, probe("a"))
    with server.raw() as raw:
        raw.expire(key("probes"), 1000)
        raw.expire(key("circuit"), 90 * DAY_S)

    await record(store, probe("b"))

    with server.raw() as raw:
        assert raw.ttl(key("probes")) > 29 * DAY_S
        assert raw.ttl(key("circuit")) > 89 * DAY_S


async def test_looking_writes_nothing(store: RedisStore, server: StoreServer) -> None:
    reading = await store.look(TARGET)
    found, now = await store.circuits([TARGET, "other/model"])

    assert reading.circuit == Circuit()
    assert found == {TARGET: Circuit(), "other/model": Circuit()}
    assert math.isclose(now, reading.now, abs_tol=5)
    with server.raw() as raw:
        assert raw.dbsize() == 0


async def test_looking_tells_what_recording_told(store: RedisStore) -> None:
    told = await record(store, probe("a"), late("b"))

    looked = await store.look(TARGET)

    assert replace(looked, now=told.now, counted=told.counted) == told


async def test_the_server_gets_a_script_once_and_again_when_it_forgot(store: RedisStore, server: StoreServer) -> None:
    def evals(stats: dict[str, dict[str, int]]) -> int:
        return stats.get("cmdstat_eval", {}).get("calls", 0)

    with server.raw() as raw:
        raw.config_resetstat()
        await record(store, good("a"), good("b"), good("c"))
        assert evals(raw.info("commandstats")) == 1

        raw.script_flush()
        reading = await record(store, good("d"), good("e"))

        assert evals(raw.info("commandstats")) == 2
    assert names(reading.log.reports) == ["a", "b", "c", "d", "e"]


async def test_two_hundred_answers_at_once_all_count(store: RedisStore, server: StoreServer) -> None:
    async with asyncio.timeout(60):
        readings = await asyncio.gather(*(record(store, good(str(i), target=f"p/{i % 7}")) for i in range(200)))

    assert all(reading.counted == (True,) for reading in readings)
    with server.raw() as raw:
        assert sum(raw.zcard(f"firstbyte:{{p/{i}}}:ids") for i in range(7)) == 200


async def test_one_id_from_many_at_once_counts_once(store: RedisStore) -> None:
    readings = await asyncio.gather(*(record(store, good("a")) for _ in range(16)))

    assert [reading.counted[0] for reading in readings].count(True) == 1
    assert names(readings[-1].log.reports) == ["a"]


async def test_an_unreadable_entry_is_left_out_and_told_once_without_its_words(
    store: RedisStore, server: StoreServer, caplog: pytest.LogCaptureFixture
) -> None:
    await record(store, probe("a"))
    with server.raw() as raw:
        raw.rpush(key("probes"), "hush", '{"id":"z","at":1,"verdict":"unheard-of"}')

    with caplog.at_level(logging.WARNING):
        reading = await record(store, probe("b"))
        await record(store, probe("c"))

    assert names(reading.log.probes) == ["a", "b"]
    assert len(caplog.records) == 1
    assert "hush" not in caplog.text


KNOWN = [late("a"), failed("x"), *(good(f"k{i}") for i in range(30))]
BATCHES: list[object] = [
    pytest.param([good("a"), failed("b"), refused("c"), good("d")], id="of mixed kinds"),
    pytest.param([good("a"), failed("b"), good("a"), good("b")], id="with repetitions"),
    pytest.param([late("a"), good("b"), good("a", seconds=44.0), late("a"), good("a")], id="with both parts of one"),
    pytest.param([good(str(i)) for i in range(100)], id="a flood"),
    pytest.param([(failed if i % 3 else good)(str(i)) for i in range(100)], id="a mixed flood"),
    pytest.param([good("a", age_s=900.0), good("b"), good("c", age_s=902.0)], id="of several ages"),
    pytest.param([probe("a"), probe("b"), probe("a")], id="of probes"),
]


@pytest.mark.parametrize("known", [[probe("p")], KNOWN], ids=["first", "later"])
@pytest.mark.parametrize("answers", BATCHES)
async def test_a_batch_comes_to_what_its_answers_come_to_one_by_one(
    store: RedisStore, server: StoreServer, known: list[Answer], answers: list[Answer]
) -> None:
    for attempt in range(5):
        single, batch = f"single/{attempt}", f"batch/{attempt}"
        began = (await store.look(single)).now
        for target in (single, batch):
            await record(store, *(replace(answer, target=target) for answer in known))
        counted = [(await record(store, replace(answer, target=single))).counted[0] for answer in answers]
        reading = await store.record([weighed(replace(answer, target=batch)) for answer in answers], NOW, KEEP)
        if reading.now // 10 == began // 10:  # else not all were counted in one bin
            break

    assert list(reading.counted) == counted
    looked = await store.look(batch)
    assert (looked.log, looked.circuit) == (reading.log, reading.circuit)
    assert alike(reading.log) == alike((await store.look(single)).log)
    assert bins(server, batch) == bins(server, single)
    with server.raw() as raw:
        ids = [raw.zrange(f"firstbyte:{{{target}}}:ids", 0, -1) for target in (single, batch)]
    assert ids[0] == ids[1]


def alike(log: Log) -> list[tuple[str, Verdict, bool]]:
    """What a log's entries are, whenever they counted."""
    return [(entry.answer.id, entry.verdict, entry.late) for entry in (*log.probes, *log.reports)]


async def test_answers_that_come_at_once_counted_in_the_order_in_which_they_came(store: RedisStore) -> None:
    """However long each was under way: a call may take longer than they are apart."""
    first = await store.record([weighed(good("a")), weighed(good("b"), waited_s=0.2)], NOW, KEEP)
    second = await store.record([weighed(good("c"), waited_s=0.5)], NOW, KEEP)

    at = [entry.at for entry in second.log.reports]
    assert first.log.reports == second.log.reports[:2]
    assert at == sorted(set(at))
    assert at[2] - at[0] < 1e-4


async def test_an_answer_that_has_waited_counted_before_those_that_have_not(store: RedisStore) -> None:
    await record(store, good("a"))

    reading = await store.record([weighed(failed("b"), waited_s=30.0)], NOW, KEEP)

    new, old = reading.log.reports
    assert new.at - old.at == pytest.approx(30.0, abs=1.0)
    assert old.at - old.began == pytest.approx(2.0, abs=1e-5)
    assert reading.now - old.at == pytest.approx(30.0, abs=1e-5)


async def test_what_has_waited_is_counted_in_its_time_though_later_answers_have_come(
    store: RedisStore, server: StoreServer
) -> None:
    """What a frozen server was sent it takes when it goes on, before all that has waited meanwhile."""
    for name, waited_s in enumerate((600.0, 0.0, 300.0, 150.0, 300.0)):
        await store.record([weighed(good(str(name), seconds=0.0), waited_s=waited_s)], NOW, KEEP)
    await store.record([weighed(good(f"{s}", seconds=0.0), waited_s=s) for s in (450.0, 0.0, 150.0)], NOW, KEEP)

    found = bins(server)
    starts = [row[0] for row in found]
    assert starts == sorted(set(starts))
    assert starts[-1] - starts[0] == pytest.approx(600, abs=10)
    assert sum(sum(row[2:]) for row in found) == 8


async def test_a_batch_that_is_refused_leaves_nothing(store: RedisStore, server: StoreServer) -> None:
    with server.raw() as raw:
        raw.set(key("ids"), "mine")

        with pytest.raises(StoreError):
            await store.record([weighed(good(str(i))) for i in range(10)], NOW, KEEP)

        assert raw.keys() == [key("ids")]
