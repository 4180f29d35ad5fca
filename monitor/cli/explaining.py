"""`firstbyte why`: says in plain words why a target's circuit is as it is."""

import argparse
import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from breaker.circuit import OPENS, Cause
from breaker.errors import DoorRefusedError
from breaker.store.contract import LEDGER
from monitor.cli.exits import BAD, GOOD, UsageError
from monitor.cli.expecting import Said, next_of, opens_when
from monitor.cli.remote import at_the_door, underneath, understood
from monitor.cli.saying import say
from monitor.cli.times import Clock, span

# The move that explains a state may lie behind moves by hand.
_LOOKED_THROUGH = 50
_WIDEST = 100

# What a measure is called where its name isn't plain enough.
MEASURES = {
    "slow_row": "slow first bytes in a row",
    "slow_s": "first byte",
    "errors_row": "bad answers in a row",
    "rate_share": "share of bad answers",
    "rate_answers": "answers counted",
    "slump_factor": "times later than usual",
    "evidence": "evidence of a slump",
    "throttled_row": "probes in a row of which too much was asked",
    "retry_after_s": "asked to wait",
    "recover_row": "good probes in a row",
    "fresh_s": "age of the newest good probe",
    "silent_s": "time without a telling probe",
}
_VERBS = {"open": "opened", "closed": "closed", "held-open": "held open", "held-closed": "held closed"}


@dataclass(frozen=True, slots=True)
class _Known:
    """What the service said of a target; `moves` None where its store didn't answer."""

    said: Said
    target: Said
    moves: Sequence[Said] | None


def why(args: argparse.Namespace) -> int:
    """Explain a target's circuit; good whatever its state, bad only where its moves can't be read."""
    if not 0 <= args.moves <= LEDGER:
        raise UsageError(f"--moves is {args.moves}; choose a number from 0 to {LEDGER}")
    known = _ask(args)
    with understood():
        text = _as_json(known, args.moves) if args.json else "\n".join(_lines(known, args.moves))
    say(text)
    return BAD if known.moves is None else GOOD


def _ask(args: argparse.Namespace) -> _Known:
    with at_the_door(args) as door:
        said = door.targets(args.target)
        try:
            moves = door.moves(args.target, min(max(args.moves + 1, _LOOKED_THROUGH), LEDGER))
        except DoorRefusedError as error:
            if error.status != 503:
                raise
            moves = None
    with understood():
        return _Known(said, said["targets"][0], moves)


def _as_json(known: _Known, count: int) -> str:
    about = {name: value for name, value in known.said.items() if name != "targets"}
    moves = None if known.moves is None else known.moves[: max(count, 1)]
    return json.dumps({**about, "target": known.target, "moves": moves})


def _lines(known: _Known, count: int) -> Iterator[str]:
    moves = known.moves or []
    clock = Clock.of(moves[0]["at"], moves[0]["ago_s"]) if moves else Clock.of(None, 0.0)
    width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)
    explains = _explaining(known.target, moves)
    others = [move for move in moves if move not in explains][:count]
    parts = (
        _wrapped(_state(known, clock), width),
        [*_wrapped((_because(move, clock) for move in explains), width), *_measures(explains)],
        [*_wrapped(_expected(known.target, clock), width), *_rules(known.target, width)],
        _wrapped([_recent(known.target)], width),
        ["Other moves, newest first:", *(_cut(_in_a_line(move, clock), width) for move in others)] if others else [],
    )
    for i, part in enumerate(filter(None, parts)):
        yield from ["", *part] if i else part


# What it is


def _state(known: _Known, clock: Clock) -> Iterator[str]:
    target = known.target
    yield f"{_is(target)}. Times are {clock.zone}."
    if known.said["self_suspect_s"] is not None:
        since = span(known.said["self_suspect_s"])
        yield f"Our own network seems to be down, for {since} now: nothing moves until it is back."
    if known.said["stale"]:
        yield "The service can't reach its store; this is what was last known."
    if known.moves is None:
        yield "Its moves can't be read: the store doesn't answer."
    if target["held"] is not None:
        yield f"The automatic part goes on underneath: {underneath(target['held']['automatic'])}"


