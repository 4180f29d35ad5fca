"""Commands that ask a running service."""

import argparse
import contextlib
import dataclasses
import getpass
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from breaker import __version__
from breaker.client import Firstbyte
from breaker.errors import DoorRefusedError
from monitor.cli.exits import BAD, GOOD, OutputError, UsageError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def version(args: argparse.Namespace) -> int:
    """Say which version this is."""
    say(json.dumps({"version": __version__}) if args.json else f"firstbyte {__version__}")
    return GOOD


def route(args: argparse.Namespace) -> int:
    """Say where a step should go; bad only where no target of the route may be asked."""
    with _door(args) as door:
        decision = door.route(args.route)
    if args.json:
        say(json.dumps(dataclasses.asdict(decision)))
    else:
        say(f"{decision.target}  ({_role(decision.role)}, {decision.reason}{_back(decision.until_s)})")
    return BAD if decision.role == "last_resort" else GOOD


def status(args: argparse.Namespace) -> int:
    """Show each target; bad where a circuit isn't closed, or where the service has lost its store."""
    with _door(args) as door:
        said = door.targets()
    with _understood():
        table = _table([_HEAD, *map(_row, said["targets"])])
        well = all(target["state"] in ("closed", "held-closed") for target in said["targets"])
    if args.json:
        say(json.dumps(said))
    else:
        say(table)
        if said["stale"]:
            say("The service can't reach its store; this is what was last known.")
    return GOOD if well and not said["stale"] else BAD


def hold(args: argparse.Namespace) -> int:
    """Hold a circuit open or closed by hand."""
    for_s = None if args.for_s is None else seconds(args.for_s)
    with _door(args) as door:
        act = door.hold_open if args.name == "open" else door.hold_closed
        _show_target(args, act(args.target, who=_who(args), why=args.why, for_s=for_s))
    return GOOD


def release(args: argparse.Namespace) -> int:
    """End a hold by hand."""
    with _door(args) as door:
        _show_target(args, door.release(args.target, who=_who(args), why=args.why))
    return GOOD


def seconds(text: str) -> float:
    """The seconds in `90`, `90s`, `10m`, `2h` or `3d`. Raises UsageError for anything else."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)([smhd]?)", text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no length of time; write 90, 10m, 2h or 3d")
    return float(match[1]) * _UNITS[match[2]]


def _door(args: argparse.Namespace) -> Firstbyte:
    for name, value in vars(args).items():
        if isinstance(value, str) and not value.isprintable():
            raise UsageError(f"{name.replace('_', '-')} has characters in it that can't be printed")
    return Firstbyte(args.url)


@contextlib.contextmanager
def _understood() -> Iterator[None]:
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
    with _understood():
        table = _table([_HEAD, _row(target)])
    say(json.dumps(target) if args.json else table)


_HEAD = ("TARGET", "CIRCUIT", "CAUSE", "UNTIL", "LAST FIRST BYTE")


def _row(target: Mapping[str, Any]) -> list[str]:
    until_s, last = target["until_s"], target["last_first_byte"]
    return [
        target["target"],
        target["state"],
        target["cause"] or "-",
        "-" if until_s is None else f"{until_s:.0f} s more",
        "-" if last is None else f"{last['first_byte_s']:.2f} s, {last['ago_s']:.0f} s ago",
    ]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in rows)
    return "\n".join(line.rstrip() for line in lines)


def _role(role: str) -> str:
    return role.replace("_", " ")


def _back(until_s: float | None) -> str:
    return "" if until_s is None else f", for {until_s:.0f} s more"


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    try:
        print(text, flush=True)  # noqa: T201 # a command line speaks
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"can't write the output: {error.strerror}") from None
