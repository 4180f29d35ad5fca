"""Facts of a run as lines of text: the same fact is always the same line.

New fields are only ever added at the end. What another version wrote and this one can't read comes back as None.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from breaker.answer import Ended, Finish
from breaker.run.facts import Check, Fact, Stage, Step
from breaker.run.words import Effect, Outcome, Says, State
from breaker.verdict import Blame, Confidence, Verdict

_KINDS: dict[str, type[Step | Stage | Check]] = {"s": Step, "o": Stage, "c": Check}
_LETTERS: dict[type[Fact], str] = {kind: letter for letter, kind in _KINDS.items()}
_NAMED: dict[type[Fact], dict[str, type[StrEnum]]] = {
    Step: {
        "ended": Ended,
        "verdict": Verdict,
        "blame": Blame,
        "confidence": Confidence,
        "cause": Verdict,
        "finish": Finish,
        "says": Says,
    },
    Stage: {"state": State, "effect": Effect},
    Check: {"outcome": Outcome},
}
_WORDS = {kind: [(kind._fields.index(name), words) for name, words in _NAMED[kind].items()] for kind in _KINDS.values()}
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


def write(fact: Fact) -> str:
    """A fact as one line of ASCII, without what it doesn't say at its end."""
    values = list(fact)
    while values and values[-1] is None:
        values.pop()
    return _LETTERS[type(fact)] + _ENCODER.encode(values)


@lru_cache(maxsize=8192)
def read(line: str) -> Fact | None:
    """The fact in a line."""
    try:
        kind, values = _KINDS[line[:1]], json.loads(line[1:])
        return _fact(kind, values)
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def _fact(kind: type[Step | Stage | Check], values: Sequence[object]) -> Fact:
    """Raises one of the errors that `read` knows where these are no values of such a fact."""
    found = list(values[: len(kind._fields)])
    for place, words in _WORDS[kind]:
        if place < len(found) and (word := found[place]) is not None:
            found[place] = words(str(word))
    for place, value in enumerate(found):
        if isinstance(value, list):
            found[place] = tuple(value)
    return kind(*found)  # type: ignore[arg-type] # what was written
