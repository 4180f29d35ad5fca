"""Looks into parsed JSON of unknown shape without ever raising."""

import json
import re
from typing import NamedTuple

# The most objects that an event may hold; more would keep everybody waiting while they are looked at.
MAX_OBJECTS = 100_000
# The most items of a list that are looked at.
MAX_ITEMS = 1_000

_DECODER = json.JSONDecoder()
# What `raw_decode` calls, without the call around it: a stream's every event goes through here.
_scan = _DECODER.scan_once  # type: ignore[attr-defined] # typeshed leaves it out
_BLANKS = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


class Parsed(NamedTuple):
    """The objects in a text, and whether it was JSON to its end, value by value on lines of their own."""

    objects: list[dict[str, object]]
    sound: bool


def mapping(value: object) -> dict[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[dict[str, object]]:
    """The objects of a list, of its first `MAX_ITEMS`; an empty list for anything else."""
    return [item for item in value[:MAX_ITEMS] if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object, otherwise: int) -> int:
    """The value if it is a whole number."""
    return value if type(value) is int else otherwise


def pick(value: dict[str, object], *names: str) -> object:
    """The first of these fields that isn't empty; else the first that is there; None if none is."""
    found = [value[name] for name in names if name in value]
    return next((item for item in found if item), found[0] if found else None)


def parse(text: str) -> Parsed:
    """The objects that stand in a text one after another or in lists."""
    return Parsed([], False) if _is_crowd(text) else _series(text)


def one(text: str) -> dict[str, object] | None:
    """The one object that a text is, as nearly all are; None if it is anything else, or holds too many."""
    if text.count("{") > MAX_OBJECTS:
        return None
    try:
        value, end = _scan(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    return value if end == len(text) and type(value) is dict else None


def _series(text: str) -> Parsed:
    found: list[dict[str, object]] = []
    at, sound, values = 0, True, 0
    while (begin := _BLANKS.match(text, at).end()) < len(text):  # type: ignore[union-attr] # it matches anywhere
        # No reader of streams takes two values on one line.
        sound = sound and (at == 0 or "\n" in text[at:begin] or "\r" in text[at:begin])
        values += 1
        try:
            value, at = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            return Parsed(found, False)
        if values > MAX_ITEMS:
            return Parsed(found, False)
        found += items(value if isinstance(value, list) else [value])
    return Parsed(found, sound)


def _is_crowd(text: str) -> bool:
    """Whether it holds more objects than are looked at; those that stand in its strings don't count."""
    return text.count("{") > MAX_OBJECTS and _STRING.sub("", text).count("{") > MAX_OBJECTS