def _is(target: Said) -> str:
    name, held, generation = target["target"], target["held"], f"(generation {target['generation']})"
    if held is not None:
        way = target["state"].replace("-", " ")
        return f"{name} is {way} by {held['who']} {generation}, for {span(held['until_s'])} more: {held['why']}"
    if target["generation"] == 0:
        return f"{name} has never moved: it is closed, and agents may go there"
    left = "" if target["until_s"] is None else f", for {span(target['until_s'])} more"
    return f"{name} is {target['state']} {generation}{left}"


# Why


def _explaining(target: Said, moves: Sequence[Said]) -> list[Said]:
    """The moves that made it what it is: the hold by hand, if there is one, and the last move by itself."""
    held = target["held"]
    by_hand = [move for move in moves if move["cause"] == Cause.MANUAL][:1] if held else []
    cause = held["automatic"]["cause"] if held else target["cause"]
    by_itself = [move for move in moves if move["cause"] == cause][:1]
    return [*by_hand, *by_itself] or list(moves[:1])  # the last where the store has forgotten what came before it


def _because(move: Said, clock: Clock) -> str:
    verb = _VERBS.get(move["after"], move["after"])
    if move["cause"] == Cause.MANUAL:
        return f"{verb} {clock.at(move['at'])} {move['why']}"
    if move["before"] in ("held-open", "held-closed"):
        verb = f"{_VERBS['open' if move['cause'] in OPENS else 'closed']} underneath a hold"
    elif move["before"] == "half-open" and move["after"] == "open":
        verb = "opened again"
    return f"{verb} {clock.at(move['at'])} because {move['why']}"


def _measures(moves: Sequence[Said]) -> Iterator[str]:
    for move in moves:
        yield from (f"  {_measure(measure)}" for measure in move["measures"])


def _measure(measure: Said) -> str:
    what, value, limit = measure["what"], measure["value"], measure["limit"]
    name = MEASURES.get(what, what.replace("_", " "))
    return f"{name}: {_number(what, value)}, limit {_number(what, limit)}"


def _number(what: str, value: float) -> str:
    if what.endswith("_s"):
        return span(value)
    return f"{100 * value:.0f} %" if what.endswith("_share") else f"{value:g}"


# What comes next


def _expected(target: Said, clock: Clock) -> list[str]:
    held = target["held"]
    if held is None:
        return next_of(target, clock)
    ends = f"The hold by hand ends at {clock.ahead(held['until_s'])}; what goes on underneath is what remains then."
    return [ends, *next_of({**target, **held["automatic"]}, clock)]


def _rules(target: Said, width: int) -> list[str]:
    automatic = target["held"]["automatic"] if target["held"] else target
    if automatic["state"] != "closed":
        return []
    return ["It opens by itself with any of:", *_wrapped(opens_when(target), width, indent="  ")]


def _recent(target: Said) -> str:
    usual_s = target["usual_first_byte_s"]
    usual = "isn't known yet" if usual_s is None else f"is {span(usual_s)}"
    return f"Its last answer: {_answer(target['last_answer'])}. Its usual first byte {usual}."


def _answer(answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return "none yet"
    first = "no first byte" if answer["first_byte_s"] is None else f"first byte {span(answer['first_byte_s'])}"
    status = f" ({answer['status']})" if answer["status"] not in (None, 200) else ""
    ours = "not counted, our own network was down" if answer["self_suspect"] else ""
    stalled = "not counted, the asker stood still" if answer["suspect_timing"] else ""
    verdict = "still silent" if answer["verdict"] == "pending" else answer["verdict"].replace("_", " ")
    parts = [f"{verdict}{status}", first, f"{span(answer['ago_s'])} ago", ours, stalled]
    return f"{', '.join(filter(None, parts))} ({'agent' if answer['source'] == 'report' else 'probe'})"


def _in_a_line(move: Said, clock: Clock) -> str:
    return f"  {clock.at(move['at'])}  {move['before']} -> {move['after']}  {move['cause']}: {move['why']}"


def _wrapped(paragraphs: Iterable[str], width: int, *, indent: str = "") -> list[str]:
    more = f"{indent}  "
    lines = (
        textwrap.wrap(p, width, initial_indent=indent, subsequent_indent=more, break_on_hyphens=False)
        for p in paragraphs
    )
    return [line for wrapped in lines for line in wrapped]


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"
