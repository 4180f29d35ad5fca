"""Commands that need the service's packages: they read a configuration, ask providers, or play them."""

import argparse
import asyncio
import json
import os
import shlex
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path

from monitor.cli.exits import GOOD, INTERRUPTED, UsageError
from monitor.cli.saying import say
from monitor.config import ConfigError, find, keys_found, load, log_form, starter
from monitor.loop import until_done
from monitor.settings import LogForm, Settings
from monitor.terminal import has_terminal

DEFAULT_FILE = "firstbyte.yaml"
SIMULATED = ("aurora/swift-1", "borealis/swift-1", "cirrus/steady-2")


def init(args: argparse.Namespace) -> int:
    """Write a commented configuration; never over one that is there unless told so."""
    path = Path(args.config or DEFAULT_FILE)
    try:
        with path.open("w" if args.force else "x", encoding="utf-8") as file:
            file.write(starter(os.environ))
    except FileExistsError:
        raise UsageError(f"{path} is there already; --force overwrites it, --config names another") from None
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}") from None
    example = "" if keys_found(os.environ) else ", an example since no key of a known provider is in the environment"
    named = f" --config {shlex.quote(args.config)}" if args.config else ""
    say(f"wrote {path}{example}; look through it, then: firstbyte check{named}")
    return GOOD


def check(args: argparse.Namespace) -> int:
    """Check a configuration and say what it comes to."""
    from monitor.cli.reckoning import Reckoning  # each command loads what it alone needs

    reckoned = Reckoning(settings=loaded(needed(args)))
    say(json.dumps(reckoned.as_json()) if args.json else reckoned.as_text())
    return GOOD


def probe(args: argparse.Namespace) -> int:
    """Ask one real question of one target or of all, and show the verdicts; bad where one isn't an answer."""
    from monitor.cli.asking import ask_all
    from monitor.reloading import keys_of

    settings = loaded(needed(args))
    plans = [plan for plan in settings.targets if args.target in (None, plan.name)]
    if not plans:
        raise UsageError(f"there is no target {args.target!r}; there are: {', '.join(settings.plans)}")
    asking = ask_all(plans, keys_of(settings, os.environ), as_json=args.json)
    return until_signal(asking, stopped=INTERRUPTED)  # a target that wasn't judged isn't good


def notify(args: argparse.Namespace) -> int:
    """Send each receiver a message to try it out."""
    from monitor.cli.notifying import try_out

    settings = loaded(needed(args))
    if not settings.receivers:
        raise UsageError(f"{settings.source} names nobody to tell; see `notify:` in docs/configuration.md")
    return until_signal(try_out(settings.receivers), stopped=INTERRUPTED)


def simulate(args: argparse.Namespace) -> int:
    """Run simulated providers until a signal ends it; their ports follow the control interface's where one is given."""
    from monitor.simulator import read_target
    from monitor.simulator import simulate as simulate_providers

    targets = args.targets or list(SIMULATED)
    try:
        names = dict.fromkeys(read_target(target)[0].partition("/")[0] for target in targets)
        ports = {name: args.port + 1 + i for i, name in enumerate(names)} if args.port else {}
        simulating = simulate_providers(
            targets, host=args.host, control_port=args.port, ports=ports, speed=args.speed, say=say
        )
        return until_signal(simulating)
    except (ValueError, OSError, OverflowError) as error:  # the last for a port that can't be
        raise UsageError(str(error)) from None


def found(args: argparse.Namespace) -> Path | None:
    """The configuration that a command is to use; None where there is none."""
    try:
        return find(Path(args.config) if args.config else None, os.environ, Path.cwd())
    except OSError as error:
        raise UsageError(f"the working folder can't be read: {error.strerror}; go to another one") from None


def needed(args: argparse.Namespace) -> Path:
    """The same. Raises UsageError where there is none."""
    path = found(args)
    if path is None:
        raise UsageError(f"there is no {DEFAULT_FILE} here; `firstbyte init` writes one, --config names another")
    return path


def loaded(path: Path) -> Settings:
    """The settings in a configuration. Raises UsageError, with all that is wrong with it."""
    try:
        return load(path, os.environ)
    except ConfigError as error:
        raise UsageError(f"the configuration can't be used\n{error}") from None


def without_file() -> LogForm:
    """The log's form where no configuration says it. Raises UsageError."""
    try:
        return log_form(os.environ)
    except ConfigError as error:
        raise UsageError(f"the environment can't be used\n{error}") from None


def until_signal(
    work: Coroutine[object, object, int | None], *, stopped: int = GOOD, hangup: Callable[[], None] | None = None
) -> int:
    """Run until the work is done or SIGINT, SIGTERM or SIGHUP ends it; a second one ends it at once.

    `stopped` is the exit code after SIGTERM or SIGHUP. With `hangup`, SIGHUP calls that, and ends the work only where
    the terminal has gone from which it was started.
    """
    return until_done(_stoppable(work, stopped, hangup))


async def _stoppable(
    work: Coroutine[object, object, int | None], stopped: int, hangup: Callable[[], None] | None
) -> int:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(number: int) -> None:
        caught.append(number)
        loop.remove_signal_handler(number)
        task.cancel()

    at_a_terminal = has_terminal()
    stays = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # as `nohup` wants it

    def hang_up() -> None:
        if at_a_terminal and not stays and not has_terminal():
            stop(signal.SIGHUP)
        elif hangup is not None:
            hangup()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGHUP and hangup is not None:
            loop.add_signal_handler(number, hang_up)
        elif signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop, number)
    try:
        return await task or GOOD
    except asyncio.CancelledError:
        if not caught:
            raise
        return INTERRUPTED if caught[0] == signal.SIGINT else stopped
