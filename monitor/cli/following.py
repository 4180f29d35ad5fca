"""`firstbyte runs`: the last decisions about agents' tasks, and one task as a person would want to read it."""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from monitor.cli.exits import BAD, GOOD
from monitor.cli.remote import at_the_door, table, understood
from monitor.cli.saying import say
from monitor.cli.times import Clock, span

Said = Mapping[str, Any]  # Any: JSON

_HEAD = ("RUN", "AGO", "DECISION", "BECAUSE", "PROVIDER", "ANSWERS", "OPERATIONS", "")
_NONE = "No agent has asked yet whether its task is done."


def runs(args: argparse.Namespace) -> int:
    """Show the last decisions, or one run; bad where that isn't done."""
    return _one(args) if args.run else _last(args)


def _last(args: argparse.Namespace) -> int:
    with at_the_door(args) as door:
        said = door.runs(args.limit)
    with understood():
        text = "\n".join([*_claims(said["claims"]), _table(said["runs"]) if said["runs"] else _NONE])
    say(json.dumps(said) if args.json else text)
    return GOOD


def _one(args: argparse.Namespace) -> int:
    with at_the_door(args) as door:
        said = door.run(args.run)
    with understood():
        text, done = "\n".join(_lines(said)), bool(said["done"]["completion_allowed"])
    say(json.dumps(said) if args.json else text)
    return GOOD if done else BAD


# All


def _table(all_runs: list[Said]) -> str:
    return table([_HEAD, *map(_row, all_runs)])


def _claims(claims: list[Said]) -> Iterator[str]:
    for one in claims:
        untrue, share = one["prevented"], one["prevented"] / one["claimed"]
        yield f"{one['provider']}: {untrue} of {one['claimed']} claimed completions were untrue ({share:.0%})."


def _row(one: Said) -> list[str]:
    return [
        one["mark"],
        span(one["ago_s"]),
        _words(one["decision"]),
        _because(one["reason"], one["verdict"]),
        one["provider"] or "-",
        str(one["answers"]),
        str(one["operations"]),
        "prevented" if one["prevented"] else "",
    ]


def _because(reason: str, verdict: str | None) -> str:
    return f"{_words(reason)}: {_words(verdict)}" if reason == "not_an_answer" and verdict else _words(reason)


def _words(word: str) -> str:
    return word.replace("_", " ")


# One


def _lines(said: Said) -> Iterator[str]:
    done = said["done"]
    clock = Clock.of(None, 0.0)
    began = "" if said["began"] is None else f", begun at {clock.at(said['began'])} {clock.zone}"
    yield f"{said['run']} ({said['mark']}){began}: {_words(done['decision'])}"
    yield done["message"]
    yield f"Because: {', '.join(map(_words, done['reasons']))}. Next: {_words(done['next'])}."
    if done["notice"]:
        yield f"To the model: {done['notice']}"
    yield ""
    rows = [*map(_step, said["steps"]), *map(_operation, said["operations"]), *map(_check, said["checks"])]
    yield table([("WHAT", "WHICH", "CAME TO", ""), *(row for _, row in sorted(rows, key=lambda pair: pair[0]))])


_Row = tuple[int, tuple[str, ...]]


def _step(one: Said) -> _Row:
    protocol, detector = one["protocol"], one["detector"]
    how = [_words(protocol["ended"]), *([str(protocol["status"])] if protocol["status"] else [])]
    how += [f"finish {_words(protocol['finish'])}"] if protocol["finish"] else []
    how += [f"says {_words(one['says'])}"] if one["says"] else []
    why = f"{detector['why']} ({', '.join(how)})"
    return one["seq"], ("answer", one["target"], _words(detector["verdict"]), why)


def _operation(one: Said) -> _Row:
    parts = [f"{one['effect']}s" + ("" if one["required"] else ", not needed")]
    parts += [f"attempt {one['attempts']}"] if one["attempts"] > 1 else []
    parts += [f"took {span(one['seconds'])}"] if one["seconds"] is not None else []
    parts += [one["error"]] if one["error"] else []
    parts += [f"needs {', '.join(one['needs'])}"] if one["needs"] else []
    parts += [f"named {one['reference']}"] if one["reference"] else []
    parts += [_words(one["why_not"])] if one["why_not"] in ("nobody_knows", "not_again") else []
    return one["seq"], ("operation", one["tool"], one["state"], "; ".join(parts))


def _check(one: Said) -> _Row:
    return one["seq"], ("check", one["name"], one["outcome"], "")
