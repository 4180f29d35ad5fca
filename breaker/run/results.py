"""Finds the error in a tool's result that looks like a success; the rules are data, in `results.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from pkgutil import get_data
from typing import Any, NamedTuple

# An error stands at the begin of a text; whoever quotes one has said more before.
_MOST_TEXT = 4_000
# How a text begins that means to be JSON; a file's first line or a log's may begin with a bracket alone.
_JSON = re.compile(r'\{\s*("|\}|$)|\[\s*([\[{"\]]|$)')
_FENCE = "```"
# What stands before the first word of an error and says nothing.
_SIGNS = " \t*_\u274c\u2716\u2717\u2718\u26a0\ufe0f\U0001f6ab\U0001f6d1"
# Members in which a tool hands on what another gave it, and how deep that may go.
_ENVELOPES = frozenset({"result", "response", "output", "body", "content", "data", "structuredcontent"})
_DEEPEST = 4
_MOST_MEMBERS, _MOST_BLOCKS = 256, 64
# Values that are there and say that nothing is.
_NOTHING = frozenset({"", "0", "none", "null", "false", "no"})
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

    `members` are names in a result's own object, in whatever case: one of them has one of these `values`, is `filled`
    (not null, false, zero or empty), or holds an HTTP status (`http`) of 400 to 599. `text` is a regular expression for
    the begin of a result that is text; with `http` its group of this name is a status. `error` is a code for it; a
    status has its own. `unknown` says that nobody knows whether it happened.
    """

    members: tuple[str, ...] = ()
    text: re.Pattern[str] | None = None
    values: tuple[object, ...] = ()
    filled: bool = False
    http: bool = False
    unknown: bool = False
    error: str = "error"

    @property
    def flaw(self) -> Flaw:
        """What is wrong where it is met."""
        return Flaw(self.error, unknown=self.unknown)

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


def flaw(result: object, rules: Collection[Rule] = RULES) -> Flaw | None:
    """What is wrong with a result; None where nothing is known to be. None itself is no result, and nothing wrong.

    Text that is JSON is looked into, and so is what a result hands on of another. Text that only means to be JSON, and
    an empty one, are flaws themselves, and so is an exception that was given back.
    """
    if isinstance(result, (bytes, bytearray)):
        result = bytes(result).decode(errors="replace")
    if isinstance(result, str):
        text = _bare(result)
        if not text:
            return Flaw("empty")
        if _JSON.match(text) and _parsed(text) is None:
            return Flaw("malformed_json")
    return _within(result, rules, _DEEPEST)


def of_status(status: int) -> Flaw | None:
    """What an HTTP status says of a call that may have done something; None where it went well."""
    if not 400 <= status <= 599:
        return None
    return Flaw(f"http_{status}", retryable=status in _NOTHING_HAPPENED, unknown=status in _NOBODY_KNOWS)


def _within(result: object, rules: Collection[Rule], depth: int) -> Flaw | None:
    """What is wrong with a value that may hold others."""
    if isinstance(result, BaseException):
        return Flaw("exception_returned")
    if isinstance(result, str):
        text = _bare(result)
        value = _parsed(text)
        return _in_text(text[:_MOST_TEXT], rules) if value is None or depth == 0 else _within(value, rules, depth - 1)
    if isinstance(result, (list, tuple)):
        return next((found for one in result[:_MOST_BLOCKS] if (found := _in_block(_members(one), rules, depth))), None)
    members = _members(result)
    found = _in_members(members, rules)
    if found is not None or depth == 0:
        return found
    inside = (value for name, value in members.items() if name in _ENVELOPES)
    return next((found for value in inside if (found := _within(value, rules, depth - 1))), None)


def _bare(text: str) -> str:
    """A text without what stands around it."""
    text = text.strip("\ufeff \t\r\n\f\v")
    fenced = len(text) >= 2 * len(_FENCE) and text.startswith(_FENCE) and text.endswith(_FENCE)
    return text[len(_FENCE) : -len(_FENCE)].removeprefix("json").strip() if fenced else text


def _parsed(text: str) -> object:
    """What a text says that is JSON; None where it isn't, or is a number or a word."""
    quoted = text.startswith('"') and text.endswith('"')
    if not quoted and not _JSON.match(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _in_block(block: Mapping[str, object], rules: Collection[Rule], depth: int) -> Flaw | None:
    """What is wrong with the text of one part of a result that has several."""
    return _within(block.get("text"), rules, depth) if block.get("type") == "text" else None


def _members(result: object) -> dict[str, object]:
    """What a result has by names; of an object only what it holds itself, so that nothing is called."""
    held = result if isinstance(result, Mapping) else getattr(result, "__dict__", {})
    return {_folded(name): held[name] for name in islice(held, _MOST_MEMBERS) if isinstance(name, str)}


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _in_members(members: Mapping[str, object], rules: Iterable[Rule]) -> Flaw | None:
    for rule in rules:
        for name in map(_folded, rule.members):
            if name in members and (found := _in_value(members[name], rule)) is not None:
                return found
    return None


def _in_value(value: object, rule: Rule) -> Flaw | None:
    folded = value.strip().lower() if isinstance(value, str) else value
    if rule.http:
        if isinstance(folded, str) and len(folded) == 3 and folded.isascii() and folded.isdecimal():
            folded = int(folded)
        return of_status(folded) if type(folded) is int else None
    same = any(type(folded) is type(one) and folded == one for one in rule.values)
    return rule.flaw if same or (rule.filled and _is_filled(folded)) else None


def _is_filled(value: object) -> bool:
    return value not in _NOTHING if isinstance(value, str) else bool(value)


def _in_text(text: str, rules: Iterable[Rule]) -> Flaw | None:
    text = text.lstrip(_SIGNS)
    for rule in rules:
        found = rule.text and rule.text.match(text)
        if found:
            return of_status(int(found["http"])) if rule.http else rule.flaw
    return None
