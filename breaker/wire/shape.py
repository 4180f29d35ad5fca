"""Looks into parsed JSON of unknown shape without ever raising."""

import json
import re
from collections.abc import Iterator

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


def mapping(value: object) -> dict[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[dict[str, object]]:
    """The objects of a list; an empty list for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object, otherwise: int) -> int:
    """The value if it is a whole number."""
    return value if type(value) is int else otherwise


def pick(value: dict[str, object], *names: str) -> object:
    """The first of these fields that isn't empty; else the first that is there; None if none is."""
    found = [value[name] for name in names if name in value]
    return next((item for item in found if item), found[0] if found else None)


def objects(text: str) -> Iterator[dict[str, object] | None]:
    """The objects that stand in a text one after another or in lists; None where it stops being JSON."""
    at = 0
    while (at := _BLANKS.match(text, at).end()) < len(text):  # type: ignore[union-attr] # it matches anywhere
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield None
            return
        yield from items(value if isinstance(value, list) else [value])
