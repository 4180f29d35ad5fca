"""Circuits, entries and moves as the store writes them: facts, numbers and a move's one sentence.

What another version wrote and this one can't read comes back as None; facts that this version doesn't know are left
out.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

from breaker.answer import Answer, Part
from breaker.circuit import Cause, Circuit, Held, Measure, Move, State
from breaker.errors import BadFactError
from breaker.history import RANKS, Sample, Slot
from breaker.log import Bin, Entry, Weight
from breaker.store.contract import Weighed
from breaker.verdict import Blame, Verdict

CIRCUIT_FIELDS = ("epoch", "generation", "cause", "moved_at", "open_until", "held", "hold_s")

_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_FACTS = frozenset(field.name for field in fields(Answer))
_CAUSES = frozenset(Cause)
# The scripts read a circuit by the same rules: one that only one of both could read could never be moved.
_COUNT = re.compile(r"0|[1-9]\d{0,14}", re.ASCII)
_MOMENT = re.compile(r"-?\d[\d.e+-]*", re.ASCII)
_MOST = 1e12
# Too long a number overflows, and too deep a text ends Python's patience.
_UNREADABLE = (BadFactError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)


# Circuits


def write_circuit(circuit: Circuit) -> dict[str, str]:
    """A circuit's fields; each is always there, so that a missing one shows damage."""
    return {
        "epoch": circuit.epoch,
        "generation": str(circuit.generation),
        "cause": circuit.cause.value if circuit.cause else "",
        "moved_at": repr(circuit.moved_at),
        "open_until": "" if circuit.open_until is None else repr(circuit.open_until),
        "held": _json(asdict(circuit.held)) if circuit.held else "",
        "hold_s": repr(circuit.hold_s),
    }


def read_circuit(values: Sequence[str | None]) -> Circuit:
    """The circuit behind the values of CIRCUIT_FIELDS; one without an epoch where any is missing or damaged."""
    if len(values) != len(CIRCUIT_FIELDS) or None in values:
        return Circuit()
    epoch, generation, cause, moved_at, open_until, held, hold_s = (str(value) for value in values)
    if not epoch or not _COUNT.fullmatch(generation):
        return Circuit()
    try:
        return Circuit(
            epoch=epoch,
            generation=int(generation),
            cause=Cause(cause) if cause in _CAUSES else None,
            moved_at=_moment(moved_at),
            open_until=_moment(open_until) if open_until else None,
            held=_read_held(json.loads(held)) if held else None,
            hold_s=_moment(hold_s),
        )
    except _UNREADABLE:
        return Circuit()


def write_announcement(target: str, circuit: Circuit) -> str:
    """What subscribers are told of a move."""
    return _json({"target": target, "circuit": write_circuit(circuit)})


def read_announcement(text: str) -> tuple[str, Circuit] | None:
    """The target and the circuit that an announcement tells of."""
    try:
        said = json.loads(text)
        return str(said["target"]), _read_circuit_object(said["circuit"])
    except _UNREADABLE:
        return None


# Entries


_RANK = {weight: rank for rank, weight in enumerate(RANKS)}
_KINDS = {Weight.GOOD: "ok", Weight.SLOW: "late", Weight.FAILED: "failure"}


def kind(answer: Answer, weight: Weight) -> str:
    """What an answer counts as where it is only counted: ok, failure, nothing or late."""
    return "late" if answer.part is Part.LATE else _KINDS.get(weight, "nothing")


def write_weighed(weighed: Weighed, waited_s: float, members: str) -> str:
    """The line that tells the script of an answer which has waited for so long.

    `members` is what `write_members` gives, empty where the answer is only counted.
    """
    answer = weighed.answer
    began_ago_s = answer.began_ago_s
    counted_ago_s = max(0.0, began_ago_s - answer.seconds)
    times = f"{(began_ago_s + waited_s) * 1e6:.0f} {(counted_ago_s + waited_s) * 1e6:.0f}"
    counts = f"{answer.part} {kind(answer, weighed.weight)} {_RANK[weighed.weight]}"
    return f"{counts} {times}\t{_json(answer.id)}\t{members}\n"


def write_members(weighed: Weighed) -> str:
    """How the script's entry of an answer ends: all that isn't its id and its times."""
    judged, facts = weighed.judgement, _json(weighed.answer.facts())
    return f'"verdict":"{judged.verdict}","blame":"{judged.blame}","answer":{facts}}}'


_HEAD = re.compile(r'\{"id":.*?,"at":(\d+\.\d+),"began":(\d+\.\d+),"late":(true|false),"kind":"[a-z]+",')


