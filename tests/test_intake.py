"""The queue of answers, over a real store that comes and goes."""

import asyncio
import logging
import random
import tracemalloc
from collections.abc import Sequence

import pytest

from breaker.answer import Answer, Source
from breaker.circuit import Cause, State
from breaker.errors import StoreGoneError
from breaker.history import Keep
from breaker.policy import Policy
from breaker.store.contract import Reading, Weighed
from breaker.store.redis import RedisStore
from breaker.switchboard import MAX_WAITING, Dropped, Judged, Listeners, Switchboard, intake, newest
from breaker.switchboard.intake import AGAIN_S
from breaker.switchboard.recorder import BATCH
from breaker.verdict import Verdict
from tests.boards import Heard
from tests.fixtures import PATIENT_S, _worker_server, folder, own, quick, server, store, store_url
from tests.store.answers import failed, good, names, probe, refused
from tests.store_server import StoreServer
from tests.test_switchboard import FIRST, ROUTE, SECOND, board_over

__all__ = ["_worker_server", "folder", "own", "quick", "server", "store", "store_url"]


def counted(server: StoreServer, target: str) -> int:
    """How many reports of a target have counted."""
    with server.raw() as raw:
        lines = raw.lrange(f"firstbyte:{{{target}}}:bins", 0, -1)
    return sum(int(number) for line in lines for number in line.split()[2:])


async def drained(board: Switchboard) -> None:
    """Everything is in the store."""
    await board.drain(PATIENT_S)
    assert board.waiting() == 0
    assert board.queue().dropped[Dropped.STOPPED] == 0


class Slow(RedisStore):
    """A store that gives no answer to more than a few answers at once."""

    most = 3
    sizes: list[int]

    async def record(self, weighed: Sequence[Weighed], sent_at: float, keep: Keep) -> Reading:
        """Record a few."""
        self.sizes.append(len(weighed))
        if len(weighed) > self.most:
            raise StoreGoneError("the store doesn't answer in time")
        return await super().record(weighed, sent_at, keep)


async def test_an_answer_is_judged_at_once_and_waits_for_its_turn(store: RedisStore, server: StoreServer) -> None:
    board = board_over(store)

    judgement = board.take_in(failed("a", target=FIRST.name))

    assert (judgement.verdict, board.waiting(), counted(server, FIRST.name)) == (Verdict.HTTP_ERROR, 1, 0)
    await drained(board)
    assert counted(server, FIRST.name) == 1


