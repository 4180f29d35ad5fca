"""The command `firstbyte`: reads its words, calls one function, and gives back an exit code."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module

from breaker import __version__
from breaker.errors import FirstbyteError
from monitor.cli.defaults import MOVES, RUNS, SINCE
from monitor.cli.exits import GOOD, INTERRUPTED, USAGE, OutputError, UsageError, failed

Command = Callable[[argparse.Namespace], int]
# What may be written before a command by mistake.
_OF_COMMANDS = ("--config", "--url", "--json", "--port")


def entry(interrupted: int = INTERRUPTED) -> None:
    """Run the command line and exit; with this code where Ctrl-C ended it."""
    _open_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):  # None where it is closed
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without our signs still gets the line
    code = main(sys.argv[1:])
    raise SystemExit(interrupted if code == INTERRUPTED else code)


def _open_streams() -> None:
    """Let no connection take the number of a standard stream that was closed: the event loop ends where one does."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free


def main(words: Sequence[str]) -> int:
    """Run one command; exit codes: 0 good, 1 the thing asked about is bad, 2 usage or configuration, 3 service not
    reachable, 130 interrupted.
    """
    try:
        args = _read(words)
        command: Command = args.command
        return command(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `firstbyte status | head`
        _forget_output()
        return GOOD
    except OutputError as error:
        _forget_output()
        return failed(error)
    except FirstbyteError as error:
        return failed(error)


def _forget_output() -> None:
    """Let nothing try again to write what nobody takes, as Python would at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _in(module: str, name: str) -> Command:
    """A command in a module of its own, loaded when it is called: none waits for what only others need."""

    def command(args: argparse.Namespace) -> int:
        try:
            chosen: Command = getattr(import_module(f"monitor.cli.{module}"), name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] in ("breaker", "monitor"):
                raise
            raise UsageError(
                f"`firstbyte {args.name}` needs the package {error.name!r}; in a clone: pip install '.[service]'"
            ) from None
        return chosen(args)

    return command


def _read(words: Sequence[str]) -> argparse.Namespace:
    """What the words ask for. Exits where they ask for nothing that there is."""
    parser, commands = _parser()
    if not words:
        parser.print_help(sys.stderr)
        raise SystemExit(USAGE)
    first = words[0]
    if first.partition("=")[0] in _OF_COMMANDS:
        parser.error(f"{first} belongs after the command, such as: firstbyte check {first} …")
    if not first.startswith("-") and first not in commands:
        near = get_close_matches(first, commands, n=1)
        hint = f"did you mean {near[0]}?" if near else "`firstbyte --help` lists all"
        parser.error(f"there is no command {first!r}; {hint}")
    args, left = parser.parse_known_args(words)
    if left:
        hint = f"; a configuration is named by --config {left[0]}" if _may_be_a_file(args, left[0]) else ""
        commands[args.name].error(f"unrecognized arguments: {' '.join(left)}{hint}")
    return args


def _may_be_a_file(args: argparse.Namespace, word: str) -> bool:
    return getattr(args, "config", "none") is None and not word.startswith("-")


_Commands = Mapping[str, argparse.ArgumentParser]


def _parser() -> tuple[argparse.ArgumentParser, _Commands]:
    parser = argparse.ArgumentParser(
        prog="firstbyte", description="Watches LLM providers and tells agents where to go.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"firstbyte {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="name")

    def add(name: str, help_line: str, command: Command) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help_line, description=help_line, allow_abbrev=False)
        sub.set_defaults(command=command)
        return sub

    _add_local(add)
    _add_remote(add)
    return parser, commands.choices


Add = Callable[[str, str, Command], argparse.ArgumentParser]


def _add_local(add: Add) -> None:
    for name, line in (
        ("run", "Run the service: probes and door; without a configuration, a demonstration."),
        ("serve", "Run the door alone; probes come from another process."),
        ("monitor", "Run the probes, with a door for metrics alone; agents ask another process."),
    ):
        _config(add(name, line, _in("serving", "run")))
    init = add("init", "Write a commented firstbyte.yaml for the providers whose keys are here.", _in("local", "init"))
    init.add_argument("--config", metavar="FILE", help="where to write it (default: firstbyte.yaml)")
    init.add_argument("--force", action="store_true", help="overwrite a file that is there")
    check = add("check", "Check a configuration, and say what probing costs a day.", _in("local", "check"))
    _json(_config(check))
    probe = add(
        "probe", "Ask one target, or all of them, one real question, and judge the answer.", _in("local", "probe")
    )
    probe.add_argument("target", nargs="?", metavar="TARGET", help="provider/model (default: all)")
    _json(_config(probe))
    _config(add("notify", "Send each receiver of notifications a message to try it out.", _in("local", "notify")))
    judge = add("judge", "Say what recorded exchanges with providers were, one a line.", _in("judging", "judge"))
    judge.add_argument("file", metavar="FILE", help="JSON Lines, or - for the standard input")
    judge.add_argument("--check", action="store_true", help="compare with what the lines expect, and show the misses")
    judge.add_argument("--config", metavar="FILE", help="a configuration with phrases of your own")
    _add_backtest(add)
    simulate = add("simulate", "Run simulated providers that misbehave on request.", _in("local", "simulate"))
    simulate.add_argument("targets", nargs="*", metavar="TARGET", help="provider/model, or provider/model=BEHAVIOUR")
    simulate.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    simulate.add_argument("--port", type=int, default=0, help="of the control interface (default: a free one)")
    simulate.add_argument("--speed", type=float, default=1.0, help="divides every delay (default: 1)")
    line = "Run a door on this machine for agents in any language: the transport, as an endpoint that they can ask."
    guard = add("guard", line, _in("serving", "guard"))
    guard.add_argument("--host", default="127.0.0.1", help="an address of this machine alone (default: 127.0.0.1)")
    guard.add_argument("--port", type=int, default=8643, help="where to listen (default: 8643)")
    _config(_door(guard))
    version = add("version", "Say which version this is.", _in("saying", "version"))
    _json(version)


def _add_backtest(add: Add) -> None:
    line = "Run recorded answers through the rules, and say what they would have done."
    backtest = add("backtest", line, _in("backtesting", "backtest"))
    backtest.add_argument(
        "traces", nargs="+", metavar="TRACE", help="CSV, - for the standard input, or Prometheus's URL"
    )
    backtest.add_argument("--policy", metavar="FILE", help="YAML with a policy (default: the rules' defaults)")
    backtest.add_argument("--compare", metavar="FILE", help="YAML with a second policy to show beside the first")
    backtest.add_argument("--plot", metavar="FILE.png", help="draw latency over time, with the open spans shaded")
    backtest.add_argument("--target", action="append", help="of Prometheus's: provider/model (default: all)")
    since = f"of Prometheus's: how far back, such as 12h or 30d (default: {SINCE})"
    backtest.add_argument("--since", metavar="TIME", help=since)
    _json(backtest)


def _add_remote(add: Add) -> None:
    route = add("route", "Ask the service where a step should go.", _in("remote", "route"))
    route.add_argument("route", nargs="?", metavar="NAME", help="the route (default: the only one, or `default`)")
    _json(_door(route))
    status = add("status", "Show each target; exit code 1 where a circuit is not closed.", _in("remote", "status"))
    _json(_door(status))
    line = "Say why a target's circuit is as it is, what comes next, and what came before."
    why = add("why", line, _in("explaining", "why"))
    why.add_argument("target", metavar="TARGET", help="provider/model")
    why.add_argument("--moves", type=int, default=MOVES, metavar="N", help=f"other moves shown (default: {MOVES})")
    _json(_door(why))
    line = "Show the last decisions about agents' tasks, or one task; exit code 1 where that is not done."
    runs = add("runs", line, _in("following", "runs"))
    runs.add_argument("run", nargs="?", metavar="RUN", help="the task's own name, as its agent gave it")
    runs.add_argument("--limit", type=int, default=RUNS, metavar="N", help=f"decisions shown (default: {RUNS})")
    _json(_door(runs))
    for name, line, command in (
        ("open", "Hold a target's circuit open by hand: agents go elsewhere.", _in("remote", "hold")),
        ("close", "Hold a target's circuit closed by hand: agents are sent there.", _in("remote", "hold")),
        ("release", "End a hold by hand; the automatic part decides again.", _in("remote", "release")),
    ):
        by_hand = add(name, line, command)
        by_hand.add_argument("target", metavar="TARGET", help="provider/model")
        by_hand.add_argument("--why", required=True, help="the reason; it is shown everywhere")
        by_hand.add_argument("--who", help="who does it (default: your user name)")
        if name != "release":
            by_hand.add_argument("--for", dest="for_s", metavar="TIME", help="90, 10m, 2h or 3d (default: ten minutes)")
        _json(_door(by_hand))


def _config(sub: argparse.ArgumentParser) -> argparse.ArgumentParser:
    sub.add_argument("--config", metavar="FILE", help="the configuration (default: $FIRSTBYTE_CONFIG, firstbyte.yaml)")
    return sub


def _door(sub: argparse.ArgumentParser) -> argparse.ArgumentParser:
    sub.add_argument("--url", help="the service's address (default: $FIRSTBYTE_URL, http://127.0.0.1:8642)")
    return sub


def _json(sub: argparse.ArgumentParser) -> argparse.ArgumentParser:
    sub.add_argument("--json", action="store_true", help="print JSON")
    return sub
