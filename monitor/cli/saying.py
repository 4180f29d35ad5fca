"""Prints what a command says, and says which version this is."""

import argparse
import json

from breaker import __version__
from monitor.cli.exits import GOOD, OutputError


def version(args: argparse.Namespace) -> int:
    """Say which version this is."""
    say(json.dumps({"version": __version__}) if args.json else f"firstbyte {__version__}")
    return GOOD


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    try:
        print(text, flush=True)  # noqa: T201 # a command line speaks
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"can't write the output: {error.strerror}") from None
