"""Compares what exchanges were with what was expected of them, for `firstbyte judge --check`."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from breaker.errors import BadExchangeError

# Moments are written in milliseconds, some with fractions.
_NEAR_MS = 0.5
_HEAD = ("id", "what", "expected", "found", "why")


class Miss(NamedTuple):
    """One thing that isn't as expected."""

    id: str
    what: str
    expected: str
    found: str
    why: str


class Comparison:
    """Counts what is as expected, and keeps what isn't.

    A verdict passes where it is the expected one or in `accept`, a class likewise with `accept_class`. The first byte
    and the finish reason are compared where they are given.
    """

    def __init__(self) -> None:
        self.number = 0
        self.misses: list[Miss] = []
        self._good = 0
        self._compared = {"first_byte_ms": 0, "finish_reason": 0}

    def add(self, found: Mapping[str, Any], expect: object) -> None:
        """One more exchange. Raises BadExchangeError where nothing usable is expected of it."""
        wanted = _wanted(expect)
        misses = list(_judged(found, wanted))
        self.number += 1
        self._good += not misses
        for what, name in (("first_byte_ms", "ttft_ms"), ("finish_reason", "finish_reason")):
            if name in wanted:
                self._compared[what] += 1
                misses += [] if _same(found[what], wanted[name]) else [_miss(found, what, [wanted[name]])]
        self.misses += misses

    def as_text(self) -> str:
        """A table of the misses, if there are any, and a line that counts what passed."""
        return "\n".join([*_table(self.misses), self._counts()])

    def _counts(self) -> str:
        counts = [f"{self._good} of {self.number} in verdict and class"]
        for what, compared in self._compared.items():
            missed = sum(miss.what == what for miss in self.misses)
            counts.append(f"{compared - missed} of {compared} in {what}")
        return ", ".join(counts)


def _wanted(expect: object) -> dict[str, Any]:
    if not isinstance(expect, dict):
        raise BadExchangeError("expect is missing; --check compares with its verdict and class")
    for name in ("verdict", "class"):
        if not isinstance(expect.get(name), str):
            raise BadExchangeError(f"expect.{name} is missing, or no text")
    for name in ("accept", "accept_class"):
        also = expect.get(name, [])
        if not (isinstance(also, list) and all(isinstance(one, str) for one in also)):
            raise BadExchangeError(f"expect.{name} is no list of texts")
    return expect


def _judged(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Miss]:
    verdicts, classes = ([wanted[name], *wanted.get(also, [])] for name, also in _PAIRS)
    if not {found["verdict"], _with_status(found)} & set(verdicts):
        yield _miss({**found, "verdict": _with_status(found)}, "verdict", verdicts)
    if found["class"] not in classes:
        yield _miss(found, "class", classes)


_PAIRS = (("verdict", "accept"), ("class", "accept_class"))


def _with_status(found: Mapping[str, Any]) -> str:
    """A verdict as it is expected: `http_error:500` names the status."""
    return f"{found['verdict']}:{found['status']}" if "status" in found else str(found["verdict"])


def _same(found: object, wanted: object) -> bool:
    if isinstance(found, int | float) and isinstance(wanted, int | float):
        return abs(found - wanted) <= _NEAR_MS
    return (found or None) == (wanted or None)  # "" is written for "none" as well


def _miss(found: Mapping[str, Any], what: str, wanted: list[Any]) -> Miss:
    return Miss(found["id"], what, " or ".join(map(_written, wanted)), _written(found[what]), found["why"])


def _written(value: object) -> str:
    return "none" if value is None or value == "" else str(value)


def _table(misses: list[Miss]) -> list[str]:
    if not misses:
        return []
    rows = [_HEAD, *misses]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    return ["  ".join([*(f"{cell:{w}}" for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
