"""Finds where the values of a JSON object stand in its text, so that one can be replaced and all else left as it is."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


class Member(NamedTuple):
    """A value of an object, and where its text begins and ends."""

    value: object
    begin: int
    end: int


def members(text: str) -> dict[str, Member] | None:
    """The values of the object that a text is, by name; None where it is none, or the text goes on behind it."""
    try:
        return dict(_members(text))
    except (ValueError, RecursionError, IndexError):
        return None


def replaced(text: str, values: Mapping[str, object]) -> str:
    """An object's text with these values in it, in place of those that it had under their names.

    Raises ValueError where it is no object.
    """
    found = members(text)
    if found is None:
        raise ValueError("this is no JSON object")
    for name in sorted(values.keys() & found.keys(), key=lambda name: -found[name].begin):
        text = text[: found[name].begin] + _told(values[name]) + text[found[name].end :]
    new = [f"{_told(name)}: {_told(value)}" for name, value in values.items() if name not in found]
    begin = text.index("{") + 1
    return text[:begin] + ", ".join([*new, *([""] if new and found else [])]) + text[begin:]


def _told(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _members(text: str) -> Iterator[tuple[str, Member]]:
    at = _expect(text, 0, "{")
    if text[at] == "}":
        return _end(text, at + 1)
    while True:
        name, at = _DECODER.raw_decode(text, at)
        begin = _expect(text, _blanks(text, at), ":")
        value, end = _DECODER.raw_decode(text, begin)
        yield _name(name), Member(value, begin, end)
        at = _blanks(text, end)
        if text[at] == "}":
            return _end(text, at + 1)
        at = _expect(text, at, ",")


def _name(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("a name must be a text")


def _expect(text: str, at: int, sign: str) -> int:
    """Where the next thing begins behind a sign."""
    at = _blanks(text, at)
    if text[at] != sign:
        raise ValueError(f"{sign!r} is missing")
    return _blanks(text, at + 1)


def _end(text: str, at: int) -> None:
    if _blanks(text, at) != len(text):
        raise ValueError("something follows the object")


def _blanks(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr] # it matches anywhere
