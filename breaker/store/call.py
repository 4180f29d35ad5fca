"""What is asked of a server: one command, with the key that says which server of many it concerns."""

from dataclasses import dataclass
from typing import Any

from breaker.errors import StoreError

Word = str | int | float
TIME = ("TIME",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One command. `text` are the words for a server that doesn't know a script yet, None where there is no script."""

    key: str
    words: tuple[Word, ...]
    text: tuple[Word, ...] | None = None


def command(name: str, key: str, *args: Word) -> Call:
    """A command whose first argument is its key."""
    return Call(key=key, words=(name, key, *args))


def time_of(key: str) -> Call:
    """The time of the server that has a key."""
    return Call(key=key, words=TIME)


def memory_of(key: str) -> Call:
    """How full the server is that has a key."""
    return Call(key=key, words=("INFO", "memory"))


def answered(said: Any) -> Any:  # Any: what a reply is, the call alone says
    """The reply to a call, if it is one; else it is raised."""
    if isinstance(said, StoreError):
        raise said
    return said