async def test_answers_of_a_target_keep_their_order_however_many_come(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    made = [good(str(i), target=(FIRST, SECOND)[i % 3 == 0].name) for i in range(5 * BATCH)]

    for answer in made[:-1]:
        board.take_in(answer)
    await board.report(made[-1])
    await drained(board)

    for target in (FIRST.name, SECOND.name):
        assert [j.answer.id for j in heard.judged if j.answer.target == target] == [
            answer.id for answer in made if answer.target == target
        ]
        entries = (await store.look(target)).log.reports
        assert [int(name) for name in names(entries)] == sorted(int(name) for name in names(entries))
        assert [entry.at for entry in entries] == sorted({entry.at for entry in entries})


async def test_a_probe_waits_for_the_reports_before_it_and_goes_alone(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    for name in ("a", "b"):
        board.take_in(good(name, target=FIRST.name))
    asked = asyncio.ensure_future(board.report(probe("p", target=FIRST.name)))
    await asyncio.sleep(0)
    board.take_in(good("c", target=FIRST.name))

    judged = await asked

    assert judged is not None
    assert [len(one.reading.counted) for one in heard.judged[:3]] == [2, 2, 1]
    await drained(board)
    assert [one.answer.id for one in heard.judged] == ["a", "b", "p", "c"]


@pytest.mark.parametrize("seed", range(12))
async def test_in_batches_a_circuit_moves_as_one_by_one(store: RedisStore, seed: int) -> None:
    chance = random.Random(seed)
    kinds = chance.choices([good, failed, refused], weights=[chance.choice([3, 9, 30]), 3, 1], k=60)
    made = [kind(str(i), seconds=0.0) for i, kind in enumerate(kinds)]
    in_batches, one_by_one = Heard(), Heard()
    board = board_over(store, heard=in_batches)
    for answer in made:
        board.take_in(retargeted(answer, FIRST.name))
    await drained(board)

    board = board_over(store, heard=one_by_one)
    for answer in made:
        await board.report(retargeted(answer, SECOND.name))

    assert moves(in_batches) == moves(one_by_one)
    assert len(in_batches.judged) == len(made)


def retargeted(answer: Answer, target: str) -> Answer:
    return Answer.from_facts(answer.facts() | {"target": target})


def moves(heard: Heard) -> list[tuple[Cause, str, list[str]]]:
    return [(move.cause, move.why, [entry.answer.id for entry in move.answers]) for _, move in heard.moved]


async def test_an_answer_whose_reply_was_lost_counts_once_and_is_told_once(own: StoreServer, quick: RedisStore) -> None:
    heard = Heard()
    board = board_over(quick, heard=heard)
    await board.report(good("before", target=FIRST.name))
    own.freeze()
    for i in range(3 * BATCH):
        board.take_in(good(str(i), target=FIRST.name))
    assert await board.report(good("asked", target=FIRST.name)) is None
    own.thaw()
    for i in range(3 * BATCH):  # and whoever reported them does so again
        board.take_in(good(str(i), target=FIRST.name))
    await drained(board)

    assert counted(own, FIRST.name) == 3 * BATCH + 2
    assert [judged.answer.id for judged in heard.judged] == ["before", *map(str, range(3 * BATCH)), "asked"]


async def test_all_that_came_while_the_store_was_dead_is_in_it_once_it_is_back(
    own: StoreServer, quick: RedisStore
) -> None:
    board = board_over(quick)
    own.kill()
    for i in range(5_000):
        board.take_in(good(str(i), target=(FIRST, SECOND)[i % 2].name))
    assert await board.report(good("asked", target=FIRST.name)) is None
    assert (board.waiting(), board.queue().oldest_s > 0) == (5_001, True)

    own.start()
    await drained(board)

    assert (counted(own, FIRST.name), counted(own, SECOND.name)) == (2_501, 2_500)
    assert board.queue().oldest_s == 0


@pytest.mark.parametrize(
    "words",
    [b"*x\r\n", b"$-5\r\n", b":1.5\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"],
    ids=["no list", "no text", "no number", "HTTP"],
)
async def test_answers_wait_while_something_else_answers_in_the_place_of_the_store(
    own: StoreServer, quick: RedisStore, words: bytes
) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65_536)
        writer.write(words)
        writer.close()

    board = board_over(quick)
    own.kill()
    own.socket.unlink(missing_ok=True)
    async with await asyncio.start_unix_server(other, own.socket), asyncio.timeout(PATIENT_S):
        assert await board.report(good("a", target=FIRST.name)) is None
        assert board.queue().trouble == "answers as no Redis or Valkey does"
        with pytest.raises(StoreGoneError):
            await board.refresh()
        with pytest.raises(StoreGoneError):
            await board.follow()

    own.socket.unlink(missing_ok=True)
    own.start()
    await drained(board)

    assert counted(own, FIRST.name) == 1
    assert set(board.queue().dropped.values()) == {0}


async def test_what_waited_for_the_store_lets_others_have_their_turn_between_two_batches(
    own: StoreServer, quick: RedisStore
) -> None:
    turns: list[int] = [0]
    told: dict[str, set[int]] = {FIRST.name: set(), SECOND.name: set()}
    listeners = Listeners(judged=(lambda judged: told[judged.answer.target].add(turns[0]),))
    policies = dict.fromkeys((FIRST.name, SECOND.name), Policy())
    board = Switchboard(quick, [ROUTE], policies, listeners)
    for target in (FIRST, SECOND):
        await board.report(good("before", target=target.name))
        told[target.name].clear()
    own.freeze()
    for i in range(10 * BATCH):
        board.take_in(good(str(i), target=(FIRST, SECOND)[i % 2].name))
    for i, waits in enumerate(board._intake._order):  # they came at leisure
        waits.since -= 10_000.0 - 10.0 * i

    async def count() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    own.thaw()
    await drained(board)
    counting.cancel()

    assert min(map(len, told.values())) >= 5
    assert not told[FIRST.name] & told[SECOND.name]


async def test_while_the_store_is_known_to_be_gone_nobody_waits_for_it(own: StoreServer, quick: RedisStore) -> None:
    board = board_over(quick)
    own.kill()
    assert await board.report(good("a", target=FIRST.name)) is None

    asked = asyncio.ensure_future(board.report(good("b", target=FIRST.name)))
    await asyncio.sleep(0)

    assert asked.done()
    own.start()
    await drained(board)


async def test_more_answers_than_may_wait_push_out_the_oldest_of_all_targets(
    own: StoreServer, quick: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    board = board_over(quick)
    own.kill()
    waits = asyncio.ensure_future(board.report(good("the oldest", target=SECOND.name)))
    await asyncio.sleep(0)  # it waits, and nothing has been sent yet
    with caplog.at_level(logging.WARNING):
        for i in range(MAX_WAITING + 3):
            board.take_in(good(str(i), target=(FIRST, SECOND)[i % 2].name))

    assert board.queue().full
    assert board.queue().dropped == {Dropped.FULL: 4, Dropped.REFUSED: 0, Dropped.STOPPED: 0}
    assert await waits is None
    assert len([record for record in caplog.records if "the oldest are dropped" in record.message]) == 1
    await board.drain(0.0)
    assert (board.waiting(), board.queue().dropped[Dropped.STOPPED]) == (0, MAX_WAITING)


async def test_waiting_answers_cost_little(own: StoreServer, quick: RedisStore) -> None:
    board = board_over(quick)
    own.kill()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for i in range(10_000):
            board.take_in(good(f"a-step-of-some-agent-{i}", target=FIRST.name, prompt_tokens=9_000 + i))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    await board.drain(0.0)

    assert (after - before) / 10_000 < 1_500


async def test_an_answer_that_the_store_refuses_for_good_holds_up_no_other(own: StoreServer, quick: RedisStore) -> None:
    board = board_over(quick)
    with own.raw() as raw:
        raw.set(f"firstbyte:{{{SECOND.name}}}:reports", "not a list")
    asked = [await board.report(good(name, target=SECOND.name)) for name in ("a", "b")]
    await board.report(good("c", target=FIRST.name))

    assert asked == [None, None]
    assert (board.waiting(), board.queue().dropped[Dropped.REFUSED]) == (0, 2)
    assert (entry := newest(board.standing(FIRST.name).log)) is not None
    assert entry.answer.id == "c"


async def test_a_fault_of_ours_costs_its_own_batch_alone(store: RedisStore, caplog: pytest.LogCaptureFixture) -> None:
    board = board_over(store)

    async def broken(*_: object) -> None:
        raise RuntimeError("not my day")

    due, board._mover.make_due = board._mover.make_due, broken  # type: ignore[assignment,method-assign]
    assert await board.report(good("a", target=FIRST.name)) is None
    board._mover.make_due = due  # type: ignore[method-assign]

    assert await board.report(good("b", target=FIRST.name)) is not None
    assert board.queue().dropped[Dropped.REFUSED] == 1
    assert "not my day" in caplog.text


async def test_a_store_that_is_too_slow_for_a_batch_gets_smaller_ones(store_url: str, server: StoreServer) -> None:
    slow = Slow.from_url(store_url, limit_s=PATIENT_S)
    slow.sizes = []
    board = board_over(slow)
    for i in range(20):
        board.take_in(good(str(i), target=FIRST.name))
    await drained(board)
    await slow.close()

    assert (counted(server, FIRST.name), slow.sizes[0]) == (20, 20)
    assert min(slow.sizes) <= 3


class Cautious:
    """A network of which nobody knows whether it is down, until it is told."""

    suspect_since = None

    def __init__(self) -> None:
        self.known = asyncio.Event()

    async def down(self, target: str) -> bool:
        """Wait until it is known that it isn't."""
        await self.known.wait()
        return False

    def was_down(self, seconds: float) -> bool:
        """Nobody knows of any time."""
        return False


async def test_a_target_whose_answers_take_time_to_judge_holds_up_no_other(store: RedisStore) -> None:
    network, heard = Cautious(), Heard()
    policies = {FIRST.name: Policy(), SECOND.name: Policy()}
    board = Switchboard(store, [ROUTE], policies, heard.listeners(), network)
    broken_off = Answer.from_facts(
        {"target": FIRST.name, "id": "a", "ended": "unreachable", "seconds": 0.0, "source": "report"}
    )
    board.take_in(broken_off)
    board.take_in(good("b", target=FIRST.name))

    assert await board.report(good("c", target=SECOND.name)) is not None
    assert [judged.answer.id for judged in heard.judged] == ["c"]
    network.known.set()
    await drained(board)
    assert [judged.answer.id for judged in heard.judged] == ["c", "a", "b"]


async def test_who_stops_waiting_for_an_answer_takes_it_not_back(store: RedisStore, server: StoreServer) -> None:
    board = board_over(store)
    asked = asyncio.ensure_future(board.report(good("a", target=FIRST.name)))
    await asyncio.sleep(0)

    asked.cancel()
    await drained(board)

    assert counted(server, FIRST.name) == 1


async def test_a_listener_hears_how_long_an_answer_has_waited(own: StoreServer, quick: RedisStore) -> None:
    told: list[Judged] = []
    policies = {FIRST.name: Policy(), SECOND.name: Policy()}
    board = Switchboard(quick, [ROUTE], policies, Listeners(judged=(told.append,)))
    own.kill()
    assert await board.report(failed("a", target=FIRST.name)) is None
    own.start()
    await drained(board)

    (judged,) = told
    assert AGAIN_S[0] <= judged.waited_s < 60
    (entry,) = judged.reading.log.reports
    assert judged.reading.now - entry.at == pytest.approx(judged.waited_s, abs=1e-3)


async def test_what_waits_at_the_end_is_sent_within_its_time_or_lost(
    own: StoreServer, quick: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    board = board_over(quick)
    for i in range(1_000):
        board.take_in(good(str(i), target=FIRST.name))
    await drained(board)
    assert counted(own, FIRST.name) == 1_000

    own.kill()
    for i in range(10):
        board.take_in(good(str(i), target=FIRST.name))
    await board.drain(0.3)

    assert (board.waiting(), board.queue().dropped[Dropped.STOPPED]) == (0, 10)
    assert "10 answers are lost" in caplog.text
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("sending")]


@pytest.mark.parametrize("last", [failed("last"), probe("last"), good("last")], ids=["a bad one", "a probe", "enough"])
async def test_good_reports_wait_for_company_until_something_may_move_the_circuit(
    store: RedisStore, server: StoreServer, monkeypatch: pytest.MonkeyPatch, last: Answer
) -> None:
    monkeypatch.setattr(intake, "LINGER_S", 60.0)  # much longer than a test may take
    heard = Heard()
    board = board_over(store, heard=heard)
    await board.report(good("first", target=FIRST.name))
    few = 3 if last.source is Source.PROBE or last.status == 500 else BATCH - 1
    for i in range(few):
        board.take_in(good(str(i), target=FIRST.name))
        await asyncio.sleep(0.001)
    assert (board.waiting(), counted(server, FIRST.name)) == (few, 1)

    board.take_in(retargeted(last, FIRST.name))
    await drained(board)

    assert len(heard.judged[1].reading.counted) == few + (last.source is Source.REPORT)


async def test_who_asks_waits_for_no_company(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LINGER_S", 60.0)
    board = board_over(store)
    await board.report(good("a", target=FIRST.name))
    board.take_in(good("b", target=FIRST.name))
    await asyncio.sleep(0.001)

    assert await board.report(good("c", target=FIRST.name)) is not None
    assert board.waiting() == 0


async def test_reports_of_an_open_circuit_go_in_whole_batches_and_move_nothing(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    for name in ("a", "b"):
        await board.report(failed(name, target=FIRST.name))
    assert board.standing(FIRST.name).state is State.OPEN

    for i in range(BATCH):
        board.take_in(failed(str(i), target=FIRST.name, source=Source.REPORT))
    await drained(board)

    assert {len(judged.reading.counted) for judged in heard.judged[2:]} == {BATCH}
    assert len(heard.moved) == 1


async def test_bad_reports_among_so_many_good_ones_that_none_opens_it_go_in_whole_batches(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    await board.refresh()
    for i in range(3 * BATCH):
        board.take_in(good(str(i), target=FIRST.name, seconds=0.0))
    await drained(board)

    for i in range(BATCH):
        board.take_in((failed if i % 10 else good)(f"later-{i}", target=FIRST.name, seconds=0.0))
    await drained(board)

    assert {len(judged.reading.counted) for judged in heard.judged} == {BATCH}
    assert heard.moved == []


async def test_bad_reports_that_become_too_many_open_the_circuit_at_the_very_one(store: RedisStore) -> None:
    heard = Heard()
    board = board_over(store, heard=heard)
    await board.refresh()
    for i in range(20):
        board.take_in(good(f"good-{i}", target=FIRST.name, seconds=0.0))
    await drained(board)

    for i in range(60):
        board.take_in(failed(f"bad-{i}", target=FIRST.name, seconds=0.0))
    await drained(board)

    ((_, move),) = heard.moved
    assert (move.cause, move.why[:19]) == (Cause.ERROR_RATE, "20 of 40 answers wi")
