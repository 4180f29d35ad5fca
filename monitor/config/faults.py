"""What is wrong with a configuration: all of it at once, each with its place and a remedy."""

import difflib
import json
import re
from collections.abc import Collection
from itertools import islice
from typing import NamedTuple

from breaker.errors import FirstbyteError

# What one message shows; whoever has more has one cause for most of them.
SHOWN = 50
# Beyond this, faults are only counted.
_KEPT = 1_000
# Names compared for a "did you mean"; a comparison costs some microseconds.
_COMPARED = 300

_LOOKS_LIKE_A_KEY = re.compile(
    r"(?i)\b(sk|pk|rk|gsk|xai|hf|ghp|aiza|bearer)[-_ ]?[a-z0-9_-]{12,}"  # a prefix that providers use
    r"|(?<![a-z0-9])(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{24,}"  # letters and digits in one long piece
)
_TEXT_SHOWN = 60
_TEXT_READ = 4 * _TEXT_SHOWN


class Place(NamedTuple):
    """Where a fault is: in a file (lines and columns count from 1), or in a variable or a file as a whole (line 0)."""

    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """`file:line:column`, as editors and terminals understand it."""
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


class Unfit(NamedTuple):
    """Why a value can't be taken: a sentence without its subject ("is 0, …"), and the remedy."""

    wrong: str
    hint: str


class Fault(NamedTuple):
    """One thing that is wrong, with the remedy."""

    place: Place
    wrong: str
    hint: str

    def __str__(self) -> str:
        """Two lines: the place and what is wrong, then the remedy, indented."""
        return f"{self.place}: {self.wrong}\n    {self.hint}"


class ConfigError(FirstbyteError):
    """A configuration can't be used; `faults` are sorted by place, the file's first. No value of a secret is in them.

    As text: the first fifty, two lines each, and how many more there are.
    """

    def __init__(self, faults: list[Fault], more: int = 0) -> None:
        self.faults = faults
        self.more = more
        super().__init__(faults, more)

    def __str__(self) -> str:
        """All that people need to mend it."""
        lines = [str(fault) for fault in self.faults[:SHOWN]]
        left = len(self.faults) - len(lines) + self.more
        return "\n".join([*lines, f"… and {left} more"] if left else lines)


def unreadable(place: Place, wrong: str, hint: str) -> ConfigError:
    """The error to raise where nothing more can be said about a file than this."""
    return ConfigError([Fault(place, wrong, hint)])


class Faults:
    """Collects faults; the same one in the same place counts once."""

    def __init__(self) -> None:
        self._found: dict[Fault, None] = {}
        self._more = 0

    def __len__(self) -> int:
        return len(self._found) + self._more

    def add(self, place: Place, wrong: str, hint: str) -> None:
        """Keep a fault, or only count it where there are too many."""
        if len(self._found) < _KEPT:
            self._found[Fault(place, wrong, hint)] = None
        else:
            self._more += 1

    def near(self, word: str, known: Collection[str]) -> str | None:
        """The known name that a misspelt one resembles; None where none does, or where too much is wrong to look."""
        if len(self) >= 2 * SHOWN or len(word) > _TEXT_SHOWN:
            return None
        folded = {name.casefold(): name for name in islice(known, _COMPARED)}
        found = difflib.get_close_matches(word.casefold(), folded, n=1)
        return folded[found[0]] if found else None

    def check(self) -> None:
        """Raise ConfigError with all that was found, if anything was."""
        if self._found:
            raise ConfigError(sorted(self._found, key=_order), self._more)


def _order(fault: Fault) -> tuple[bool, int, int, str]:
    source, line, column = fault.place
    return (not line, line, column, "" if line else source)


def may_be_key(text: str) -> bool:
    """Whether a text looks as keys of providers do, as far as a message would show it."""
    return bool(_LOOKS_LIKE_A_KEY.search(text[:_TEXT_READ]))


def shown(text: str) -> str:
    """A text of the configuration as messages show it: in quotes, on one line, short, nothing that may be a key."""
    if may_be_key(text):
        return "(not shown: it may be a key)"
    short = text if len(text) <= _TEXT_SHOWN else f"{text[: _TEXT_SHOWN - 1]}…"
    return json.dumps(short, ensure_ascii=False).encode(errors="backslashreplace").decode()
