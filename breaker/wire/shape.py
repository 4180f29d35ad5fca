"""Looks into parsed JSON of unknown shape without ever raising."""

import json

_DECODER = json.JSONDecoder()


def mapping(value: object) -> dict[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[dict[str, object]]:
    """The objects of a list; an empty list for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def pick(value: dict[str, object], *names: str) -> object:
    """The first of these fields that isn't empty; else the first that is there; None if none is."""
    found = [value[name] for name in names if name in value]
    return next((item for item in found if item), found[0] if found else None)


def values(text: str) -> tuple[list[object], bool]:
    """The JSON values that stand in a text one after another, and whether they are all that stands there."""
    found: list[object] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at == len(text):
            return found, True
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, False
        found.append(value)
