"""Ten thousand reports from four processes on twenty targets make exactly the moves that one process would make.

One process would go through the answers in the order in which the store took them, and ask after each whether the
circuit has to move. Here another answer may come in between the asking and the moving, so of all that were judged by
the circuit as it stood, one makes the move: each is asked again here, with the answers before it alone.
"""

import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from breaker.answer import Answer
from breaker.circuit import Cause, Circuit, Move, due
from breaker.log import Entry, Log
from breaker.store import codec
from breaker.store.redis import CHANNEL
from tests.fixtures import folder, own
from tests.flows.crowd import POLICY_OF
from tests.processes import ROOT
from tests.store.machine.model import Model
from tests.store_server import StoreServer

__all__ = ["folder", "own"]

_T = TypeVar("_T")

PROCESSES, ANSWERS = 4, 10_000
# A look reads no log older than this many answers: so many may be taken while it is under way.
AROUND = 20


@dataclass(frozen=True)
class Record:
    """An answer, when the store took it, how long it had waited, and how often the circuit had moved by then."""

    answer: Answer
    now: float
    waited_s: float
    epoch: str
    generation: int


@dataclass
class Told:
    """What all processes were told, and what the store has announced and noted down, by target."""

    records: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    moved: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    announced: dict[str, list[Circuit]] = field(default_factory=lambda: defaultdict(list))
    ledger: dict[str, list[Move]] = field(default_factory=dict)
    kept: dict[str, list[Entry]] = field(default_factory=dict)


async def process(url: str, name: str, start: asyncio.Barrier) -> dict[str, Any]:
    """What one process was told."""
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.flows.crowd", url, name, str(ANSWERS // PROCESSES)),
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**26,
    )
    try:
        async with asyncio.timeout(480):
            assert running.stdout is not None
            assert await running.stdout.readline() == b"ready\n"
            await start.wait()
            said, _ = await running.communicate(b"go\n")
    finally:
        if running.returncode is None:
            running.kill()
    told: dict[str, Any] = json.loads(said)
    return told


async def crowd(server: StoreServer) -> Told:
    """Let the processes work, and gather what came of it."""
    raw = cast("Any", server.raw())
    ears = raw.pubsub()
    ears.subscribe(CHANNEL)
    ears.get_message(timeout=60)
    start = asyncio.Barrier(PROCESSES)
    said = await asyncio.gather(*(process(server.url, f"c{i}", start) for i in range(PROCESSES)))
    raw.publish(CHANNEL, "that is all")
    told = Told()
    while (message := ears.get_message(timeout=60))["data"] != "that is all":
        announcement = codec.read_announcement(message["data"])
        assert announcement is not None
        told.announced[announcement[0]].append(announcement[1])
    for facts, now, waited_s, epoch, generation in sorted(
        (line for one in said for line in one["judged"]), key=lambda x: x[1]
    ):
        answer = Answer.from_facts(facts)
        told.records[answer.target].append(Record(answer, now, waited_s, epoch, generation))
    for target, generation in (line for one in said for line in one["moved"]):
        told.moved[target].append(generation)
    for target in POLICY_OF:
        told.ledger[target] = read(raw, target, "moves", codec.read_move)[::-1]
        told.kept[target] = [e for name in ("probes", "reports") for e in read(raw, target, name, entry)]
    ears.close()
    raw.close()
    return told


def entry(text: str) -> Entry | None:
    """An entry as any other process reads it."""
    return codec.read_entry(text, {})


def read(raw: Any, target: str, name: str, by: Callable[[str], _T | None]) -> list[_T]:
    """All of a list, each line of which can be read."""
    lines = [by(text) for text in raw.lrange(f"firstbyte:{{{target}}}:{name}", 0, -1)]
    found = [line for line in lines if line is not None]
    assert len(found) == len(lines)
    return found


async def test_four_processes_make_the_moves_that_one_would(own: StoreServer) -> None:
    told = await crowd(own)

    assert sum(map(len, told.records.values())) == ANSWERS
    for target in POLICY_OF:
        ledger, generations = told.ledger[target], list(range(1, len(told.ledger[target]) + 1))
        assert len(ledger) < 200, "the ledger keeps no more"
        assert [move.circuit.generation for move in ledger] == generations
        assert told.announced[target] == [move.circuit for move in ledger]
        assert sorted(told.moved[target]) == generations
        logs = logs_of(target, told.records[target], ledger)
        assert [*logs[-1].probes, *logs[-1].reports] == told.kept[target]
        judge_again(target, told.records[target], logs, ledger)
    causes = {move.cause for ledger in told.ledger.values() for move in ledger}
    assert causes >= {Cause.ERRORS, Cause.QUOTA, Cause.RECOVERED, Cause.UNVERIFIED}
    assert sum(map(len, told.ledger.values())) > 200


def circuit_at(ledger: Sequence[Move], record: Record) -> Circuit:
    """The circuit as it stood when an answer was taken."""
    return ledger[record.generation - 1].circuit if record.generation else Circuit(epoch=record.epoch)


def logs_of(target: str, records: Sequence[Record], ledger: Sequence[Move]) -> list[Log]:
    """The log after each answer, in the store's order."""
    model, logs = Model(POLICY_OF[target]), []
    for record in records:
        assert model.record(record.answer, record.now, circuit_at(ledger, record).moved_at, record.waited_s)
        logs.append(model.log())
    return logs


def judge_again(target: str, records: Sequence[Record], logs: Sequence[Log], ledger: Sequence[Move]) -> None:
    """No move that had to be is missing, and each that was made had to be."""
    policy = POLICY_OF[target]
    wanted = [due(circuit_at(ledger, r), log, policy, r.now) for r, log in zip(records, logs, strict=True)]
    for record, move in zip(records, wanted, strict=True):
        assert move is None or record.generation < len(ledger), f"{target}: nobody has made {move}"
    at = {record.now: i for i, record in enumerate(records)}
    before = [Circuit(epoch=records[0].epoch), *(move.circuit for move in ledger)]
    for circuit, move in zip(before, ledger, strict=False):
        if move.at in at and same(wanted[at[move.at]], move):
            continue
        # Judged on a look: at the end of a hold, or by whom another had overtaken.
        seen = [log for record, log in zip(records, logs, strict=True) if record.now <= move.at][-AROUND:]
        assert any(same(due(circuit, log, policy, move.at), move) for log in [*reversed(seen), Log()]), (
            f"{target}: {move}"
        )


def same(wanted: Move | None, made: Move) -> bool:
    """Whether a move is the one that was made; the epoch may have been given only then."""
    return wanted is not None and replace(wanted, circuit=replace(wanted.circuit, epoch=made.circuit.epoch)) == made
