"""Reads facts of a run as somebody else wrote them, each checked by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from breaker.answer import MAX_ID, whole
from breaker.errors import BadFactError
from breaker.run.facts import Check, Stage
from breaker.run.words import Effect, Outcome, Says, State

MAX_RUN = 128
MAX_SEQ = 10**15
MAX_ATTEMPTS = 20
# Operations that one may need or replace.
MAX_NAMED = 16
MAX_REFERENCE = 128
MAX_SECONDS = 1e9

# A name can't be a sentence: it is told to people and to models.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}", re.ASCII)
ID = re.compile(rf"[\x21-\x7e]{{1,{MAX_ID}}}")
# Not of dots alone: in a path these are other places.
RUN = re.compile(r"\.*[A-Za-z0-9_:@~-][A-Za-z0-9_.:@~-]*", re.ASCII)
REFERENCE = re.compile(rf"[\x21-\x7e]{{1,{MAX_REFERENCE}}}")
DIGEST = re.compile(r"[0-9a-f]{16,64}")

Reader = Callable[[str, object], object]


def run_id(value: object) -> str:
    """A run's id. Raises BadFactError for what can be none."""
    if isinstance(value, str) and len(value) <= MAX_RUN and RUN.fullmatch(value):
        return value
    raise BadFactError(f"run must have 1 to {MAX_RUN} letters, digits or any of _ . : @ ~ -, not dots alone", "run")


def stage(said: object) -> Stage:
    """A stage of an operation. Raises BadFactError for a name, type or range that is wrong, or a needed one missing."""
    return Stage(**_read("an operation", said, _STAGE, ("id", "seq", "tool", "state")))  # type: ignore[arg-type] # as read


def check(said: object) -> Check:
    """A check. Raises BadFactError as `stage` does."""
    return Check(**_read("a check", said, _CHECK, ("id", "seq", "name", "outcome")))  # type: ignore[arg-type] # as read


def seq(value: object) -> int:
    """A fact's place in its run. Raises BadFactError."""
    return _whole(0, MAX_SEQ)("seq", value)


def digest(name: str, value: object) -> str:
    """A digest that somebody else made. Raises BadFactError."""
    return _text(DIGEST, "16 to 64 digits of a hexadecimal number")(name, value)


def says(value: object) -> Says:
    """What an answer sounds like. Raises BadFactError."""
    return Says(_word(Says)("says", value))


def _read(what: str, said: object, readers: Mapping[str, Reader], needed: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(said, dict):
        raise BadFactError(f"{what} must be an object of facts")
    for name in said:
        if name not in readers:
            shown = repr(name) if NAME.fullmatch(name) else "a name that is none"
            raise BadFactError(f"{shown} is not a fact of {what}; facts are: {', '.join(readers)}")
    for name in needed:
        if said.get(name) is None:
            raise BadFactError(f"{name!r} is missing; {what} needs {', '.join(needed)}", name)
    return {name: readers[name](name, value) for name, value in said.items() if value is not None}


def _text(pattern: re.Pattern[str], wanted: str) -> Callable[[str, object], str]:
    def read(name: str, value: object) -> str:
        if isinstance(value, str) and pattern.fullmatch(value):
            return value
        raise BadFactError(f"{name} must have {wanted}", name)

    return read


def _whole(least: int, most: int) -> Callable[[str, object], int]:
    def read(name: str, value: object) -> int:
        found = whole(value)
        if type(found) is int and least <= found <= most:
            return found
        raise BadFactError(f"{name} must be a whole number from {least} to {most}", name)

    return read


def _seconds(name: str, value: object) -> float:
    if type(value) in (int, float) and 0 <= value <= MAX_SECONDS:  # type: ignore[operator] # a number by then
        return float(value)  # type: ignore[arg-type] # a number by then
    raise BadFactError(f"{name} must be a number from 0 to {MAX_SECONDS:g}", name)


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise BadFactError(f"{name} must be true or false", name)


def _word(kind: type[StrEnum]) -> Callable[[str, object], StrEnum]:
    words = {word.value: word for word in kind}

    def read(name: str, value: object) -> StrEnum:
        if isinstance(value, str) and value in words:
            return words[value]
        raise BadFactError(f"{name} is one of: {', '.join(words)}", name)

    return read


def _ids(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, list) and len(value) <= MAX_NAMED:
        return tuple(dict.fromkeys(_id(name, one) for one in value))
    raise BadFactError(f"{name} must be a list of at most {MAX_NAMED} ids", name)


_id = _text(ID, f"1 to {MAX_ID} printable ASCII characters and no blanks")
_name = _text(NAME, "1 to 64 letters, digits or any of _ . : / - and begin with one of the first three")
_digest = _text(DIGEST, "16 to 64 digits of a hexadecimal number")

_STAGE: dict[str, Reader] = {
    "id": _id,
    "seq": _whole(0, MAX_SEQ),
    "tool": _name,
    "state": _word(State),
    "effect": _word(Effect),
    "attempt": _whole(1, MAX_ATTEMPTS),
    "needs": _ids,
    "replaces": _ids,
    "required": _flag,
    "idempotency_key": _id,
    "reference": _text(REFERENCE, f"1 to {MAX_REFERENCE} printable ASCII characters and no blanks"),
    "error": _name,
    "retryable": _flag,
    "arguments": _digest,
    "result": _digest,
    "seconds": _seconds,
    "at_s": _seconds,
}
_CHECK: dict[str, Reader] = {"id": _id, "seq": _whole(0, MAX_SEQ), "name": _name, "outcome": _word(Outcome)}