def read_entry(text: str, written: Mapping[str, Weighed]) -> Entry | None:
    """The entry that the script wrote. `written` has answers by their members: those needn't be read from the text."""
    head = _HEAD.match(text)
    if head is not None and (known := written.get(text[head.end() :])) is not None:
        at, began, late = head.groups()
        return Entry(
            answer=known.answer,
            verdict=known.verdict,
            blame=known.blame,
            at=float(at),
            began=float(began),
            late=late == "true",
        )
    try:
        return _read_entry_object(json.loads(text))
    except _UNREADABLE:
        return None


def read_bin(text: str) -> Bin | None:
    """The ten-second count of reports that the script wrote."""
    try:
        start, _kept, ok, failure, nothing, late = map(int, text.split(" "))
        return Bin(float(start), ok=ok, failure=failure, nothing=nothing, late=late)
    except _UNREADABLE:
        return None


# History


def read_slot(text: str) -> Slot | None:
    """The slot that the script wrote, behind its start."""
    try:
        start, length_s, out, rank, verdict, *counts = text.split(" ")
        numbers = tuple(map(int, counts))
        if len(numbers) != 2 * len(RANKS):
            return None
        return Slot(
            start=float(int(start)),
            length_s=float(int(length_s)),
            probes=numbers[: len(RANKS)],
            reports=numbers[len(RANKS) :],
            out=int(out),
            worst=RANKS[int(rank)],
            verdict=Verdict(verdict).value,
        )
    except _UNREADABLE:
        return None


def read_sample(text: str) -> Sample | None:
    """The sample that the script wrote."""
    try:
        at, first_byte, rank = text.split(" ")
        return Sample(_moment(at), None if first_byte == "-" else _moment(first_byte), RANKS[int(rank)])
    except _UNREADABLE:
        return None


# Moves


def write_move(move: Move) -> str:
    """A move for the ledger, with the answers behind it."""
    return _json(
        {
            "at": move.at,
            "before": move.before.value,
            "after": move.after.value,
            "cause": move.cause.value,
            "why": move.why,
            "circuit": write_circuit(move.circuit),
            "answers": [_entry_object(entry) for entry in move.answers],
            "measures": [[m.what, m.value, m.limit] for m in move.measures],
        }
    )


def read_move(text: str) -> Move | None:
    """The move that a ledger's line tells of."""
    try:
        said = json.loads(text)
        return Move(
            at=float(said["at"]),
            before=State(said["before"]),
            after=State(said["after"]),
            cause=Cause(said["cause"]),
            why=str(said["why"]),
            circuit=_read_circuit_object(said["circuit"]),
            answers=tuple(_read_entry_object(entry) for entry in said["answers"]),
            measures=tuple(Measure(str(what), _number(v), _number(limit)) for what, v, limit in said["measures"]),
        )
    except _UNREADABLE:
        return None


# Inside


def _json(value: object) -> str:
    """Short, and in ASCII: whatever an id holds, one line of text without tabs comes out."""
    return _ENCODER.encode(value)


def _moment(text: str) -> float:
    if not _MOMENT.fullmatch(text):
        raise ValueError(text)
    return _bounded(float(text))


def _bounded(value: float) -> float:
    """Raises ValueError where it isn't a time, and for NaN."""
    if not abs(value) < _MOST:
        raise ValueError(value)
    return value


def _read_held(said: Mapping[str, object]) -> Held:
    opened, who, why = said["opened"], said["who"], said["why"]
    if not (isinstance(opened, bool) and isinstance(who, str) and isinstance(why, str)):
        raise TypeError("a hold without who, why or which way")
    since, until = _bounded(_number(said["since"])), _bounded(_number(said["until"]))
    return Held(opened=opened, who=who, why=why, since=since, until=until)


def _read_circuit_object(said: Mapping[str, str]) -> Circuit:
    return read_circuit([said.get(name) for name in CIRCUIT_FIELDS])


def _entry_object(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.answer.id,
        "at": entry.at,
        "began": entry.began,
        "late": entry.late,
        "verdict": entry.verdict.value,
        "blame": entry.blame.value,
        "answer": entry.answer.facts(),
    }


def _read_entry_object(said: Mapping[str, object]) -> Entry:
    facts = said["answer"]
    if not isinstance(facts, Mapping):
        raise TypeError("an entry without facts")
    return Entry(
        answer=Answer.from_facts({name: value for name, value in facts.items() if name in _FACTS}),
        verdict=Verdict(str(said["verdict"])),
        blame=Blame(str(said["blame"])),
        at=_number(said["at"]),
        began=_number(said["began"]),
        late=bool(said["late"]),
    )


def _number(value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"{type(value).__name__} where a number was expected")
