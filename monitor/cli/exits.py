"""The exit codes of the command line, and the errors that end a command."""

import sys

from breaker.errors import DoorAddressError, DoorGoneError, DoorRefusedError, FirstbyteError

GOOD = 0
BAD = 1  # the thing asked about is bad
USAGE = 2  # usage or configuration
UNREACHABLE = 3  # the service isn't reachable
INTERRUPTED = 130


class OutputError(FirstbyteError):
    """What a command says can't be written anywhere."""


class UnreachableError(FirstbyteError):
    """What the command asks isn't reachable; the message names its address."""


class UsageError(FirstbyteError):
    """The command was called in a way that can't work; the message names the remedy."""


def failed(error: FirstbyteError) -> int:
    """Say what was wrong; gives its exit code."""
    hint = "; the token is taken from FIRSTBYTE_TOKEN" if _wants_a_token(error) else ""
    print(f"firstbyte: {error}{hint}", file=sys.stderr)  # noqa: T201 # a command line speaks
    return _code(error)


def _wants_a_token(error: FirstbyteError) -> bool:
    return isinstance(error, DoorRefusedError) and error.status in (401, 403)


def _code(error: FirstbyteError) -> int:
    match error:
        case UsageError() | DoorAddressError():
            return USAGE
        case DoorGoneError() | UnreachableError():
            return UNREACHABLE
        case DoorRefusedError():  # a success that isn't ours comes from another service
            return UNREACHABLE if error.status < 400 else USAGE if error.status < 500 else BAD
        case _:
            return BAD
