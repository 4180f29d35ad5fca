"""Commands that serve until a signal ends them."""

import argparse
import asyncio
import functools
import logging
import os
from collections.abc import Callable, Coroutine

from breaker import __version__
from breaker.errors import FirstbyteError
from breaker.logged import STARTED
from monitor import logs
from monitor.cli.demonstrating import demonstrate
from monitor.cli.exits import GOOD, UsageError, failed
from monitor.cli.local import DEFAULT_FILE, found, loaded, until_signal, without_file
from monitor.cli.saying import say
from monitor.daemon import Parts, service
from monitor.guard import guard as run_guard
from monitor.listening import DoorTakenError, bind
from monitor.outlet import unhindered
from monitor.reloading import Reloading, keys_of
from monitor.settings import LogLevel, Logs

_log = logging.getLogger(__name__)


def _unhindered(command: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """The same, held up by nobody who should read what it says; also not where it says that it can't begin."""

    @functools.wraps(command)
    def going_on(args: argparse.Namespace) -> int:
        with unhindered(logs.lost):
            try:
                return command(args)
            except FirstbyteError as error:
                return failed(error)

    return going_on


@_unhindered
def run(args: argparse.Namespace) -> int:
    """Run the service, or its door or its probes alone, until a signal ends it."""
    path = found(args)
    if path is None and args.name != "run":
        raise UsageError(f"`firstbyte {args.name}` needs a configuration; `firstbyte init` writes {DEFAULT_FILE}")
    if path is None:
        logs.start(Logs(form=without_file(), level=LogLevel.WARNING))
        return _serving(demonstrate(os.environ))
    settings = loaded(path)
    logs.start(settings.logs)
    reloading = Reloading(settings, os.environ)
    parts = Parts(door=args.name != "monitor", probes=args.name != "serve")
    return _serving(_serve(reloading, parts), hangup=reloading.soon)


@_unhindered
def guard(args: argparse.Namespace) -> int:
    """Run the local door until a signal ends it."""
    path = found(args)
    settings = None if path is None else loaded(path)
    logs.start(Logs(form=without_file()) if settings is None else settings.logs)
    # What breaks off is said in a line of our own; the server would call it a fault of the application's.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    routes = () if settings is None else settings.routes
    return _serving(run_guard(args.host, args.port, args.url, routes, say))


def _serving(work: Coroutine[object, object, int | None], *, hangup: Callable[[], None] | None = None) -> int:
    try:
        return until_signal(work, hangup=hangup)
    except DoorTakenError as error:
        raise UsageError(str(error)) from None


async def _serve(reloading: Reloading, parts: Parts) -> int:
    settings = reloading.settings
    listening = bind(settings.door)
    keys = keys_of(settings, os.environ)
    async with service(settings, keys, listening, parts=parts, reloading=reloading) as running:
        said = f"listening at {running.url}" if parts.door else f"probing; metrics alone are at {running.url}"
        about = STARTED(
            version=__version__, url=running.url, targets=len(settings.targets), routes=len(settings.routes)
        )
        _log.info("%s", said, extra=about)
        await asyncio.get_running_loop().create_future()
    return GOOD
