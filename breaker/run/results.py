"""Finds the error in a tool's result that looks like a success; the rules are data, in `results.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pkgutil import get_data
from typing import Any, NamedTuple

# An error stands at the begin of a text; whoever quotes one has said more before.
_MOST_TEXT = 4_000
# How a text begins that means to be JSON; a file's first line or a log's may begin with a bracket alone.
_JSON = re.compile(r'\{\s*("|\}|$)|\[\s*([\[{"\]]|$)')
# What a status says of what happened: refused before anything was done, or sent on with no answer.
_NOTHING_HAPPENED, _NOBODY_KNOWS = frozenset({425, 429, 503}), frozenset({408, 502, 504})


class Flaw(NamedTuple):
    """What is wrong with a result: a short code, and whether nothing happened, or nobody knows whether it did."""

    error: str
    retryable: bool = False
    unknown: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """How an error looks like in a result; exactly one of `members` and `text` says where.

    `members` are names in a result's own object: one of them has one of these `values`, is `filled` (not null, false,
    zero or empty), or holds an HTTP status (`http`) of 400 to 599. `text` is a regular expression for the begin of a
    result that is text; with `http` its group of this name is a status. `error` is a code for it; a status has its own.
    """

    members: tuple[str, ...] = ()
    text: re.Pattern[str] | None = None
    values: tuple[object, ...] = ()
    filled: bool = False
    http: bool = False
    error: str = "error"

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Rule:
        """The rule in a JSON object. Raises ValueError for one that can't be used."""
        names = {field.name for field in fields(cls)}
        if not said.keys() <= names or ("members" in said) is ("text" in said):
            raise ValueError(f"a rule has either members or text, and of the others: {', '.join(sorted(names))}")
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in said.items()
        }
        if "text" in made:
            made["text"] = re.compile(str(made["text"]))
        return cls(**made)


RULES = tuple(Rule.read(said) for said in json.loads(get_data("breaker.run", "results.json") or b""))


def flaw(result: object, rules: Iterable[Rule] = RULES) -> Flaw | None:
    """What is wrong with a result; None where nothing is known to be. None itself is no result, and nothing wrong.

    Text that is JSON is looked into. Text that only means to be, and an empty one, are flaws themselves.
    """
    if isinstance(result, (bytes, bytearray)):
        result = bytes(result).decode(errors="replace")
    if not isinstance(result, str):
        return _in_members(result, rules)
    text = result.strip()
    if not text:
        return Flaw("empty")
    if _JSON.match(text):
        try:
            return _in_members(json.loads(text), rules)
        except (ValueError, RecursionError):
            return Flaw("malformed_json")
    return _in_text(text[:_MOST_TEXT], rules)


def of_status(status: int) -> Flaw | None:
    """What an HTTP status says of a call that may have done something; None where it went well."""
    if not 400 <= status <= 599:
        return None
    return Flaw(f"http_{status}", retryable=status in _NOTHING_HAPPENED, unknown=status in _NOBODY_KNOWS)


def _in_members(result: object, rules: Iterable[Rule]) -> Flaw | None:
    if not isinstance(result, Mapping):
        return None
    for rule in rules:
        for name in rule.members:
            if name in result and (found := _in_value(result[name], rule)) is not None:
                return found
    return None


def _in_value(value: object, rule: Rule) -> Flaw | None:
    if rule.http:
        return of_status(value) if type(value) is int else None
    folded = value.lower() if isinstance(value, str) else value
    same = any(type(folded) is type(one) and folded == one for one in rule.values)
    return Flaw(rule.error) if same or (rule.filled and value) else None


def _in_text(text: str, rules: Iterable[Rule]) -> Flaw | None:
    for rule in rules:
        found = rule.text and rule.text.match(text)
        if found:
            return of_status(int(found["http"])) if rule.http else Flaw(rule.error)
    return None
