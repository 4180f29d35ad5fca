"""Commands that ask a running service."""

import argparse
import contextlib
import dataclasses
import getpass
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from breaker.circuit import OPENS, Cause, plain
from breaker.client import Decision, Door
from breaker.errors import DoorRefusedError
from monitor.cli.exits import BAD, GOOD, UsageError
from monitor.cli.saying import say
from monitor.cli.times import seconds, whole


def route(args: argparse.Namespace) -> int:
    """Say where a step should go; bad only where no target of the route may be asked."""
    with at_the_door(args) as door:
        decision = door.route(args.route)
    if args.json:
        say(json.dumps(dataclasses.asdict(decision)))
    else:
        say(f"{decision.target}  ({_place(decision)}{decision.reason}{_back(decision.until_s)})")
    return BAD if decision.role == "last_resort" else GOOD


def status(args: argparse.Namespace) -> int:
    """Show each target; bad where a circuit isn't closed, or where the service has lost its store or its network."""
    with at_the_door(args) as door:
        said = door.targets()
    with understood():
        text = "\n".join([table([_HEAD, *map(_row, said["targets"])]), *_besides(said)])
        well = all(target["state"] in ("closed", "held-closed") for target in said["targets"])
        blind = said["stale"] or said["self_suspect_s"] is not None
    say(json.dumps(said) if args.json else text)
    return GOOD if well and not blind else BAD


def hold(args: argparse.Namespace) -> int:
    """Hold a circuit open or closed by hand."""
    for_s = None if args.for_s is None else seconds(args.for_s)
    with at_the_door(args) as door:
        act = door.hold_open if args.name == "open" else door.hold_closed
        _show_target(args, act(args.target, who=_who(args), why=args.why, for_s=for_s))
    return GOOD


def release(args: argparse.Namespace) -> int:
    """End a hold by hand."""
    with at_the_door(args) as door:
        _show_target(args, door.release(args.target, who=_who(args), why=args.why))
    return GOOD


def at_the_door(args: argparse.Namespace) -> Door:
    """A connection to the service that the words name. Raises UsageError for words that can't be printed."""
    for name, value in vars(args).items():
        if isinstance(value, str) and not value.isprintable():
            raise UsageError(f"{name.replace('_', '-')} has characters in it that can't be printed")
    return Door(args.url)


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """For reading what was said: what isn't as we say it isn't ours."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DoorRefusedError(200, "what answers there is not Firstbyte, or of another version") from None


def _who(args: argparse.Namespace) -> str:
    try:
        return str(args.who or getpass.getuser())
    except (KeyError, OSError):  # a user without a name, as in containers
        raise UsageError("who does it? this user has no name; say --who NAME") from None


def _show_target(args: argparse.Namespace, target: Mapping[str, Any]) -> None:
    with understood():
        text = table([_HEAD, _row(target)])
    say(json.dumps(target) if args.json else text)


def _besides(said: Mapping[str, Any]) -> Iterator[str]:
    """What a table has no place for."""
    if said["stale"]:
        yield _old(said["targets"])
    if said["self_suspect_s"] is not None:
        yield "Our own network seems to be down: nothing moves until it is back."
    for target in said["targets"]:
        if target["held"] is not None:
            yield f"{target['target']}: {underneath(target['held']['automatic'])}"
        if (remedy := act(target)) is not None:
            yield f"{target['target']}: {remedy}"


def _old(targets: Sequence[Mapping[str, Any]]) -> str:
    old = [target["target"] for target in targets if target["stale"]]
    if 0 < len(old) < len(targets):
        return f"The service can't reach a part of its store; of {', '.join(old)} this is what was last known."
    return "The service can't reach its store; this is what was last known."


def underneath(automatic: Mapping[str, Any]) -> str:
    """What goes on without the hold by hand that lies over it."""
    cause = f" ({automatic['cause']})" if automatic["cause"] in OPENS else ""
    left = "" if automatic["until_s"] is None else f", for {whole(automatic['until_s'])} more"
    return f"without the hold by hand it would be {automatic['state']}{cause}{left}."


def act(target: Mapping[str, Any]) -> str | None:
    """What somebody has to do for a target that is out for a refusal; None where it may come back by itself."""
    found = target["held"]["automatic"] if target["held"] else target
    if found["state"] == "closed" or found["cause"] not in OPENS:
        return None
    named = {name: target[name] for name in ("provider", "model", "api_key_env")}
    remedy = plain.remedy(Cause(found["cause"]), **named)
    return remedy and f"somebody has to act: {remedy}."


_HEAD = ("TARGET", "CIRCUIT", "CAUSE", "UNTIL", "LAST FIRST BYTE")


def _row(target: Mapping[str, Any]) -> list[str]:
    until_s, last = target["until_s"], target["last_first_byte"]
    return [
        target["target"],
        target["state"],
        target["cause"] or "-",
        "-" if until_s is None else f"{whole(until_s)} more",
        "-" if last is None else f"{last['first_byte_s']:.2f} s, {whole(last['ago_s'])} ago{_usually(target)}",
    ]


def _usually(target: Mapping[str, Any]) -> str:
    usual_s = target["usual_first_byte_s"]
    return "" if usual_s is None else f", usually {usual_s:.2f} s"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, the first one being their heads."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in rows)
    return "\n".join(line.rstrip() for line in lines)


def _place(decision: Decision) -> str:
    """Its place in its route, and of which target the reason is."""
    role = decision.role.replace("_", " ")
    return f"{role}, " if decision.target == decision.primary else f"{role}; {decision.primary}: "


def _back(until_s: float | None) -> str:
    return "" if until_s is None else f", for {whole(until_s)} more"
