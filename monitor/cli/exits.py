"""The exit codes of the command line, and the errors that end a command."""

from breaker.errors import FirstbyteError

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
