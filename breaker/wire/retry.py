"""Reads how long a provider asks to be left alone."""

from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz

# What asks for more is taken for a mistake of units, and for this much.
MAX_RETRY_S = 86_400.0


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds in `Retry-After` or `Retry-After-Ms`, 0 to a day; None if neither can be read.

    `headers` have names in small letters. A date is measured from the response's own `Date`, so that no clock of
    ours comes into it.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is None:
        until, now = _moment(value), _moment(headers.get("date", ""))
        seconds = None if until is None or now is None else until - now
    return None if seconds is None else _bounded(seconds)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), MAX_RETRY_S)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if number >= 0 else None  # not for NaN


def _moment(value: str) -> float | None:
    """Seconds since the epoch at an HTTP date."""
    parts = parsedate_tz(value)
    if parts is None:
        return None
    try:
        return float(mktime_tz(parts))
    except (ValueError, OverflowError):
        return None
