"""The kinds of single values: how a text becomes one, and what to say when it can't."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from monitor.config.document import Scalar
from monitor.config.faults import Unfit, shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """`words` say what is wanted ("a number of seconds"), `read` gives the value or says what is wrong."""

    words: str
    read: Callable[[Scalar], Any | Unfit]


_WHOLE = re.compile(r"[+-]?(\d+|\d{1,3}(_\d{3})+)")
_DECIMAL = re.compile(r"[+-]?(?=\.?\d)(\d+|\d{1,3}(_\d{3})+)?(\.\d*)?([eE][+-]?\d+)?")
_WITH_UNIT = re.compile(r"([\d.]+)\s*(ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)")
_UNIT_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_MAX_DIGITS = 20
# YAML 1.1 takes these for numbers that people rarely mean: eight for 010, ninety for 1:30.
_OTHER_BASES = re.compile(r"[+-]?(0[xobXOB][\da-fA-F_]+|0[\d_]+|\d+(:\d+)+(\.\d*)?)")
_WORDS = {"true", "false", "yes", "no", "on", "off"}


def number(low: float = -math.inf, high: float = math.inf, *, whole: bool = False, unit: str = "") -> Kind:
    """A kind of numbers from `low` to `high`, with both."""
    words = f"{'a whole number' if whole else 'a number'}{f' of {unit}' if unit else ''}"

    def read(scalar: Scalar) -> float | Unfit:
        value = _number(scalar, whole=whole, words=words, seconds=unit == "seconds")
        if isinstance(value, Unfit) or low <= value <= high:
            return value
        return Unfit(f"is {scalar.text}", f"choose {words} from {_written(low)} to {_written(high)}")

    return Kind(words=words, read=read)


def _written(bound: float) -> str:
    return f"{bound:_.0f}" if bound == int(bound) else f"{bound:f}".rstrip("0")


def _number(scalar: Scalar, *, whole: bool, words: str, seconds: bool) -> float | Unfit:
    text = scalar.text
    if not scalar.plain and _DECIMAL.fullmatch(text):
        return Unfit(f"is the text {shown(text)}, not {words}", "remove the quotes")
    if _OTHER_BASES.fullmatch(text):
        remedy = "as one number, without a colon" if ":" in text else "in decimal, without leading zeros"
        return Unfit(f"is {shown(text)}, which YAML reads as another number", f"write it {remedy}")
    if len(text) > _MAX_DIGITS or not (_WHOLE if whole else _DECIMAL).fullmatch(text):
        return _no_number(text, words=words, seconds=seconds)
    value = int(text) if whole else float(text)
    return value if math.isfinite(value) else _no_number(text, words=words, seconds=seconds)


def _no_number(text: str, *, words: str, seconds: bool) -> Unfit:
    wrong = f"is {shown(text)}, not {words}"
    if match := _WITH_UNIT.fullmatch(text):
        return Unfit(wrong, f"write it without a unit{_in_seconds(*match.groups()) if seconds else ''}")
    if re.fullmatch(r"\d{1,3}(_\d+|[,' ]\d{3})+", text):
        return Unfit(wrong, f"write {re.sub('[^0-9]', '', text)}; only _ may stand between thousands")
    if re.fullmatch(r"\d+,\d+", text):
        return Unfit(wrong, f"write {text.replace(',', '.')}, with a point")
    if text.isdecimal():
        return Unfit(wrong, "choose a smaller one")
    if re.fullmatch(r"\d+\.\d+", text):
        return Unfit(wrong, "leave out the fraction")
    return Unfit(wrong, "write digits, without quotes or a unit")


def _in_seconds(amount: str, unit: str) -> str:
    try:
        seconds = float(amount) * _UNIT_S["ms" if unit == "ms" else unit[0]]
    except ValueError:
        return ""
    return f", in seconds: {seconds:g}"


def _flag(scalar: Scalar) -> bool | Unfit:
    word = scalar.text.casefold()
    if scalar.plain and word in {"true", "false"}:
        return word == "true"
    remedy = "true" if word in {"true", "yes", "on", "1"} else "false" if word in _WORDS | {"0"} else "true or false"
    return Unfit(f"is {shown(scalar.text)}, not true or false", f"write {remedy}, without quotes")


FLAG = Kind(words="true or false", read=_flag)


def text(words: str, check: Callable[[str], str | Unfit]) -> Kind:
    """A kind of texts; `check` gives the text as it is used, or what is wrong with it."""
    return Kind(words=words, read=lambda scalar: check(scalar.text))


def one_of(words: str, names: tuple[str, ...]) -> Kind:
    """A kind of texts of which there are only a few."""

    def check(name: str) -> str | Unfit:
        return name if name in names else Unfit(f"is {shown(name)}, not {words}", f"choose one of: {', '.join(names)}")

    return text(words, check)
