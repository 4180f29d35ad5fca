"""A store whose clock is set.

A server reads its clock from the system, and no two processes on one system have different ones. So the clock stays and
all that the store keeps moves the other way, in one transaction: for whoever reads the store that is the same.
"""

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from breaker.circuit import Circuit, Move
from breaker.log import BIN_S, Entry
from breaker.store import codec
from breaker.usual import Usual
from breaker.usual import read as read_usual
from breaker.usual import write as write_usual

_OF_ALL = ("firstbyte:{runs}:last", "firstbyte:{runs}:claims")
_TIMES = re.compile(r'"(at|began)":(-?[\d.]+)')


def key(target: str, name: str) -> str:
    """A target's key."""
    return f"firstbyte:{{{target}}}:{name}"


def set_clock(raw: Any, target: str, by_s: int) -> None:
    """Set the store's clock forward or, by a negative number, back, as one target sees it; whole bins only."""
    assert by_s % BIN_S == 0
    circuit = raw.hgetall(key(target, "circuit"))
    lists = {name: raw.lrange(key(target, name), 0, -1) for name in ("probes", "reports", "bins", "moves")}
    usual = raw.get(key(target, "usual"))
    write = {"probes": _entry, "reports": _entry, "bins": _bin, "moves": _move}
    pipe = raw.pipeline(transaction=True)
    if circuit:
        pipe.hset(key(target, "circuit"), mapping=_circuit(circuit, by_s))
    for name, lines in lists.items():
        for i, line in enumerate(lines):
            pipe.lset(key(target, name), i, write[name](line, by_s))
    if usual is not None:
        pipe.set(key(target, "usual"), write_usual(shifted_usual(read_usual(usual), by_s)), keepttl=True)
    pipe.execute()


def set_clock_of_runs(raw: Any, run: str, by_s: int) -> None:
    """Set the store's clock as one run, by the name that the store has, and the last decisions see it."""
    facts, about, last, claims = (*(f"firstbyte:{{run:{run}}}:{kind}" for kind in ("facts", "about")), *_OF_ALL)
    lines, moments, began = raw.lrange(last, 0, -1), raw.zrange(facts, 0, -1, withscores=True), raw.hget(about, "began")
    lives = {name: raw.pttl(name) for name in (facts, about, last, claims)}
    pipe = raw.pipeline(transaction=True)
    for line, at in moments:
        pipe.zadd(facts, {line: at - by_s * 1_000_000})
    if began is not None:
        pipe.hset(about, "began", int(began) - by_s)
    for i, line in enumerate(lines):
        at, _, rest = line.partition(" ")
        pipe.lset(last, i, f"{float(at) - by_s:.6f} {rest}")
    for name, left_ms in lives.items():
        if left_ms >= 0:
            pipe.pexpire(name, max(left_ms - by_s * 1_000, 0))
    pipe.execute()


def shifted_stamp(stamp: str, by_s: int) -> str:
    """A stamp of what is known of a run, as it looks once the clock has been set."""
    began, many, at, overfull = stamp.split(" ")
    return f"{int(began) - by_s} {many} {int(at) - by_s * 1_000_000} {overfull}"


def shifted_circuit(circuit: Circuit, by_s: float) -> Circuit:
    """A circuit as it looks once the clock has been set; one that has never moved stays so."""
    held = circuit.held
    return replace(
        circuit,
        moved_at=circuit.moved_at and circuit.moved_at - by_s,
        open_until=None if circuit.open_until is None else circuit.open_until - by_s,
        held=held and replace(held, since=held.since - by_s, until=held.until - by_s),
    )


def shifted_usual(usual: Usual, by_s: float) -> Usual:
    """What is usual, as it looks once the clock has been set."""
    return replace(usual, at=usual.at - by_s, aged_at=usual.aged_at - by_s) if usual.weights else usual


def shifted_entry(entry: Entry, by_s: float) -> Entry:
    """An entry as it looks once the clock has been set."""
    return replace(entry, at=_text(entry.at, by_s), began=_text(entry.began, by_s))


def shifted_move(move: Move, by_s: float) -> Move:
    """A line of the ledger as it looks once the clock has been set."""
    answers = tuple(shifted_entry(entry, by_s) for entry in move.answers)
    return replace(move, at=move.at - by_s, circuit=shifted_circuit(move.circuit, by_s), answers=answers)


def _text(seconds: float, by_s: float) -> float:
    return float(max(Decimal(f"{seconds:.6f}") - Decimal(by_s), Decimal(0)))


def _circuit(fields: dict[str, str], by_s: float) -> dict[str, str]:
    read = codec.read_circuit([fields.get(name) for name in codec.CIRCUIT_FIELDS])
    return codec.write_circuit(shifted_circuit(read, by_s)) if read.epoch else fields


def _entry(line: str, by_s: int) -> str:
    return _TIMES.sub(lambda m: f'"{m[1]}":{max(Decimal(m[2]) - by_s, Decimal(0)):.6f}', line, count=2)


def _bin(line: str, by_s: int) -> str:
    start, *rest = line.split(" ")
    return " ".join([str(int(start) - by_s), *rest])


def _move(line: str, by_s: int) -> str:
    read = codec.read_move(line)
    assert read is not None, json.loads(line)
    return codec.write_move(shifted_move(read, by_s))
